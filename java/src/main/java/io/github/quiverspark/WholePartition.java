package io.github.quiverspark;

import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.columnar.SimpleMetricsCachedBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The batches of a cached partition; throws {@link CorruptBatchException} where they end before the last one, or something else is
 * among them.
 *
 * <p>Spark takes the end of a block's stream, wherever a deserializer meets it, for the end of the partition. A damaged length or class
 * name would otherwise cost rows and nobody would know.
 */
public final class WholePartition extends AbstractIterator<CachedBatch> {
  private final Iterator<CachedBatch> batches;
  private boolean last;

  /** Checks {@code batches}, which must be all of a partition. */
  public WholePartition(Iterator<CachedBatch> batches) {
    this.batches = batches;
  }

  @Override
  public boolean hasNext() {
    if (batches.hasNext()) {
      return true;
    }
    if (!last) {
      throw new CorruptBatchException("the block ends before the last batch of its partition");
    }
    return false;
  }

  @Override
  public CachedBatch next() {
    // of a damaged stream Kryo makes nulls and objects of any class
    Object batch = ((Iterator<?>) batches).next();
    if (!(batch instanceof SimpleMetricsCachedBatch)) {
      throw new CorruptBatchException("the block holds " + (batch == null ? "null" : "a " + batch.getClass().getName()) + ", not a batch");
    }
    last = !(batch instanceof QuiverCachedBatch) || ((QuiverCachedBatch) batch).isLast();
    return (CachedBatch) batch;
  }
}

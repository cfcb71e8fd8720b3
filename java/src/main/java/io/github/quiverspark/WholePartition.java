package io.github.quiverspark;

import org.apache.spark.sql.columnar.CachedBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The batches of a cached partition; throws {@link CorruptBatchException} where they end before the last one.
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
    CachedBatch batch = batches.next();
    last = !(batch instanceof QuiverCachedBatch) || ((QuiverCachedBatch) batch).isLast();
    return batch;
  }
}

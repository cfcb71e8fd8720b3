package io.github.quiverspark.read;

import io.github.quiverspark.QuiverCachedBatch;
import java.util.NoSuchElementException;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.Iterator;

/** Cached batches as columnar batches of heap-backed vectors, one for one, without those that have no rows. */
public final class ColumnarReader extends BatchIterator<ColumnarBatch> {
  private static final ColumnVector[] NO_COLUMNS = new ColumnVector[0];

  private QuiverCachedBatch next;
  private boolean done;

  /**
   * Reads the projection of all batches of {@code input}, which are those of the block; {@code observer} is told of each.
   *
   * @param reuse whether the caller is done with the vectors of a batch when it asks for the next, whose numbers then take their place.
   *     Values that were taken from vectors stay valid for ever in either case
   */
  public ColumnarReader(Projection projection, Iterator<CachedBatch> input, Block block, ReadObserver observer, boolean reuse) {
    super(projection, input, block, observer, reuse);
  }

  @Override
  public boolean hasNext() {
    if (next == null && !done) {
      next = nextBatch();
      done = next == null;
    }
    return !done;
  }

  @Override
  public ColumnarBatch next() {
    if (!hasNext()) {
      throw new NoSuchElementException("no more batches");
    }
    QuiverCachedBatch batch = next;
    next = null;
    if (projection.width() == 0) {
      decoder.countOnly(batch);
      return new ColumnarBatch(NO_COLUMNS, batch.numRows());
    }
    return new ColumnarBatch(decoder.decodeVectors(batch), batch.numRows());
  }
}

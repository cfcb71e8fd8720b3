package io.github.quiverspark.read;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.vector.QuiverVector;
import java.util.NoSuchElementException;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.Iterator;

/** Cached batches as columnar batches of heap-backed vectors, one for one, without those of which no row is left. */
public final class ColumnarReader extends BatchIterator<ColumnarBatch> {
  private static final ColumnVector[] NO_COLUMNS = new ColumnVector[0];

  private ColumnarBatch next;
  private boolean done;

  /**
   * Reads the projection of all batches of {@code input}, which are those of the block; {@code observer} is told of each.
   *
   * @param reuse whether the caller is done with the vectors of a batch when it asks whether there is a next, whose numbers then take
   *     their place. Values that were taken from vectors stay valid for ever in either case
   */
  public ColumnarReader(Projection projection, Iterator<CachedBatch> input, Block block, ReadObserver observer, boolean reuse) {
    super(projection, input, block, observer, reuse);
  }

  @Override
  public boolean hasNext() {
    while (next == null && !done) {
      QuiverCachedBatch batch = nextBatch();
      if (batch == null) {
        done = true;
      } else {
        next = read(batch);
      }
    }
    return !done;
  }

  @Override
  public ColumnarBatch next() {
    if (!hasNext()) {
      throw new NoSuchElementException("no more batches");
    }
    ColumnarBatch batch = next;
    next = null;
    return batch;
  }

  /** Null if no row is left. */
  private ColumnarBatch read(QuiverCachedBatch batch) {
    if (projection.width() == 0) {
      decoder.countOnly(batch);
      return new ColumnarBatch(NO_COLUMNS, batch.numRows());
    }
    QuiverVector[] vectors = decoder.decodeVectors(batch);
    int rows = vectors[0].length();
    return rows == 0 ? null : new ColumnarBatch(vectors, rows);
  }
}

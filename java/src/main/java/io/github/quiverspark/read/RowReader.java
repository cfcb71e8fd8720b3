package io.github.quiverspark.read;

import io.github.quiverspark.CorruptBatchException;
import io.github.quiverspark.QuiverCachedBatch;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.unsafe.Platform;
import scala.collection.Iterator;

/**
 * Cached batches as UnsafeRows. Rows come from the library in blocks. One UnsafeRow object is reused; it moves in {@link #next} only, so
 * the last row survives {@link #hasNext}, and strings taken from it stay valid for ever: a block is a fresh array, unless all values
 * are copied out of rows. Two arrays then serve by turns, so that the last row of a block stays when the next block comes.
 */
public final class RowReader extends BatchIterator<InternalRow> {
  /** A block stays below G1's humongous threshold of small heaps and within L2. */
  private static final int BLOCK_BYTES = 256 << 10;
  private static final int BLOCK_ROWS = 8192;
  private static final byte[] NO_BYTES = new byte[0];

  private final UnsafeRow row;
  private final int[] ends;
  /** Rows of the block not yet handed out are position … count - 1. */
  private byte[] rows = NO_BYTES;
  private final boolean reuse;
  /** With reuse, the block before {@link #rows}. */
  private byte[] spare;
  private int position;
  private int count;
  private int start;
  /** Rows of the current batch that no block has brought yet. */
  private int missing;
  private boolean done;

  /** Reads the projection of all batches of {@code input}, which are those of the block; {@code observer} is told of each. */
  public RowReader(Projection projection, Iterator<CachedBatch> input, Block block, ReadObserver observer) {
    super(projection, input, block, observer, false);
    reuse = projection.givesCopies();
    row = new UnsafeRow(projection.width());
    ends = new int[projection.width() == 0 ? 0 : 1 + BLOCK_ROWS];
  }

  @Override
  public boolean hasNext() {
    return position < count || !done && advance();
  }

  @Override
  public InternalRow next() {
    if (!hasNext()) {
      throw new NoSuchElementException("no more rows");
    }
    position++;
    if (ends.length == 0) {
      row.pointTo(NO_BYTES, Platform.BYTE_ARRAY_OFFSET, 0);
    } else {
      int end = ends[position];
      row.pointTo(rows, Platform.BYTE_ARRAY_OFFSET + (long) start, end - start);
      start = end;
    }
    return row;
  }

  /** Fetches the next block, of the next batch if need be; false at the end. */
  private boolean advance() {
    while (missing == 0) {
      QuiverCachedBatch batch = nextBatch();
      if (batch == null) {
        done = true;
        rows = NO_BYTES;
        return false;
      }
      if (projection.width() == 0) {
        decoder.countOnly(batch);
        position = 0;
        count = batch.numRows();
        return true;
      }
      missing = decoder.decodeRows(batch);
    }
    byte[] bytes = decoder.nextRows(ends, BLOCK_BYTES, spare);
    if (bytes == null || ends[0] <= 0 || ends[0] > missing) {
      throw new CorruptBatchException(block + ": batch ends " + missing + " rows early");
    }
    if (reuse) {
      spare = rows;
    }
    rows = bytes;
    position = 0;
    start = 0;
    count = ends[0];
    missing -= count;
    return true;
  }
}

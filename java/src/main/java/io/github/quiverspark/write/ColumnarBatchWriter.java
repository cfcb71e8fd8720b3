package io.github.quiverspark.write;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.nativelib.Native;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.Iterator;

/**
 * Columnar batches of whatever vectors as cached batches. Values are copied to native memory column by column, small input batches
 * are merged, large ones cut, order kept. No reference to an input vector outlives the pull of the next input batch, since producers
 * reuse them; each input batch is released, where its vectors are of a freeable kind, once it has been copied.
 */
public final class ColumnarBatchWriter extends BatchWriter {
  private final Iterator<ColumnarBatch> input;
  /** The input batch at hand, of which rows from position on are not staged yet; null if there is none. */
  private ColumnarBatch current;
  private int position;
  private StagedBatch batch;
  private ArrowStructs structs;

  /** Writes all rows of {@code input}. */
  public ColumnarBatchWriter(WriteSpec spec, Iterator<ColumnarBatch> input) {
    super(spec);
    this.input = input;
  }

  /** Makes current an input batch that has rows left to stage; false at the end of the input. */
  private boolean pull() {
    while (current == null || position >= current.numRows()) {
      if (current != null) {
        InputBatches.release(current);
        current = null;
      }
      if (!input.hasNext()) {
        return false;
      }
      current = input.next();
      position = 0;
      if (current.numCols() != spec.types().length) {
        throw new IllegalStateException(
            "a batch has " + current.numCols() + " columns, the cached relation " + spec.types().length);
      }
    }
    return true;
  }

  @Override
  QuiverCachedBatch encodeNext(BatchEncoder encoder) {
    if (batch == null) {
      structs = new ArrowStructs(NativeMemory.LIBRARY, Native.noopRelease());
      batch = new StagedBatch(NativeMemory.LIBRARY, spec.types(), spec.batchRows(), spec.batchBytes());
    }
    batch.reset();
    boolean more;
    while ((more = pull()) && !batch.isFull()) {
      position += batch.append(current, position);
    }
    return encoder.encodeColumns(batch.export(structs), batch.rows(), !more);
  }

  @Override
  void releaseStaged() {
    if (batch != null) {
      batch.close();
      structs.close();
    }
  }
}

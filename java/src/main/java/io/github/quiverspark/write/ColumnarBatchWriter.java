package io.github.quiverspark.write;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.task.TaskResource;
import java.util.NoSuchElementException;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Columnar batches of whatever vectors as cached batches. Values are copied to native memory column by column, small input batches
 * are merged, large ones cut, order kept. No reference to an input vector outlives the pull of the next input batch, since producers
 * reuse them; each input batch is released, where its vectors are of a freeable kind, once it has been copied.
 */
public final class ColumnarBatchWriter extends AbstractIterator<CachedBatch> {
  private final WriteSpec spec;
  private final Iterator<ColumnarBatch> input;
  private final Staging staging;
  /** The input batch at hand, of which rows from position on are not staged yet; null if there is none. */
  private ColumnarBatch current;
  private int position;
  private boolean done;

  /** Writes all rows of {@code input}. */
  public ColumnarBatchWriter(WriteSpec spec, Iterator<ColumnarBatch> input) {
    this.spec = spec;
    this.input = input;
    this.staging = new Staging(spec);
  }

  @Override
  public boolean hasNext() {
    if (done) {
      staging.close();
    }
    return !done;
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
  public CachedBatch next() {
    if (!hasNext()) {
      throw new NoSuchElementException("no more batches");
    }
    staging.checkInterrupted();
    QuiverCachedBatch batch = staging.nextBatch(this);
    done = batch.isLast();
    return batch;
  }

  /** The native memory of the writer. */
  private static final class Staging extends TaskResource {
    private final WriteSpec spec;
    private final BatchEncoder encoder;
    private StagedBatch batch;
    private ArrowStructs structs;

    private Staging(WriteSpec spec) {
      this.spec = spec;
      this.encoder = new BatchEncoder(spec);
    }

    private QuiverCachedBatch nextBatch(ColumnarBatchWriter writer) {
      enter();
      try {
        if (batch == null) {
          encoder.load();
          structs = new ArrowStructs(NativeMemory.LIBRARY, Native.noopRelease());
          batch = new StagedBatch(NativeMemory.LIBRARY, spec.types(), spec.batchRows(), spec.batchBytes());
        }
        batch.reset();
        boolean more;
        while ((more = writer.pull()) && !batch.isFull()) {
          writer.position += batch.append(writer.current, writer.position);
        }
        return encoder.encodeColumns(batch.export(structs), batch.rows(), !more);
      } finally {
        exit();
      }
    }

    @Override
    protected void release() {
      if (batch != null) {
        batch.close();
        structs.close();
      }
      encoder.close();
    }
  }
}

package io.github.quiverspark.write;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.task.TaskResource;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.unsafe.Platform;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Rows as cached batches. The bytes of each row are copied to native memory; a batch is encoded once it has the rows or would exceed
 * the bytes of its {@link WriteSpec}. A row that alone is larger makes a batch of its own. No rows, no batch.
 */
public final class RowBatchWriter extends AbstractIterator<CachedBatch> {
  private final WriteSpec spec;
  private final Iterator<InternalRow> input;
  private final Staging staging;
  private UnsafeProjection toUnsafe;
  /** A row pulled from the input that did not fit into the last batch; the input has not been touched since. */
  private UnsafeRow pending;
  private boolean done;

  /** Writes all rows of {@code input}. */
  public RowBatchWriter(WriteSpec spec, Iterator<InternalRow> input) {
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

  /** The next row as an UnsafeRow; valid until the one after it is asked for. */
  private UnsafeRow nextRow() {
    if (pending != null) {
      UnsafeRow row = pending;
      pending = null;
      return row;
    }
    InternalRow row = input.next();
    if (row.numFields() != spec.types().length) {
      throw new IllegalStateException("a row has " + row.numFields() + " columns, the cached relation " + spec.types().length);
    }
    if (row instanceof UnsafeRow) {
      return (UnsafeRow) row;
    }
    if (toUnsafe == null) {
      toUnsafe = UnsafeProjection.create(spec.types());
    }
    return toUnsafe.apply(row);
  }

  /** The native memory of the writer. */
  private static final class Staging extends TaskResource {
    private final WriteSpec spec;
    private final BatchEncoder encoder;
    private final NativeBuffer rows = new NativeBuffer(NativeMemory.LIBRARY);
    private final NativeBuffer ends = new NativeBuffer(NativeMemory.LIBRARY);

    private Staging(WriteSpec spec) {
      this.spec = spec;
      this.encoder = new BatchEncoder(spec);
    }

    private QuiverCachedBatch nextBatch(RowBatchWriter writer) {
      enter();
      try {
        int n = fill(writer);
        boolean last = writer.pending == null && !writer.input.hasNext();
        return encoder.encodeRows(rows.address(), rows.size(), ends.address(), n, last);
      } finally {
        exit();
      }
    }

    /** Stages the rows of one batch: none only at the end of the input. */
    private int fill(RowBatchWriter writer) {
      encoder.load();
      rows.reset(2 * spec.batchBytes());
      ends.reset(Long.MAX_VALUE);
      int n = 0;
      while (n < spec.batchRows() && (writer.pending != null || writer.input.hasNext())) {
        UnsafeRow row = writer.nextRow();
        int bytes = row.getSizeInBytes();
        if (n > 0 && rows.size() + bytes > spec.batchBytes()) {
          writer.pending = row;
          break;
        }
        long at = rows.extend(bytes);
        Platform.copyMemory(row.getBaseObject(), row.getBaseOffset(), null, at, bytes);
        ends.putLong(rows.size());
        n++;
      }
      return n;
    }

    @Override
    protected void release() {
      rows.close();
      ends.close();
      encoder.close();
    }
  }
}

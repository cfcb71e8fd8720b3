package io.github.quiverspark.write;

import io.github.quiverspark.QuiverCachedBatch;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import scala.collection.Iterator;

/**
 * Rows as cached batches. The bytes of each row are copied to native memory; a batch is encoded once it has the rows or would exceed
 * the bytes of its {@link WriteSpec}. A row that alone is larger makes a batch of its own. Without rows there is one batch without rows.
 */
public final class RowBatchWriter extends BatchWriter {
  private final Iterator<InternalRow> input;
  private final NativeBuffer rows = new NativeBuffer(NativeMemory.LIBRARY);
  private final NativeBuffer ends = new NativeBuffer(NativeMemory.LIBRARY);
  private UnsafeProjection toUnsafe;
  /** A row pulled from the input that did not fit into the last batch; the input has not been touched since. */
  private UnsafeRow pending;

  /** Writes all rows of {@code input}. */
  public RowBatchWriter(WriteSpec spec, Iterator<InternalRow> input) {
    super(spec);
    this.input = input;
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

  @Override
  QuiverCachedBatch encodeNext(BatchEncoder encoder) {
    int n = stage();
    boolean last = pending == null && !input.hasNext();
    return encoder.encodeRows(rows.address(), rows.size(), ends.address(), n, last);
  }

  /** Stages the rows of one batch; returns how many. */
  private int stage() {
    rows.reset(2 * spec.batchBytes());
    ends.reset(Long.MAX_VALUE);
    int n = 0;
    while (n < spec.batchRows() && (pending != null || input.hasNext())) {
      UnsafeRow row = nextRow();
      int bytes = row.getSizeInBytes();
      if (n > 0 && rows.size() + bytes > spec.batchBytes()) {
        pending = row;
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
  void releaseStaged() {
    rows.close();
    ends.close();
  }
}

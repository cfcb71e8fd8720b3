package io.github.quiverspark.write;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.nativelib.NativeLoader;
import io.github.quiverspark.task.Ahead;
import java.util.concurrent.Future;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import scala.collection.Iterator;

/**
 * Rows as cached batches. The bytes of each row are copied to native memory; a batch is encoded once it has the rows or would exceed
 * the bytes of its {@link WriteSpec}. A row that alone is larger makes a batch of its own. Without rows there is one batch without rows.
 *
 * <p>Where a task slot is idle another thread encodes a batch while this one takes the rows of the next from the input, and while the
 * batch before it is stored; there is never more than one batch on the way. What the input throws then is thrown in its turn, after the
 * batch before.
 */
public final class RowBatchWriter extends BatchWriter {
  private final Iterator<InternalRow> input;
  private UnsafeProjection toUnsafe;
  /** A row pulled from the input that did not fit into the last batch; the input has not been touched since. */
  private UnsafeRow pending;
  /** Rows that are next to be encoded, if {@link #ready}; those that {@link #encoding} reads. */
  private StagedRows staged = new StagedRows();
  private boolean ready;
  /** Whether the input ends with {@link #staged}. */
  private boolean last;
  /** The batch of {@link #staged} if another thread encodes it. */
  private Future<QuiverCachedBatch> encoding;
  /** Memory for the batch after {@link #staged}. */
  private StagedRows spare = new StagedRows();
  /** What the input threw while the batch before was encoded. */
  private Throwable failure;

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
    if (failure != null) {
      throw Ahead.undeclared(failure);
    }
    if (!ready) {
      last = stage(staged);
      ready = true;
    }
    if (encoding == null && !last) {
      encoding = start(encoder);
    }
    if (encoding == null) {
      ready = false;
      return encode(encoder, staged, last);
    }
    return last ? encoded() : encodedWhileStaging(encoder);
  }

  /** The batch that is being encoded, after the next has been staged and its encoding begun. */
  private QuiverCachedBatch encodedWhileStaging(BatchEncoder encoder) {
    boolean nextIsLast = false;
    try {
      nextIsLast = stage(spare);
    } catch (Throwable e) {
      failure = e;
    }
    QuiverCachedBatch batch = encoded();
    StagedRows done = staged;
    staged = spare;
    spare = done;
    last = nextIsLast;
    ready = failure == null;
    if (ready) {
      encoding = start(encoder);
    }
    return batch;
  }

  private QuiverCachedBatch encoded() {
    Future<QuiverCachedBatch> work = encoding;
    encoding = null;
    ready = false;
    return Ahead.await(work);
  }

  /** Has the staged rows encoded by another thread; null if that is not possible now. */
  private Future<QuiverCachedBatch> start(BatchEncoder encoder) {
    // a batch more is staged meanwhile, of memory that a tight limit may not have
    if (!spec.encodesAhead() || !NativeLoader.hasRoomFor(2 * spec.batchBytes())) {
      return null;
    }
    StagedRows rows = staged;
    boolean end = last;
    return Ahead.tryStart(() -> encode(encoder, rows, end));
  }

  private static QuiverCachedBatch encode(BatchEncoder encoder, StagedRows rows, boolean last) {
    return encoder.encodeRows(rows.address(), rows.bytes(), rows.ends(), rows.count(), last);
  }

  /** Stages the rows of one batch; returns whether the input ends with it. */
  private boolean stage(StagedRows rows) {
    rows.reset(2 * spec.batchBytes());
    while (rows.count() < spec.batchRows() && (pending != null || input.hasNext())) {
      UnsafeRow row = nextRow();
      if (rows.count() > 0 && rows.bytes() + row.getSizeInBytes() > spec.batchBytes()) {
        pending = row;
        break;
      }
      rows.append(row);
    }
    return pending == null && !input.hasNext();
  }

  @Override
  void releaseStaged() {
    if (encoding != null) {
      try {
        encoded();
      } catch (RuntimeException | Error e) {
        // of a batch that nobody has asked for
      }
    }
    staged.close();
    spare.close();
  }
}

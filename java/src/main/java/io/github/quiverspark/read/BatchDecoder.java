package io.github.quiverspark.read;

import io.github.quiverspark.CorruptBatchException;
import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.nativelib.NativeLoader;
import io.github.quiverspark.task.TaskResource;
import io.github.quiverspark.vector.QuiverVector;
import io.github.quiverspark.vector.VectorBuilder;
import org.apache.spark.sql.types.DataType;

/** A native decoder of one projection, made when the first batch comes and closed with the iterator or the task. */
final class BatchDecoder extends TaskResource {
  private final Projection projection;
  private final Block block;
  private final ReadObserver observer;
  private final int nodes;
  private final long[] layout;
  /** Arrays that the next batch may overwrite; null if there are none. */
  private final byte[][] spare;
  private long handle;

  /** With {@code reuse}, vectors are valid until the next batch is decoded, see {@link ColumnarReader}. */
  BatchDecoder(Projection projection, Block block, ReadObserver observer, boolean reuse) {
    this.projection = projection;
    this.block = block;
    this.observer = observer;
    int n = 0;
    for (DataType t : projection.types()) {
      n += VectorBuilder.nodes(t);
    }
    nodes = n;
    layout = new long[VectorBuilder.LAYOUT_HEADER + VectorBuilder.LAYOUT_PER_NODE * n];
    spare = reuse ? VectorBuilder.reusable(projection.types()) : null;
  }

  /** Decodes the projected columns into vectors, of as many rows as the filter has left. */
  QuiverVector[] decodeVectors(QuiverCachedBatch batch) {
    enter();
    try {
      byte[][] buffers = new byte[VectorBuilder.BUFFERS_PER_NODE * nodes][];
      Native.decodeVectors(handle(), batch.header(), batch.segments(), toVerify(batch), layout, buffers, spare);
      int rows = decoded(batch);
      return VectorBuilder.build(projection.types(), rows, layout, buffers);
    } catch (CorruptBatchException e) {
      throw block.named(e);
    } finally {
      exit();
    }
  }

  /** Decodes the projected columns for {@link #nextRows}; returns how many rows the filter has left. */
  int decodeRows(QuiverCachedBatch batch) {
    enter();
    try {
      Native.decodeRows(handle(), batch.header(), batch.segments(), toVerify(batch), layout);
      return decoded(batch);
    } catch (CorruptBatchException e) {
      throw block.named(e);
    } finally {
      exit();
    }
  }

  /** Decodes the projected columns and adds them up, as {@link Native#decodeTotals}. */
  void addTotals(QuiverCachedBatch batch, int[] terms, long[] totals) {
    enter();
    try {
      Native.decodeTotals(handle(), batch.header(), batch.segments(), toVerify(batch), terms, totals, layout);
      decoded(batch);
    } catch (CorruptBatchException e) {
      throw block.named(e);
    } finally {
      exit();
    }
  }

  /** The next block of rows of the decoded batch, as {@link Native#nextRows}. */
  byte[] nextRows(int[] ends, int targetBytes, byte[] spareBlock) {
    enter();
    try {
      return Native.nextRows(handle(), ends, targetBytes, spareBlock);
    } catch (CorruptBatchException e) {
      throw block.named(e);
    } finally {
      exit();
    }
  }

  /** Notes a batch of which nothing but the row count was read. */
  void countOnly(QuiverCachedBatch batch) {
    observer.batchRead(batch, batch.numRows(), 0, 0);
  }

  @Override
  protected void release() {
    long h = handle;
    handle = 0;
    if (h != 0) {
      Native.close(h);
    }
  }

  private long handle() {
    if (handle == 0) {
      NativeLoader.load();
      handle = Native.newDecoder(projection.schemaJson(), projection.indexes(), projection.unread(), projection.filter());
    }
    return handle;
  }

  private byte[] toVerify(QuiverCachedBatch batch) {
    return batch.mustVerify(projection.indexes()) ? batch.checksums() : null;
  }

  private int decoded(QuiverCachedBatch batch) {
    batch.verified(projection.indexes());
    if (layout[0] != batch.numRows()) {
      throw new CorruptBatchException("message has " + layout[0] + " rows, the batch " + batch.numRows());
    }
    int rows = (int) layout[3];
    observer.batchRead(batch, rows, layout[1], layout[2]);
    return rows;
  }
}

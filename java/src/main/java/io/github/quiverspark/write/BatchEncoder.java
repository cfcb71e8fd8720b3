package io.github.quiverspark.write;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.QuiverException;
import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.nativelib.NativeLoader;
import java.util.Arrays;

/** The native encoder of one writer, made when first needed. Not thread-safe; the writer guards it. */
final class BatchEncoder implements AutoCloseable {
  private final WriteSpec spec;
  private final long[] info = new long[2];
  private long handle;

  BatchEncoder(WriteSpec spec) {
    this.spec = spec;
  }

  /** Encodes n UnsafeRows that lie at address rows; ends is the address of their end offsets; last: the partition ends with them. */
  QuiverCachedBatch encodeRows(long rows, long rowsLength, long ends, int n, boolean last) {
    long start = System.nanoTime();
    return batch(Native.encodeRows(handle(), rows, rowsLength, ends, n, info), n, last, start);
  }

  /** Encodes the struct array at this address, which has n rows; last: the partition ends with them. */
  QuiverCachedBatch encodeColumns(long array, int n, boolean last) {
    long start = System.nanoTime();
    return batch(Native.encodeColumns(handle(), array, 0, info), n, last, start);
  }

  private QuiverCachedBatch batch(byte[][] encoded, int rows, boolean last, long start) {
    if (info[0] != rows) {
      throw new QuiverException("encoder was given " + rows + " rows and encoded " + info[0]);
    }
    QuiverCachedBatch batch = new QuiverCachedBatch(rows, spec.types().length, last, info[1], encoded[0], encoded[1],
        encoded[2], Arrays.copyOfRange(encoded, 3, encoded.length));
    WriteCounters.batchWritten(rows, info[1], batch.payloadBytes(), System.nanoTime() - start);
    return batch;
  }

  /** Makes the library available; native memory may be allocated afterwards. */
  void load() {
    handle();
  }

  private long handle() {
    if (handle == 0) {
      NativeLoader.load();
      handle = Native.newEncoder(spec.schemaJson(), spec.encoderOptions());
    }
    return handle;
  }

  @Override
  public void close() {
    long h = handle;
    handle = 0;
    if (h != 0) {
      Native.close(h);
    }
  }
}

package io.github.quiverspark.write;

import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/** Rows of a batch under construction: the bytes of UnsafeRows one after another in native memory, and where each ends. */
final class StagedRows implements AutoCloseable {
  private final NativeBuffer rows = new NativeBuffer(NativeMemory.LIBRARY);
  private final NativeBuffer ends = new NativeBuffer(NativeMemory.LIBRARY);
  private int count;

  /** Empties it; memory beyond keepBytes of rows is given back. */
  void reset(long keepBytes) {
    rows.reset(keepBytes);
    ends.reset(Long.MAX_VALUE);
    count = 0;
  }

  void append(UnsafeRow row) {
    int bytes = row.getSizeInBytes();
    long at = rows.extend(bytes);
    Platform.copyMemory(row.getBaseObject(), row.getBaseOffset(), null, at, bytes);
    ends.putLong(rows.size());
    count++;
  }

  int count() {
    return count;
  }

  long bytes() {
    return rows.size();
  }

  /** Address of the first row. */
  long address() {
    return rows.address();
  }

  /** Address of the rows' end offsets, as longs. */
  long ends() {
    return ends.address();
  }

  @Override
  public void close() {
    rows.close();
    ends.close();
  }
}

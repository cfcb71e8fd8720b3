package io.github.quiverspark.write;

import org.apache.spark.unsafe.Platform;

/**
 * Memory for the ArrowArray structs of one batch, with their pointer arrays. Layout of struct ArrowArray: Arrow C Data Interface
 * specification, 64-bit pointers.
 */
final class ArrowStructs implements AutoCloseable {
  /** Size of struct ArrowArray. */
  static final int ARRAY_BYTES = 80;

  private static final int LENGTH = 0;
  private static final int NULL_COUNT = 8;
  private static final int N_BUFFERS = 24;
  private static final int N_CHILDREN = 32;
  private static final int BUFFERS = 40;
  private static final int CHILDREN = 48;
  private static final int RELEASE = 64;

  private final NativeBuffer memory;
  private final long release;
  private long next;

  /** @param release address of the release callback every struct gets */
  ArrowStructs(NativeMemory memory, long release) {
    this.memory = new NativeBuffer(memory);
    this.release = release;
  }

  /** Bytes that a struct with so many buffers and children takes. */
  static long bytes(int buffers, int children) {
    return ARRAY_BYTES + 8L * buffers + 8L * children;
  }

  /** Zeroes the memory and makes room for so many bytes; structs made before are gone. */
  void begin(long bytes) {
    memory.setSize(0);
    memory.fill(0, bytes);
    next = memory.address();
  }

  /**
   * A struct with offset 0 and no dictionary. Its buffer and child pointers are null until set.
   *
   * @return its address
   */
  long array(long length, long nullCount, int buffers, int children) {
    long at = next;
    next += bytes(buffers, children);
    assert next <= memory.end();
    Platform.putLong(null, at + LENGTH, length);
    Platform.putLong(null, at + NULL_COUNT, nullCount);
    Platform.putLong(null, at + N_BUFFERS, buffers);
    Platform.putLong(null, at + N_CHILDREN, children);
    if (buffers > 0) {
      Platform.putLong(null, at + BUFFERS, at + ARRAY_BYTES);
    }
    if (children > 0) {
      Platform.putLong(null, at + CHILDREN, at + ARRAY_BYTES + 8L * buffers);
    }
    Platform.putLong(null, at + RELEASE, release);
    return at;
  }

  /** Sets buffer i of a struct. */
  static void setBuffer(long array, int i, long address) {
    Platform.putLong(null, Platform.getLong(null, array + BUFFERS) + 8L * i, address);
  }

  /** Sets child i of a struct. */
  static void setChild(long array, int i, long child) {
    Platform.putLong(null, Platform.getLong(null, array + CHILDREN) + 8L * i, child);
  }

  @Override
  public void close() {
    memory.close();
  }
}

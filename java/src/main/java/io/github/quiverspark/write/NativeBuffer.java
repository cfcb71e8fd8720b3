package io.github.quiverspark.write;

import org.apache.spark.unsafe.Platform;

/** A growing native byte buffer, reused from batch to batch. Not thread-safe; must be freed. */
final class NativeBuffer implements AutoCloseable {
  private static final long MIN_CAPACITY = 1024;

  private final NativeMemory memory;
  private long address;
  private long capacity;
  private long size;

  NativeBuffer(NativeMemory memory) {
    this.memory = memory;
  }

  /** Address of the first byte; changes when the buffer grows; 0 before the first growth. */
  long address() {
    return address;
  }

  /** Bytes in use. */
  long size() {
    return size;
  }

  /** Address behind the bytes in use. */
  long end() {
    return address + size;
  }

  /** Empties the buffer; memory beyond keepBytes, left from an unusually large batch, is given back. */
  void reset(long keepBytes) {
    if (capacity > keepBytes) {
      close();
    }
    size = 0;
  }

  /** Sets the bytes in use; what is new among them is undefined. */
  void setSize(long bytes) {
    ensure(bytes);
    size = bytes;
  }

  /** Makes room for so many more bytes, takes them into use and answers the address of the first; their content is undefined. */
  long extend(long bytes) {
    ensure(size + bytes);
    long at = address + size;
    size += bytes;
    return at;
  }

  void putInt(int value) {
    Platform.putInt(null, extend(4), value);
  }

  void putLong(long value) {
    Platform.putLong(null, extend(8), value);
  }

  /** Appends bytes of an array or, where base is null, of an address. */
  void append(Object base, long offset, long bytes) {
    long at = extend(bytes);
    Platform.copyMemory(base, offset, null, at, bytes);
  }

  /** Appends so many bytes of one value. */
  void fill(int value, long bytes) {
    if (bytes > 0) {
      long at = extend(bytes);
      Platform.setMemory(null, at, bytes, (byte) value);
    }
  }

  private void ensure(long bytes) {
    if (bytes <= capacity) {
      return;
    }
    // A multiple of 64, as Arrow recommends, so that word-wise readers may run over the end.
    long grown = (Math.max(Math.max(bytes, capacity + (capacity >> 1)), MIN_CAPACITY) + 63) & ~63L;
    address = capacity == 0 ? memory.allocate(grown) : memory.reallocate(address, capacity, grown);
    capacity = grown;
  }

  @Override
  public void close() {
    long a = address;
    long c = capacity;
    address = 0;
    capacity = 0;
    size = 0;
    if (c > 0) {
      memory.free(a, c);
    }
  }
}

package io.github.quiverspark.write;

import io.github.quiverspark.nativelib.Native;

/** Where staged input lies: counted native memory, or, in tests, memory of their own. */
interface NativeMemory {
  /** Memory of the library, counted and limited by it. */
  NativeMemory LIBRARY = new NativeMemory() {
    @Override
    public long allocate(long bytes) {
      return Native.allocate(bytes);
    }

    @Override
    public long reallocate(long address, long oldBytes, long newBytes) {
      return Native.reallocate(address, oldBytes, newBytes);
    }

    @Override
    public void free(long address, long bytes) {
      Native.free(address, bytes);
    }
  };

  /** Zeroed memory, 64-byte aligned. */
  long allocate(long bytes);

  /** Grown memory with the old content; the old address is invalid afterwards. */
  long reallocate(long address, long oldBytes, long newBytes);

  /** Frees memory of the given size. */
  void free(long address, long bytes);
}

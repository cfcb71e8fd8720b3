package io.github.quiverspark.write;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.unsafe.Platform;

/** Memory that knows what is allocated, fills it with garbage and moves it whenever it grows. */
final class TestMemory implements NativeMemory {
  private final Map<Long, Long> live = new HashMap<>();

  @Override
  public long allocate(long bytes) {
    long a = Platform.allocateMemory(bytes);
    Platform.setMemory(null, a, bytes, (byte) 0);
    live.put(a, bytes);
    return a;
  }

  @Override
  public long reallocate(long address, long oldBytes, long newBytes) {
    long a = allocate(newBytes);
    Platform.copyMemory(null, address, null, a, oldBytes);
    Platform.setMemory(null, address, oldBytes, (byte) 0xAB);
    free(address, oldBytes);
    return a;
  }

  @Override
  public void free(long address, long bytes) {
    Long known = live.remove(address);
    if (known == null || known != bytes) {
      throw new AssertionError("free of " + bytes + " bytes, allocated " + known);
    }
    Platform.freeMemory(address);
  }

  /** Bytes allocated and not freed. */
  long inUse() {
    return live.values().stream().mapToLong(Long::longValue).sum();
  }
}

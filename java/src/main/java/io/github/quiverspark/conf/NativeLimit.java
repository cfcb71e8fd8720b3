package io.github.quiverspark.conf;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.apache.spark.SparkConf;

/**
 * The limit of native memory of a process. Left to Quiver it lets every task thread write and read batches of the usual size, and
 * larger ones where there is memory, but ends a task before the system would end the process.
 */
final class NativeLimit {
  /**
   * Batches of native memory that a task thread can count on: one staged as rows, its columns, its encoded body and their
   * growth, and as much again for a reader in the same task.
   */
  static final int BATCHES_PER_THREAD = 16;

  private NativeLimit() {}

  /** The limit in bytes for a process with so many task threads; 0 for none. */
  @SuppressWarnings("deprecation") // the new name of getTotalPhysicalMemorySize is not in Java 8
  static long bytes(SparkConf conf, int threads) {
    long configured = QuiverSettings.MEMORY_LIMIT.read(conf);
    if (configured != Setting.AUTO) {
      return configured;
    }
    OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    // of the container, where the JVM runs in one
    long batch = QuiverSettings.BATCH_MAX_BYTES.read(conf);
    return derived(threads, batch, system.getTotalPhysicalMemorySize(), Runtime.getRuntime().maxMemory());
  }

  static long derived(int threads, long batchBytes, long memory, long heap) {
    return Math.max((long) threads * BATCHES_PER_THREAD * batchBytes, (memory - heap) / 2);
  }
}

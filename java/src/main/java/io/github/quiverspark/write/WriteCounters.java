package io.github.quiverspark.write;

import java.util.concurrent.atomic.LongAdder;

/** What this JVM has cached since it started, for the plugin's metrics. */
public final class WriteCounters {
  private static final LongAdder BATCHES = new LongAdder();
  private static final LongAdder ROWS = new LongAdder();
  private static final LongAdder ENCODED_BYTES = new LongAdder();
  private static final LongAdder STORED_BYTES = new LongAdder();
  private static final LongAdder ENCODE_NANOS = new LongAdder();
  private static final LongAdder DELEGATED_RELATIONS = new LongAdder();

  private WriteCounters() {}

  static void batchWritten(int rows, long encodedBytes, long storedBytes, long nanos) {
    BATCHES.increment();
    ROWS.add(rows);
    ENCODED_BYTES.add(encodedBytes);
    STORED_BYTES.add(storedBytes);
    ENCODE_NANOS.add(nanos);
  }

  /** Notes a relation that was left to Spark's own format. */
  public static void relationDelegated() {
    DELEGATED_RELATIONS.increment();
  }

  /** Batches encoded. */
  public static long batches() {
    return BATCHES.sum();
  }

  /** Rows encoded. */
  public static long rows() {
    return ROWS.sum();
  }

  /** Bytes that were encoded, as the planner counts them: without encoding or compression. */
  public static long encodedBytes() {
    return ENCODED_BYTES.sum();
  }

  /** Bytes of the encoded batches. */
  public static long storedBytes() {
    return STORED_BYTES.sum();
  }

  /** Time spent in the encoder, in nanoseconds. */
  public static long encodeNanos() {
    return ENCODE_NANOS.sum();
  }

  /** Relations left to Spark's own format (counted on the driver). */
  public static long delegatedRelations() {
    return DELEGATED_RELATIONS.sum();
  }
}

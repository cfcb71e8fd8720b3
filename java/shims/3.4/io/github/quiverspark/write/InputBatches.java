package io.github.quiverspark.write;

import org.apache.spark.sql.vectorized.ColumnarBatch;

/** What a writer does with a batch that it has copied. */
final class InputBatches {
  private InputBatches() {}

  /** Does nothing: Spark 3.4 leaves it to the producer. */
  static void release(ColumnarBatch batch) {}
}

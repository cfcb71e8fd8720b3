package io.github.quiverspark.write;

import org.apache.spark.sql.vectorized.ColumnarBatch;

/** What a writer does with a batch that it has copied. */
final class InputBatches {
  private InputBatches() {}

  private static final boolean FREEABLE = hasMethod(ColumnarBatch.class, "closeIfFreeable");

  /** Releases the vectors of a batch, but for those that their producer reuses. Spark up to 3.5.3 leaves it to the producer. */
  static void release(ColumnarBatch batch) {
    if (FREEABLE) {
      batch.closeIfFreeable();
    }
  }

  private static boolean hasMethod(Class<?> owner, String name) {
    try {
      owner.getMethod(name);
      return true;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }
}

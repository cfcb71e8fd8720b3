package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** Values of Spark's long, timestamps, time and day-time interval. */
public final class LongVector extends FixedWidthVector {
  LongVector(DataType type, Slots slots, byte[] values, int offset) {
    super(type, slots, values, offset);
  }

  @Override
  public long getLong(int rowId) {
    assert inBounds(rowId);
    return Platform.getLong(values, base + 8L * rowId);
  }

  @Override
  public long[] getLongs(int rowId, int count) {
    assert inBounds(rowId, count);
    long[] out = new long[count];
    Platform.copyMemory(values, base + 8L * rowId, out, Platform.LONG_ARRAY_OFFSET, 8L * count);
    return out;
  }
}

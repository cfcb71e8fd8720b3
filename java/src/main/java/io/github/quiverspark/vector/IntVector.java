package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** Values of Spark's int, date and year-month interval. */
public final class IntVector extends FixedWidthVector {
  IntVector(DataType type, Slots slots, byte[] values, int offset) {
    super(type, slots, values, offset);
  }

  @Override
  public int getInt(int rowId) {
    assert inBounds(rowId);
    return Platform.getInt(values, base + 4L * rowId);
  }

  @Override
  public int[] getInts(int rowId, int count) {
    assert inBounds(rowId, count);
    int[] out = new int[count];
    Platform.copyMemory(values, base + 4L * rowId, out, Platform.INT_ARRAY_OFFSET, 4L * count);
    return out;
  }
}

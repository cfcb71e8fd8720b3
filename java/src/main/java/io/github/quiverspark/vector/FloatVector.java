package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** Values of Spark's float. */
public final class FloatVector extends FixedWidthVector {
  FloatVector(DataType type, Slots slots, byte[] values, int offset) {
    super(type, slots, values, offset);
  }

  @Override
  public float getFloat(int rowId) {
    assert inBounds(rowId);
    return Platform.getFloat(values, base + 4L * rowId);
  }

  @Override
  public float[] getFloats(int rowId, int count) {
    assert inBounds(rowId, count);
    float[] out = new float[count];
    Platform.copyMemory(values, base + 4L * rowId, out, Platform.FLOAT_ARRAY_OFFSET, 4L * count);
    return out;
  }
}

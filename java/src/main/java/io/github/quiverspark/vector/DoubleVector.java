package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** Values of Spark's double. */
public final class DoubleVector extends FixedWidthVector {
  DoubleVector(DataType type, Slots slots, byte[] values, int offset) {
    super(type, slots, values, offset);
  }

  @Override
  public double getDouble(int rowId) {
    assert inBounds(rowId);
    return Platform.getDouble(values, base + 8L * rowId);
  }

  @Override
  public double[] getDoubles(int rowId, int count) {
    assert inBounds(rowId, count);
    double[] out = new double[count];
    Platform.copyMemory(values, base + 8L * rowId, out, Platform.DOUBLE_ARRAY_OFFSET, 8L * count);
    return out;
  }
}

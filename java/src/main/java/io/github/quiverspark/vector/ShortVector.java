package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** Values of Spark's short. */
public final class ShortVector extends FixedWidthVector {
  ShortVector(DataType type, Slots slots, byte[] values, int offset) {
    super(type, slots, values, offset);
  }

  @Override
  public short getShort(int rowId) {
    assert inBounds(rowId);
    return Platform.getShort(values, base + 2L * rowId);
  }

  @Override
  public short[] getShorts(int rowId, int count) {
    assert inBounds(rowId, count);
    short[] out = new short[count];
    Platform.copyMemory(values, base + 2L * rowId, out, Platform.SHORT_ARRAY_OFFSET, 2L * count);
    return out;
  }
}

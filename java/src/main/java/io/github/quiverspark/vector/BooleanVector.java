package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** Values of Spark's boolean, one byte a slot. */
public final class BooleanVector extends FixedWidthVector {
  BooleanVector(DataType type, Slots slots, byte[] values, int offset) {
    super(type, slots, values, offset);
  }

  @Override
  public boolean getBoolean(int rowId) {
    assert inBounds(rowId);
    return Platform.getBoolean(values, base + rowId);
  }

  @Override
  public boolean[] getBooleans(int rowId, int count) {
    assert inBounds(rowId, count);
    boolean[] out = new boolean[count];
    Platform.copyMemory(values, base + rowId, out, Platform.BOOLEAN_ARRAY_OFFSET, count);
    return out;
  }
}

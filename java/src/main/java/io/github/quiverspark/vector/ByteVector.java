package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** Values of Spark's byte. */
public final class ByteVector extends FixedWidthVector {
  ByteVector(DataType type, Slots slots, byte[] values, int offset) {
    super(type, slots, values, offset);
  }

  @Override
  public byte getByte(int rowId) {
    assert inBounds(rowId);
    return Platform.getByte(values, base + rowId);
  }

  @Override
  public byte[] getBytes(int rowId, int count) {
    assert inBounds(rowId, count);
    byte[] out = new byte[count];
    Platform.copyMemory(values, base + rowId, out, Platform.BYTE_ARRAY_OFFSET, count);
    return out;
  }
}

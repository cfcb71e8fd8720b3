package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** Binary values, geometry and geography. Each value handed out is a fresh array. */
public final class BinaryVector extends VariableWidthVector {
  BinaryVector(DataType type, Slots slots, byte[] offsets, int offsetsAt, byte[] data, int dataAt) {
    super(type, slots, offsets, offsetsAt, data, dataAt);
  }

  @Override
  public byte[] getBinary(int rowId) {
    if (isNullAt(rowId)) {
      return null;
    }
    int start = offset(rowId);
    byte[] out = new byte[offset(rowId + 1) - start];
    Platform.copyMemory(data, dataBase + start, out, Platform.BYTE_ARRAY_OFFSET, out.length);
    return out;
  }
}

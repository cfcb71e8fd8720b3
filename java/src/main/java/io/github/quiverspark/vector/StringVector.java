package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;

/** Strings of every collation, char and varchar. The UTF8Strings handed out point into the vector's array and keep it alive. */
public final class StringVector extends VariableWidthVector {
  StringVector(DataType type, Slots slots, byte[] offsets, int offsetsAt, byte[] data, int dataAt) {
    super(type, slots, offsets, offsetsAt, data, dataAt);
  }

  @Override
  public UTF8String getUTF8String(int rowId) {
    if (isNullAt(rowId)) {
      return null;
    }
    int start = offset(rowId);
    return UTF8String.fromAddress(data, dataBase + start, offset(rowId + 1) - start);
  }
}

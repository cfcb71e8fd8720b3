package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** A vector whose slots are byte ranges of one data array. */
public abstract class VariableWidthVector extends RangedVector {
  protected final byte[] data;
  protected final long dataBase;

  VariableWidthVector(DataType type, Slots slots, byte[] offsets, int offsetsAt, byte[] data, int dataAt) {
    super(type, slots, offsets, offsetsAt);
    this.data = data;
    this.dataBase = Platform.BYTE_ARRAY_OFFSET + (long) dataAt;
  }

  /** The array that holds the bytes. Not a copy. */
  public final byte[] data() {
    return data;
  }

  /** Where byte 0 of the data is within {@link #data}, as an offset for {@code Platform}. */
  public final long dataBase() {
    return dataBase;
  }
}

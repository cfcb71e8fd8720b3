package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** A vector whose slots are byte ranges of one data array, told by {@code length + 1} int32 offsets. */
public abstract class VariableWidthVector extends QuiverVector {
  private final byte[] offsets;
  private final long offsetsBase;
  protected final byte[] data;
  protected final long dataBase;

  VariableWidthVector(DataType type, Slots slots, byte[] offsets, int offsetsAt, byte[] data, int dataAt) {
    super(type, slots);
    this.offsets = offsets;
    this.offsetsBase = Platform.BYTE_ARRAY_OFFSET + (long) offsetsAt;
    this.data = data;
    this.dataBase = Platform.BYTE_ARRAY_OFFSET + (long) dataAt;
  }

  /** Where slot {@code i} starts within the data; {@code i} may be {@link #length} for the end of the last. */
  public final int offset(int i) {
    assert i >= 0 && i <= length;
    return Platform.getInt(offsets, offsetsBase + 4L * i);
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

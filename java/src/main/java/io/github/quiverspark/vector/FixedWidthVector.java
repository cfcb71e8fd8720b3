package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** A vector whose values lie side by side in one {@code byte[]}, little-endian. */
public abstract class FixedWidthVector extends QuiverVector {
  protected final byte[] values;
  /** Where the first value is, in the sense of {@code Platform}'s offsets into {@link #values}. */
  protected final long base;

  FixedWidthVector(DataType type, Slots slots, byte[] values, int offset) {
    super(type, slots);
    this.values = values;
    this.base = Platform.BYTE_ARRAY_OFFSET + (long) offset;
  }

  /** The array that holds the values. Not a copy. */
  public final byte[] values() {
    return values;
  }

  /** Where slot 0 is within {@link #values}, as an offset for {@code Platform}. */
  public final long valuesBase() {
    return base;
  }
}

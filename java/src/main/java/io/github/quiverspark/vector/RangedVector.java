package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.Platform;

/** A vector whose slots are ranges of something (bytes, elements, entries), told by {@code length + 1} int32 offsets. */
public abstract class RangedVector extends QuiverVector {
  private final byte[] offsets;
  private final long offsetsBase;

  RangedVector(DataType type, Slots slots, byte[] offsets, int offsetsAt) {
    super(type, slots);
    this.offsets = offsets;
    this.offsetsBase = Platform.BYTE_ARRAY_OFFSET + (long) offsetsAt;
  }

  /** Where slot {@code i} starts; {@code i} may be {@link #length} for the end of the last. */
  public final int offset(int i) {
    assert i >= 0 && i <= length;
    return Platform.getInt(offsets, offsetsBase + 4L * i);
  }
}

package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.Platform;

/** Maps: ranges of a key vector (child 0) and a value vector (child 1). */
public final class MapVector extends QuiverVector {
  private final byte[] offsets;
  private final long offsetsBase;
  private final QuiverVector keys;
  private final QuiverVector values;

  MapVector(DataType type, Slots slots, byte[] offsets, int offsetsAt, QuiverVector keys, QuiverVector values) {
    super(type, slots);
    this.offsets = offsets;
    this.offsetsBase = Platform.BYTE_ARRAY_OFFSET + (long) offsetsAt;
    this.keys = keys;
    this.values = values;
  }

  /** First entry of slot {@code i}; {@code i} may be {@link #length} for the end of the last. */
  public int offset(int i) {
    assert i >= 0 && i <= length;
    return Platform.getInt(offsets, offsetsBase + 4L * i);
  }

  @Override
  public ColumnarMap getMap(int rowId) {
    if (isNullAt(rowId)) {
      return null;
    }
    int start = offset(rowId);
    return new ColumnarMap(keys, values, start, offset(rowId + 1) - start);
  }

  @Override
  public QuiverVector getChild(int ordinal) {
    switch (ordinal) {
      case 0:
        return keys;
      case 1:
        return values;
      default:
        throw new IndexOutOfBoundsException("child " + ordinal + " of a map vector");
    }
  }
}

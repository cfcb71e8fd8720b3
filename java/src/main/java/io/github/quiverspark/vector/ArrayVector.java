package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.unsafe.Platform;

/** Arrays: ranges of one element vector, which is the only child. */
public final class ArrayVector extends QuiverVector {
  private final byte[] offsets;
  private final long offsetsBase;
  private final QuiverVector element;

  ArrayVector(DataType type, Slots slots, byte[] offsets, int offsetsAt, QuiverVector element) {
    super(type, slots);
    this.offsets = offsets;
    this.offsetsBase = Platform.BYTE_ARRAY_OFFSET + (long) offsetsAt;
    this.element = element;
  }

  /** First element of slot {@code i}; {@code i} may be {@link #length} for the end of the last. */
  public int offset(int i) {
    assert i >= 0 && i <= length;
    return Platform.getInt(offsets, offsetsBase + 4L * i);
  }

  @Override
  public ColumnarArray getArray(int rowId) {
    if (isNullAt(rowId)) {
      return null;
    }
    int start = offset(rowId);
    return new ColumnarArray(element, start, offset(rowId + 1) - start);
  }

  @Override
  public QuiverVector getChild(int ordinal) {
    if (ordinal != 0) {
      throw new IndexOutOfBoundsException("child " + ordinal + " of an array vector");
    }
    return element;
  }
}

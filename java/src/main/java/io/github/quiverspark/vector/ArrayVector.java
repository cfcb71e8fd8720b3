package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarArray;

/** Arrays: ranges of one element vector, which is the only child. */
public final class ArrayVector extends RangedVector {
  private final QuiverVector element;

  ArrayVector(DataType type, Slots slots, byte[] offsets, int offsetsAt, QuiverVector element) {
    super(type, slots, offsets, offsetsAt);
    this.element = element;
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

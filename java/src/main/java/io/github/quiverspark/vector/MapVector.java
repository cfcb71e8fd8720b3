package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarMap;

/** Maps: ranges of a key vector (child 0) and a value vector (child 1). */
public final class MapVector extends RangedVector {
  private final QuiverVector keys;
  private final QuiverVector values;

  MapVector(DataType type, Slots slots, byte[] offsets, int offsetsAt, QuiverVector keys, QuiverVector values) {
    super(type, slots, offsets, offsetsAt);
    this.keys = keys;
    this.values = values;
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

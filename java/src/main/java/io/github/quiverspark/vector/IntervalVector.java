package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;

/** Calendar intervals: children are months (int), days (int) and microseconds (long). */
public final class IntervalVector extends QuiverVector {
  private final QuiverVector[] children;

  IntervalVector(DataType type, Slots slots, QuiverVector[] children) {
    super(type, slots);
    this.children = children;
  }

  @Override
  public QuiverVector getChild(int ordinal) {
    return children[ordinal];
  }
}

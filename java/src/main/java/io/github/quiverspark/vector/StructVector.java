package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;

/** Structs: one child per field, with as many slots as the struct. */
public final class StructVector extends QuiverVector {
  private final QuiverVector[] children;

  StructVector(DataType type, Slots slots, QuiverVector[] children) {
    super(type, slots);
    this.children = children;
  }

  @Override
  public QuiverVector getChild(int ordinal) {
    return children[ordinal];
  }
}

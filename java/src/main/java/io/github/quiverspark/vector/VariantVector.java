package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;

/** Variants: children are the value and the metadata, both binary. */
public final class VariantVector extends QuiverVector {
  private final QuiverVector[] children;

  VariantVector(DataType type, Slots slots, QuiverVector[] children) {
    super(type, slots);
    this.children = children;
  }

  @Override
  public QuiverVector getChild(int ordinal) {
    return children[ordinal];
  }
}

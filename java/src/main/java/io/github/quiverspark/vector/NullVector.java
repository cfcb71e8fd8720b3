package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;

/** The void type: every slot is null. */
public final class NullVector extends QuiverVector {
  NullVector(DataType type, Slots slots) {
    super(type, slots);
  }
}

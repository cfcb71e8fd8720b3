package io.github.quiverspark.write;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;

/** Geometry and geography, which Spark reads as binary from 4.2 on. */
final class Geo {
  private Geo() {}

  /** Bytes of a value of a vector. */
  static byte[] bytes(ColumnVector v, int row, DataType type) {
    return v.getBinary(row);
  }

  /** Bytes of a value of a row or array. */
  static byte[] bytes(SpecializedGetters from, int ordinal, DataType type) {
    return from.getBinary(ordinal);
  }
}

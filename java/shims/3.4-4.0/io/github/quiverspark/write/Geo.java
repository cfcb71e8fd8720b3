package io.github.quiverspark.write;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;

/** Geometry and geography, which this Spark does not have: no column has such a type. */
final class Geo {
  private Geo() {}

  /** Bytes of a value of a vector. */
  static byte[] bytes(ColumnVector v, int row, DataType type) {
    throw new UnsupportedOperationException(type.catalogString());
  }

  /** Bytes of a value of a row or array. */
  static byte[] bytes(SpecializedGetters from, int ordinal, DataType type) {
    throw new UnsupportedOperationException(type.catalogString());
  }
}

package io.github.quiverspark.write;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.GeometryType;
import org.apache.spark.sql.vectorized.ColumnVector;

/** Geometry and geography. */
final class Geo {
  private Geo() {}

  /** Bytes of a value of a vector. */
  static byte[] bytes(ColumnVector v, int row, DataType type) {
    return type instanceof GeometryType ? v.getGeometry(row).getBytes() : v.getGeography(row).getBytes();
  }

  /** Bytes of a value of a row or array. */
  static byte[] bytes(SpecializedGetters from, int ordinal, DataType type) {
    return type instanceof GeometryType ? from.getGeometry(ordinal).getBytes() : from.getGeography(ordinal).getBytes();
  }
}

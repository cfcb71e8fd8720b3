package io.github.quiverspark.write;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.GeometryType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.VariantVal;

/** The calls to Spark that not every supported version of it has. */
final class NewerSpark {
  private NewerSpark() {}

  /** Releases the vectors of a batch that has been copied, but for those that their producer reuses. */
  static void closeIfFreeable(ColumnarBatch batch) {
    batch.closeIfFreeable();
  }

  /** Bytes of a geometry or geography value of a vector. */
  static byte[] geoBytes(ColumnVector v, int row, DataType type) {
    return type instanceof GeometryType ? v.getGeometry(row).getBytes() : v.getGeography(row).getBytes();
  }

  /** Bytes of a geometry or geography value of a row or array. */
  static byte[] geoBytes(SpecializedGetters from, int ordinal, DataType type) {
    return type instanceof GeometryType ? from.getGeometry(ordinal).getBytes() : from.getGeography(ordinal).getBytes();
  }

  /** Value and metadata of a variant of a row or array. */
  static byte[][] variantBytes(SpecializedGetters from, int ordinal) {
    VariantVal v = from.getVariant(ordinal);
    return new byte[][] {v.getValue(), v.getMetadata()};
  }
}

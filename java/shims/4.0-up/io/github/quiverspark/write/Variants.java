package io.github.quiverspark.write;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.unsafe.types.VariantVal;

/** Variants. */
final class Variants {
  private Variants() {}

  /** Value and metadata of a variant of a row or array. */
  static byte[][] parts(SpecializedGetters from, int ordinal) {
    VariantVal v = from.getVariant(ordinal);
    return new byte[][] {v.getValue(), v.getMetadata()};
  }
}

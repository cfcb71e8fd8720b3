package io.github.quiverspark.write;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** Variants, which this Spark does not have. */
final class Variants {
  private Variants() {}

  /** Never called: no column has the type. */
  static byte[][] parts(SpecializedGetters from, int ordinal) {
    throw new UnsupportedOperationException("variant");
  }
}

package io.github.quiverspark.write;

import java.math.BigInteger;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;

/** Decimals of any precision, as Arrow's decimal128: 16-byte little-endian unscaled values. */
final class StagedDecimals extends StagedFixed {
  private static final int MAX_INT_DIGITS = 9;
  private static final int MAX_LONG_DIGITS = 18;

  private final int precision;
  private final int scale;

  StagedDecimals(NativeMemory memory, DataType type) {
    super(memory, type);
    precision = ((DecimalType) type).precision();
    scale = ((DecimalType) type).scale();
  }

  @Override
  boolean sameForm(BaseFixedWidthVector arrow) {
    return arrow instanceof org.apache.arrow.vector.DecimalVector
        && ((org.apache.arrow.vector.DecimalVector) arrow).getScale() == scale;
  }

  @Override
  void copyBulk(ColumnVector v, int from, int count, long at, int firstSlot) {
    if (v instanceof WritableColumnVector && precision <= MAX_INT_DIGITS) {
      int[] unscaled = v.getInts(from, count);
      for (int i = 0; i < count; i++) {
        put(at + 16L * i, unscaled[i]);
      }
    } else if (v instanceof WritableColumnVector && precision <= MAX_LONG_DIGITS) {
      long[] unscaled = v.getLongs(from, count);
      for (int i = 0; i < count; i++) {
        put(at + 16L * i, unscaled[i]);
      }
    } else {
      for (int i = 0; i < count; i++) {
        if (!isNull(firstSlot + i)) {
          put(at + 16L * i, v.getDecimal(from + i, precision, scale));
        }
      }
    }
  }

  @Override
  void putValue(SpecializedGetters from, int ordinal, long at) {
    put(at, from.getDecimal(ordinal, precision, scale));
  }

  private static void put(long at, long unscaled) {
    Platform.putLong(null, at, unscaled);
    Platform.putLong(null, at + 8, unscaled >> 63);
  }

  private void put(long at, Decimal value) {
    Decimal d = value;
    if (d.scale() != scale) {
      d = d.clone();
      if (!d.changePrecision(precision, scale)) {
        throw new ArithmeticException("decimal " + value + " does not fit " + type.catalogString());
      }
    }
    if (precision <= MAX_LONG_DIGITS) {
      put(at, d.toUnscaledLong());
      return;
    }
    BigInteger unscaled = d.toJavaBigDecimal().unscaledValue();
    if (unscaled.bitLength() < Long.SIZE) {
      put(at, unscaled.longValue());
    } else {
      Platform.putLong(null, at, unscaled.longValue());
      Platform.putLong(null, at + 8, unscaled.shiftRight(64).longValue());
    }
  }
}

package io.github.quiverspark.vector;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.Platform;

/** Decimals of any precision: 16-byte little-endian two's complement unscaled values. */
public final class DecimalVector extends FixedWidthVector {
  private static final int MAX_LONG_DIGITS = 18;

  DecimalVector(DataType type, Slots slots, byte[] values, int offset) {
    super(type, slots, values, offset);
  }

  @Override
  public Decimal getDecimal(int rowId, int precision, int scale) {
    if (isNullAt(rowId)) {
      return null;
    }
    long at = base + 16L * rowId;
    long low = Platform.getLong(values, at);
    if (precision <= MAX_LONG_DIGITS) {
      return Decimal.createUnsafe(low, precision, scale);
    }
    long high = Platform.getLong(values, at + 8);
    // Most values of wide decimals are small: no array then.
    BigInteger unscaled = high == low >> 63 ? BigInteger.valueOf(low) : wide(high, low);
    return Decimal.apply(new BigDecimal(unscaled, scale), precision, scale);
  }

  private static BigInteger wide(long high, long low) {
    byte[] bigEndian = new byte[16];
    for (int i = 0; i < 8; i++) {
      bigEndian[i] = (byte) (high >> (56 - 8 * i));
      bigEndian[8 + i] = (byte) (low >> (56 - 8 * i));
    }
    return new BigInteger(bigEndian);
  }
}

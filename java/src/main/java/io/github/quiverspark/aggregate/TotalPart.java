package io.github.quiverspark.aggregate;

import io.github.quiverspark.QuiverException;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;

/** A sum, average or count of values that are added up while decoding. */
final class TotalPart extends Part {
  private static final long serialVersionUID = 1L;
  /** Rows with which a sum of decimals, whose type has ten digits more than theirs, could overflow. */
  private static final long MOST_DECIMALS = 10_000_000_000L;
  private static final BigInteger LOW_HALF = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

  /** The buffer of Spark's aggregate. */
  enum Buffer {
    /** Number of values. */
    COUNT,
    /** Sum, null where there is no value. */
    LONG_SUM,
    DOUBLE_SUM,
    /** Sum and whether there is no value. */
    DECIMAL_SUM,
    /** Sum and number of values. */
    DOUBLE_AVERAGE,
    DECIMAL_AVERAGE
  }

  private final Buffer buffer;
  private final int at;
  private final int precision;
  private final int scale;

  /** Of the total that begins at the given number; type: of the sum, where that is a decimal. */
  TotalPart(Buffer buffer, int at, DecimalType type) {
    this.buffer = buffer;
    this.at = at;
    this.precision = type == null ? 0 : type.precision();
    this.scale = type == null ? 0 : type.scale();
  }

  @Override
  int fields() {
    return buffer == Buffer.DECIMAL_SUM || buffer == Buffer.DOUBLE_AVERAGE || buffer == Buffer.DECIMAL_AVERAGE ? 2 : 1;
  }

  @Override
  void write(UnsafeRowWriter writer, int ordinal, Object value, long[] totals) {
    long values = totals[at];
    switch (buffer) {
      case COUNT:
        writer.write(ordinal, values);
        break;
      case LONG_SUM:
      case DOUBLE_SUM:
        if (values == 0) {
          writer.setNullAt(ordinal);
        } else {
          writer.write(ordinal, totals[at + 1]); // a double by its bits, NaN's too
        }
        break;
      case DECIMAL_SUM:
        writer.write(ordinal, decimal(totals), precision, scale);
        writer.write(ordinal + 1, values == 0);
        break;
      case DOUBLE_AVERAGE:
        writer.write(ordinal, totals[at + 1]);
        writer.write(ordinal + 1, values);
        break;
      case DECIMAL_AVERAGE:
        writer.write(ordinal, decimal(totals), precision, scale);
        writer.write(ordinal + 1, values);
        break;
      default:
        throw new IllegalStateException(buffer.toString());
    }
  }

  private Decimal decimal(long[] totals) {
    if (totals[at] >= MOST_DECIMALS) {
      throw new QuiverException("a partition has " + totals[at] + " decimals to add up, whose sum might overflow; "
          + "set spark.quiver.scan.aggregates.enabled=false for this query");
    }
    BigInteger unscaled = BigInteger.valueOf(totals[at + 2]).shiftLeft(64).or(BigInteger.valueOf(totals[at + 1]).and(LOW_HALF));
    return Decimal.apply(new BigDecimal(unscaled, scale), precision, scale);
  }
}

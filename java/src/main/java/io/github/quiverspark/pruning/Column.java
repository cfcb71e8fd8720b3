package io.github.quiverspark.pruning;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * One cached column, perhaps seen through casts that keep its order, as the statistics row of a batch describes it: five fields per column
 * in Spark's order (lower bound, upper bound, null count, count, size in bytes).
 *
 * <p>Values are normalised, so that three orders serve all types: Long (integers, booleans as 0 and 1, dates, timestamps, intervals,
 * times), Double (floats too), {@link Decimal} and {@link UTF8String}. The orders are Catalyst's: NaN is greatest and equals itself, -0.0
 * equals 0.0, decimals compare by value, strings by unsigned bytes.
 */
public final class Column implements Serializable {
  private static final long serialVersionUID = 1L;
  static final int FIELDS = 5;

  /** How a bound is stored. NONE: no bounds are kept for the type, only the counts can be used. */
  enum Storage {
    NONE, BOOLEAN, BYTE, SHORT, INT, LONG, FLOAT, DOUBLE, DECIMAL, STRING
  }

  private final int first;
  private final Storage storage;
  private final int precision;
  private final int scale;
  private final Widening[] casts;

  Column(int index, Storage storage, int precision, int scale) {
    this(FIELDS * index, storage, precision, scale, new Widening[0]);
  }

  private Column(int first, Storage storage, int precision, int scale, Widening[] casts) {
    this.first = first;
    this.storage = storage;
    this.precision = precision;
    this.scale = scale;
    this.casts = casts;
  }

  /** This column seen through one more cast. */
  Column through(Widening cast) {
    Widening[] longer = java.util.Arrays.copyOf(casts, casts.length + 1);
    longer[casts.length] = cast;
    return new Column(first, storage, precision, scale, longer);
  }

  boolean ordered() {
    return storage != Storage.NONE;
  }

  /** Index among the cached columns. */
  int index() {
    return first / FIELDS;
  }

  /** Whether values are strings as they are stored. */
  boolean isPlainString() {
    return storage == Storage.STRING && casts.length == 0;
  }

  /**
   * The key of the first value at (if inclusive) or above a limit; null where stored values have no keys. Keys are signed integers in the
   * order of values: integers themselves, unscaled decimals of up to 18 digits, floating-point numbers as {@code filter.Key} in
   * {@code native/filter} makes them.
   */
  BigInteger firstKey(Object limit, boolean inclusive) {
    return key(limit, RoundingMode.CEILING, inclusive ? 0 : 1);
  }

  /** The key of the last value at (if inclusive) or below a limit, as {@link #firstKey}. */
  BigInteger lastKey(Object limit, boolean inclusive) {
    return key(limit, RoundingMode.FLOOR, inclusive ? 0 : -1);
  }

  /** Step is what is added where the limit is itself a value. */
  private BigInteger key(Object limit, RoundingMode rounding, int step) {
    switch (storage) {
      case BOOLEAN:
      case BYTE:
      case SHORT:
      case INT:
      case LONG:
        return !onlyCasts(Widening.LONG, Widening.DECIMAL) ? null : limit instanceof Decimal
            ? unscaled((Decimal) limit, 0, rounding, step)
            : BigInteger.valueOf((Long) limit).add(BigInteger.valueOf(step));
      case FLOAT:
      case DOUBLE:
        return onlyCasts(Widening.DOUBLE, Widening.DOUBLE)
            ? BigInteger.valueOf(floatKey((Double) limit)).add(BigInteger.valueOf(step)) : null;
      case DECIMAL:
        return precision <= Decimal.MAX_LONG_DIGITS() && onlyCasts(Widening.DECIMAL, Widening.DECIMAL)
            ? unscaled((Decimal) limit, scale, rounding, step) : null;
      default:
        return null;
    }
  }

  private static BigInteger unscaled(Decimal limit, int scale, RoundingMode rounding, int step) {
    BigDecimal exact = limit.toJavaBigDecimal();
    BigDecimal rounded = exact.setScale(scale, rounding);
    BigInteger key = rounded.unscaledValue();
    return rounded.compareTo(exact) == 0 ? key.add(BigInteger.valueOf(step)) : key;
  }

  private static long floatKey(double value) {
    if (Double.isNaN(value)) {
      return Long.MAX_VALUE;
    }
    long bits = Double.doubleToLongBits(value + 0.0);
    return bits ^ (bits >> 63) >>> 1;
  }

  private boolean onlyCasts(Widening one, Widening other) {
    for (Widening cast : casts) {
      if (cast != one && cast != other) {
        return false;
      }
    }
    return true;
  }

  /** Whether the bounds of a batch are values of this column, bit for bit: strings are cut, floating-point zeros are signed anew. */
  public boolean hasExactBounds() {
    switch (storage) {
      case BOOLEAN:
      case BYTE:
      case SHORT:
      case INT:
      case LONG:
      case DECIMAL:
        return casts.length == 0;
      default:
        return false;
    }
  }

  /** Number of nulls of the batch in this column. */
  public int nulls(InternalRow stats) {
    return stats.getInt(first + 2);
  }

  /** Whether the batch has a null in this column. */
  boolean hasNull(InternalRow stats) {
    return nulls(stats) > 0;
  }

  /** Whether the batch has a value other than null in this column. */
  public boolean hasValue(InternalRow stats) {
    return stats.getInt(first + 3) > nulls(stats);
  }

  /** Smallest possible value; null if not known. */
  public Object lower(InternalRow stats) {
    return bound(stats, first);
  }

  /** Greatest possible value; null if not known. */
  public Object upper(InternalRow stats) {
    return bound(stats, first + 1);
  }

  private Object bound(InternalRow stats, int ordinal) {
    if (storage == Storage.NONE || stats.isNullAt(ordinal)) {
      return null;
    }
    Object value = read(stats, ordinal);
    for (Widening cast : casts) {
      value = cast.apply(value);
    }
    return value;
  }

  private Object read(InternalRow stats, int ordinal) {
    switch (storage) {
      case BOOLEAN:
        return stats.getBoolean(ordinal) ? 1L : 0L;
      case BYTE:
        return (long) stats.getByte(ordinal);
      case SHORT:
        return (long) stats.getShort(ordinal);
      case INT:
        return (long) stats.getInt(ordinal);
      case LONG:
        return stats.getLong(ordinal);
      case FLOAT:
        return (double) stats.getFloat(ordinal);
      case DOUBLE:
        return stats.getDouble(ordinal);
      case DECIMAL:
        return stats.getDecimal(ordinal, precision, scale);
      case STRING:
        return stats.getUTF8String(ordinal);
      default:
        throw new IllegalStateException(storage.toString());
    }
  }

  /** Writes a value that {@link #lower} or {@link #upper} gave, or null, as a field of the column's type. */
  public void write(Object value, UnsafeRowWriter writer, int ordinal) {
    if (storage == Storage.DECIMAL && (value != null || precision > Decimal.MAX_LONG_DIGITS())) {
      // a null of that width has room for a value
      writer.write(ordinal, (Decimal) value, precision, scale);
      return;
    }
    if (value == null) {
      writer.setNullAt(ordinal);
      return;
    }
    long number = (Long) value;
    switch (storage) {
      case BOOLEAN:
        writer.write(ordinal, number != 0);
        break;
      case BYTE:
        writer.write(ordinal, (byte) number);
        break;
      case SHORT:
        writer.write(ordinal, (short) number);
        break;
      case INT:
        writer.write(ordinal, (int) number);
        break;
      case LONG:
        writer.write(ordinal, number);
        break;
      default:
        throw new IllegalStateException(storage.toString());
    }
  }

  /** Catalyst's order of two normalised values of the same kind. */
  public static int compare(Object a, Object b) {
    if (a instanceof Long) {
      return Long.compare((Long) a, (Long) b);
    }
    if (a instanceof Double) {
      double x = (Double) a;
      double y = (Double) b;
      // == makes the zeros equal; Double.compare puts NaN last and equal to itself
      return x == y ? 0 : Double.compare(x, y);
    }
    if (a instanceof Decimal) {
      return ((Decimal) a).compare((Decimal) b);
    }
    return ByteOrder.compare((UTF8String) a, (UTF8String) b);
  }

  /** A cast that never lowers a greater value below a smaller one, never fails, and makes null of null only. */
  enum Widening {
    /** Integers of any width to a wider one. */
    LONG {
      @Override
      Object apply(Object value) {
        return value;
      }
    },
    /** Integers and decimals to double; rounding may merge neighbours but never swaps them. */
    DOUBLE {
      @Override
      Object apply(Object value) {
        return value instanceof Decimal ? ((Decimal) value).toDouble() : ((Number) value).doubleValue();
      }
    },
    /** Integers and doubles to float, with float's rounding, kept as a double. */
    FLOAT {
      @Override
      Object apply(Object value) {
        return (double) ((Number) value).floatValue();
      }
    },
    /** Integers to a decimal that holds them all, or a decimal to one with no fewer digits on either side of the point. */
    DECIMAL {
      @Override
      Object apply(Object value) {
        return value instanceof Decimal ? value : Decimal.apply((long) (Long) value);
      }
    };

    abstract Object apply(Object value);
  }
}

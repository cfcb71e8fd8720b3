package io.github.quiverspark.testing;

import io.github.quiverspark.vector.Kind;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.unsafe.types.VariantVal;

/** Random rows of a schema, the same for the same seed. Nullable slots are null with the given chance. */
public final class RandomRows {
  private final Random random;
  private final double nulls;
  private final int maxBytes;

  public RandomRows(long seed, double nulls) {
    this(seed, nulls, 24);
  }

  public RandomRows(long seed, double nulls, int maxBytes) {
    this.random = new Random(seed);
    this.nulls = nulls;
    this.maxBytes = maxBytes;
  }

  public List<InternalRow> rows(StructType schema, int count) {
    List<InternalRow> out = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      out.add((InternalRow) value(schema, false));
    }
    return out;
  }

  private Object value(DataType type, boolean nullable) {
    if (nullable && random.nextDouble() < nulls) {
      return null;
    }
    DataType t = Kind.storageType(type);
    switch (Kind.of(t)) {
      case NULL:
        return null;
      case BOOLEAN:
        return random.nextBoolean();
      case BYTE:
        return (byte) random.nextInt();
      case SHORT:
        return (short) random.nextInt();
      case INT:
        return random.nextInt();
      case LONG:
        return random.nextLong();
      case FLOAT:
        return random.nextInt(10) == 0 ? Float.NaN : random.nextFloat();
      case DOUBLE:
        return random.nextInt(10) == 0 ? -0.0 : random.nextGaussian();
      case DECIMAL:
        return decimal((DecimalType) t);
      case STRING:
        return string();
      case BINARY:
        return bytes();
      case INTERVAL:
        return new CalendarInterval(random.nextInt(), random.nextInt(), random.nextLong());
      case VARIANT:
        return new VariantVal(bytes(), bytes());
      case ARRAY:
        return array((ArrayType) t);
      case MAP:
        return map((MapType) t);
      case STRUCT:
        StructField[] fields = ((StructType) t).fields();
        Object[] values = new Object[fields.length];
        for (int i = 0; i < values.length; i++) {
          values[i] = value(fields[i].dataType(), fields[i].nullable());
        }
        return new GenericInternalRow(values);
      default:
        throw new IllegalArgumentException(t.toString());
    }
  }

  private Decimal decimal(DecimalType t) {
    BigInteger limit = BigInteger.TEN.pow(t.precision());
    int bits = 1 + random.nextInt(limit.bitLength());
    BigInteger unscaled = new BigInteger(bits, random).mod(limit);
    if (random.nextBoolean()) {
      unscaled = unscaled.negate();
    }
    return Decimal.apply(new BigDecimal(unscaled, t.scale()), t.precision(), t.scale());
  }

  private UTF8String string() {
    StringBuilder b = new StringBuilder();
    for (int n = random.nextInt(maxBytes); n > 0; n--) {
      b.append(random.nextInt(8) == 0 ? 'é' : (char) ('a' + random.nextInt(26)));
    }
    return UTF8String.fromString(b.toString());
  }

  private byte[] bytes() {
    byte[] b = new byte[random.nextInt(maxBytes)];
    random.nextBytes(b);
    return b;
  }

  private GenericArrayData array(ArrayType t) {
    Object[] a = new Object[random.nextInt(5)];
    for (int i = 0; i < a.length; i++) {
      a[i] = value(t.elementType(), t.containsNull());
    }
    return new GenericArrayData(a);
  }

  private ArrayBasedMapData map(MapType t) {
    int n = random.nextInt(4);
    Object[] keys = new Object[n];
    Object[] values = new Object[n];
    for (int i = 0; i < n; i++) {
      keys[i] = value(t.keyType(), false);
      values[i] = value(t.valueType(), t.valueContainsNull());
    }
    return new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(values));
  }
}

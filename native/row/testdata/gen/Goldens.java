import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.execution.columnar.*;
import org.apache.spark.sql.types.*;
import org.apache.spark.types.variant.VariantBuilder;
import org.apache.spark.types.variant.Variant;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.unsafe.types.VariantVal;

/**
 * Writes the golden files of native/row and native/stats: rows as Spark's UnsafeProjection makes them, their
 * values as text, and the statistics row of Spark's ColumnStats over them. See run.sh.
 *
 * A file is lines of "key value": "case" starts a case, then "schema" (Spark's JSON), for each row "row" (hex) and
 * "value" (text), and "stats" (hex) where Spark's bounds are right.
 */
public final class Goldens {
  private static final long SEED = 20261202L;
  private final Random random = new Random(SEED);
  private final PrintStream out;
  private boolean special; // NaN, infinities, zeros of either sign
  private int maxText = 24; // longest string

  private Goldens(PrintStream out) {
    this.out = out;
  }

  public static void main(String[] args) throws Exception {
    try (PrintStream out = new PrintStream(args[0], StandardCharsets.UTF_8)) {
      new Goldens(out).all();
    }
  }

  private void all() throws Exception {
    DataType[] leaves = {
      DataTypes.BooleanType, DataTypes.ByteType, DataTypes.ShortType, DataTypes.IntegerType, DataTypes.LongType,
      DataTypes.FloatType, DataTypes.DoubleType, decimal(1, 0), decimal(9, 2), decimal(18, 18), decimal(19, 0),
      decimal(38, 2), decimal(38, 38), DataTypes.StringType, DataTypes.BinaryType, DataTypes.DateType,
      DataTypes.TimestampType, DataTypes.TimestampNTZType, new TimeType(6), DataTypes.CalendarIntervalType,
      new YearMonthIntervalType((byte) 0, (byte) 1), new DayTimeIntervalType((byte) 0, (byte) 3), DataTypes.VariantType
    };
    for (DataType t : leaves) {
      write("leaf " + t.simpleString(), struct(t), 13, 0.3, true);
    }
    write("all leaves", struct(leaves), 20, 0.25, true);
    write("all leaves without nulls", struct(leaves), 9, 0, true);
    write("void", struct(DataTypes.NullType, DataTypes.IntegerType, DataTypes.NullType), 5, 0.3, true);
    write("all null", struct(leaves), 3, 1, false);
    write("no columns", struct(), 3, 0, true);
    special = true;
    write("special floats", struct(DataTypes.FloatType, DataTypes.DoubleType, array(DataTypes.DoubleType)), 24, 0.2, false);
    special = false;
    maxText = 300;
    write("long strings", struct(DataTypes.StringType, DataTypes.BinaryType, array(DataTypes.StringType)), 16, 0.1, false);
    maxText = 24;
    for (DataType t : leaves) {
      write("array " + t.simpleString(), struct(array(t)), 8, 0.25, true);
    }
    write("array void", struct(array(DataTypes.NullType), array(array(DataTypes.NullType))), 6, 0.3, true);
    write("long arrays", struct(array(DataTypes.BooleanType), array(DataTypes.ShortType), array(DataTypes.LongType)), 6, -70, true);
    write("array array", struct(array(array(DataTypes.IntegerType)), array(array(DataTypes.StringType))), 12, 0.2, true);
    write("struct", struct(struct(DataTypes.IntegerType, DataTypes.StringType, decimal(30, 3), DataTypes.CalendarIntervalType),
        struct(struct(DataTypes.LongType, struct(DataTypes.StringType)), DataTypes.BooleanType), struct()), 20, 0.25, true);
    write("struct of all", struct(struct(leaves)), 12, 0.25, true);
    write("array struct", struct(array(struct(DataTypes.IntegerType, DataTypes.StringType, array(DataTypes.ByteType))),
        array(struct(decimal(38, 2), DataTypes.CalendarIntervalType, DataTypes.NullType))), 12, 0.2, true);
    write("map", struct(map(DataTypes.StringType, array(decimal(38, 2))), map(DataTypes.IntegerType, DataTypes.DoubleType),
        map(struct(DataTypes.LongType), map(DataTypes.ShortType, DataTypes.StringType))), 12, 0.2, true);
    write("variants nested", struct(array(DataTypes.VariantType), map(DataTypes.StringType, DataTypes.VariantType),
        struct(DataTypes.VariantType)), 8, 0.2, true);
    DataType[] wide = new DataType[201];
    for (int i = 0; i < wide.length; i++) {
      wide[i] = i % 3 == 0 ? DataTypes.LongType : i % 7 == 0 ? DataTypes.StringType : leaves[i % leaves.length];
    }
    write("wide", struct(wide), 6, 0.2, true);
    for (int k : new int[] {7, 8, 9, 63, 64, 65}) {
      DataType[] some = new DataType[k];
      for (int i = 0; i < k; i++) {
        some[i] = i % 2 == 0 ? DataTypes.IntegerType : DataTypes.BooleanType;
      }
      write(k + " columns", struct(some), 9, 0.3, true);
    }
  }

  private void write(String name, StructType schema, int rows, double nulls, boolean stats) throws Exception {
    int elements = 5;
    if (nulls < 0) { // long arrays
      elements = (int) -nulls;
      nulls = 0.1;
    }
    DataType[] types = types(schema);
    out.println("case " + name);
    out.println("schema " + schema.json());
    ColumnStats[] columnStats = new ColumnStats[types.length];
    for (int i = 0; i < types.length; i++) {
      columnStats[i] = statsOf(types[i]);
    }
    boolean[] seen = new boolean[types.length];
    for (int r = 0; r < rows; r++) {
      Object[] values = new Object[types.length];
      for (int i = 0; i < types.length; i++) {
        // The first row has a value everywhere so that every column with values has bounds.
        values[i] = r == 0 && nulls < 1 ? value(types[i], nulls, elements) : nullable(types[i], nulls, elements);
      }
      // A projection of its own for each row: otherwise a null interval shows bytes of the row before.
      UnsafeRow row = UnsafeProjection.create(schema).apply(new GenericInternalRow(values));
      out.println("row " + hex(row.getBytes()));
      out.println("value " + text(new GenericInternalRow(values), schema));
      for (int i = 0; i < types.length; i++) {
        columnStats[i].gatherStats(row, i);
      }
    }
    if (stats) {
      Object[] all = new Object[5 * types.length];
      DataType[] statTypes = new DataType[all.length];
      for (int i = 0; i < types.length; i++) {
        Object[] five = (Object[]) columnStats[i].collectedStatistics();
        System.arraycopy(five, 0, all, 5 * i, 5);
        statTypes[5 * i] = types[i];
        statTypes[5 * i + 1] = types[i];
        statTypes[5 * i + 2] = DataTypes.IntegerType;
        statTypes[5 * i + 3] = DataTypes.IntegerType;
        statTypes[5 * i + 4] = DataTypes.LongType;
      }
      out.println("stats " + hex(UnsafeProjection.create(struct(statTypes)).apply(new GenericInternalRow(all)).getBytes()));
    }
  }

  private static ColumnStats statsOf(DataType t) {
    if (t instanceof BooleanType) return new BooleanColumnStats();
    if (t instanceof ByteType) return new ByteColumnStats();
    if (t instanceof ShortType) return new ShortColumnStats();
    if (t instanceof IntegerType || t instanceof DateType || t instanceof YearMonthIntervalType) return new IntColumnStats();
    if (t instanceof LongType || t instanceof TimestampType || t instanceof TimestampNTZType || t instanceof TimeType
        || t instanceof DayTimeIntervalType) return new LongColumnStats();
    if (t instanceof FloatType) return new FloatColumnStats();
    if (t instanceof DoubleType) return new DoubleColumnStats();
    if (t instanceof StringType) return new StringColumnStats((StringType) t);
    if (t instanceof BinaryType) return new BinaryColumnStats();
    if (t instanceof CalendarIntervalType) return new IntervalColumnStats();
    if (t instanceof VariantType) return new VariantColumnStats();
    if (t instanceof DecimalType) return new DecimalColumnStats((DecimalType) t);
    return new ObjectColumnStats(t);
  }

  private Object nullable(DataType t, double nulls, int elements) throws Exception {
    return t instanceof NullType || random.nextDouble() < nulls ? null : value(t, nulls, elements);
  }

  private Object value(DataType t, double nulls, int elements) throws Exception {
    if (t instanceof NullType) return null;
    if (t instanceof BooleanType) return random.nextBoolean();
    if (t instanceof ByteType) return (byte) random.nextInt();
    if (t instanceof ShortType) return (short) random.nextInt();
    if (t instanceof IntegerType || t instanceof DateType || t instanceof YearMonthIntervalType) return bits32();
    if (t instanceof TimeType) return Math.floorMod(random.nextLong(), 86_400_000_000_000L);
    if (t instanceof LongType || t instanceof TimestampType || t instanceof TimestampNTZType || t instanceof DayTimeIntervalType) {
      return random.nextLong() >> random.nextInt(64);
    }
    if (t instanceof FloatType) {
      float[] odd = {0f, -0f, Float.NaN, Float.intBitsToFloat(0xFFC12345), Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.MIN_VALUE};
      return special ? odd[random.nextInt(odd.length)] : (float) random.nextGaussian() * 1000;
    }
    if (t instanceof DoubleType) {
      double[] odd = {0d, -0d, Double.NaN, Double.longBitsToDouble(0xFFF8000000012345L), Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY};
      return special ? odd[random.nextInt(odd.length)] : random.nextGaussian() * 1000;
    }
    if (t instanceof DecimalType) return decimalValue((DecimalType) t);
    if (t instanceof StringType) return UTF8String.fromString(string());
    if (t instanceof BinaryType) {
      byte[] b = new byte[random.nextInt(maxText + 1)];
      random.nextBytes(b);
      return b;
    }
    if (t instanceof CalendarIntervalType) return new CalendarInterval(bits32(), bits32(), random.nextLong());
    if (t instanceof VariantType) {
      String[] json = {"1", "\"a text\"", "{\"a\":1,\"b\":[1,2,null]}", "[]", "null", "{\"key" + random.nextInt(9) + "\":" + random.nextInt() + "}"};
      Variant v = VariantBuilder.parseJson(json[random.nextInt(json.length)], false);
      return new VariantVal(v.getValue(), v.getMetadata());
    }
    if (t instanceof ArrayType) return arrayValue(((ArrayType) t).elementType(), nulls, elements, random.nextInt(elements + 1));
    if (t instanceof MapType) {
      MapType m = (MapType) t;
      int n = random.nextInt(elements + 1);
      return new ArrayBasedMapData(arrayValue(m.keyType(), 0, elements, n), arrayValue(m.valueType(), nulls, elements, n));
    }
    DataType[] types = types((StructType) t);
    Object[] values = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      values[i] = nullable(types[i], nulls, elements);
    }
    return new GenericInternalRow(values);
  }

  private ArrayData arrayValue(DataType t, double nulls, int elements, int n) throws Exception {
    Object[] values = new Object[n];
    for (int i = 0; i < n; i++) {
      values[i] = nullable(t, nulls, elements);
    }
    return new GenericArrayData(values);
  }

  private int bits32() {
    return random.nextInt() >> random.nextInt(32);
  }

  private Decimal decimalValue(DecimalType t) {
    BigInteger limit = BigInteger.TEN.pow(1 + random.nextInt(t.precision()));
    BigInteger v = new BigInteger(128, random).mod(limit);
    switch (random.nextInt(12)) {
      case 0: v = BigInteger.ZERO; break;
      case 1: v = BigInteger.TEN.pow(t.precision()).subtract(BigInteger.ONE); break;
      case 2: v = BigInteger.ONE.shiftLeft(Math.min(8 * random.nextInt(16), 3 * t.precision())); break; // sign byte needed or not
      default:
    }
    if (random.nextBoolean()) v = v.negate();
    return Decimal.apply(new scala.math.BigDecimal(new BigDecimal(v, t.scale())), t.precision(), t.scale());
  }

  private String string() {
    String alphabet = "abcdefghijklmnopqrstuvwxyz0123456789 äß€😀";
    int n = random.nextInt(4) == 0 ? random.nextInt(maxText / 4 + 1) : random.nextInt(maxText + 1);
    StringBuilder b = new StringBuilder();
    while (b.toString().getBytes(StandardCharsets.UTF_8).length < n) {
      b.appendCodePoint(alphabet.codePointAt(alphabet.offsetByCodePoints(0, random.nextInt(alphabet.codePointCount(0, alphabet.length())))));
    }
    return b.toString();
  }

  /** Values as native/row's tests print them. */
  private static String text(Object v, DataType t) {
    if (v == null) return "null";
    if (v instanceof Float) return Integer.toHexString(Float.floatToRawIntBits((Float) v));
    if (v instanceof Double) return Long.toHexString(Double.doubleToRawLongBits((Double) v));
    if (v instanceof Decimal) return ((Decimal) v).toJavaBigDecimal().unscaledValue().toString();
    if (v instanceof UTF8String) return "'" + hex(((UTF8String) v).getBytes());
    if (v instanceof byte[]) return "'" + hex((byte[]) v);
    if (v instanceof CalendarInterval) {
      CalendarInterval c = (CalendarInterval) v;
      return "(" + c.months + "," + c.days + "," + c.microseconds + ")";
    }
    if (v instanceof VariantVal) return "('" + hex(((VariantVal) v).getValue()) + ",'" + hex(((VariantVal) v).getMetadata()) + ")";
    List<String> parts = new ArrayList<>();
    if (v instanceof ArrayData) {
      DataType e = ((ArrayType) t).elementType();
      for (Object x : ((ArrayData) v).toObjectArray(e)) parts.add(text(x, e));
      return "[" + String.join(",", parts) + "]";
    }
    if (v instanceof MapData) {
      MapType m = (MapType) t;
      Object[] keys = ((MapData) v).keyArray().toObjectArray(m.keyType());
      Object[] values = ((MapData) v).valueArray().toObjectArray(m.valueType());
      for (int i = 0; i < keys.length; i++) parts.add("(" + text(keys[i], m.keyType()) + "," + text(values[i], m.valueType()) + ")");
      return "[" + String.join(",", parts) + "]";
    }
    if (v instanceof InternalRow) {
      StructField[] fields = ((StructType) t).fields();
      for (int i = 0; i < fields.length; i++) parts.add(text(((InternalRow) v).get(i, fields[i].dataType()), fields[i].dataType()));
      return "(" + String.join(",", parts) + ")";
    }
    return v.toString();
  }

  private static DecimalType decimal(int precision, int scale) {
    return DataTypes.createDecimalType(precision, scale);
  }

  private static ArrayType array(DataType t) {
    return DataTypes.createArrayType(t);
  }

  private static MapType map(DataType k, DataType v) {
    return DataTypes.createMapType(k, v);
  }

  private static StructType struct(DataType... types) {
    StructField[] fields = new StructField[types.length];
    for (int i = 0; i < types.length; i++) {
      fields[i] = DataTypes.createStructField("c" + i, types[i], true);
    }
    return new StructType(fields);
  }

  private static DataType[] types(StructType t) {
    DataType[] types = new DataType[t.fields().length];
    for (int i = 0; i < types.length; i++) {
      types[i] = t.fields()[i].dataType();
    }
    return types;
  }

  private static String hex(byte[] b) {
    StringBuilder s = new StringBuilder();
    for (byte x : b) s.append(String.format("%02x", x));
    return s.toString();
  }
}

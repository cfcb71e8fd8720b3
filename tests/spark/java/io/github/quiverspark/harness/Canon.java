package io.github.quiverspark.harness;

import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.*;
import org.apache.spark.unsafe.types.CalendarInterval;

/**
 * Catalyst values as canonical bytes and as text. Two values have the same bytes exactly if they are the same bit for bit: NaN
 * payloads and the sign of zero count. (Collected Python or Java rows would hide both.)
 */
final class Canon {
  private Canon() {}

  static void write(DataOutputStream out, SpecializedGetters row, int i, DataType type) throws IOException {
    if (type instanceof UserDefinedType) {
      write(out, row, i, ((UserDefinedType<?>) type).sqlType());
      return;
    }
    if (type instanceof NullType || row.isNullAt(i)) {
      out.writeByte(0);
      return;
    }
    out.writeByte(1);
    if (type instanceof BooleanType) {
      out.writeBoolean(row.getBoolean(i));
    } else if (type instanceof ByteType) {
      out.writeByte(row.getByte(i));
    } else if (type instanceof ShortType) {
      out.writeShort(row.getShort(i));
    } else if (type instanceof IntegerType || type instanceof DateType || type instanceof YearMonthIntervalType) {
      out.writeInt(row.getInt(i));
    } else if (isLong(type)) {
      out.writeLong(row.getLong(i));
    } else if (type instanceof FloatType) {
      out.writeInt(Float.floatToRawIntBits(row.getFloat(i)));
    } else if (type instanceof DoubleType) {
      out.writeLong(Double.doubleToRawLongBits(row.getDouble(i)));
    } else if (type instanceof DecimalType) {
      DecimalType d = (DecimalType) type;
      Decimal value = row.getDecimal(i, d.precision(), d.scale());
      out.writeInt(value.toJavaBigDecimal().scale());
      bytes(out, value.toJavaBigDecimal().unscaledValue().toByteArray());
    } else if (type instanceof StringType) {
      bytes(out, row.getUTF8String(i).getBytes());
    } else if (type instanceof BinaryType) {
      bytes(out, row.getBinary(i));
    } else if (isNamed(type, "GeometryType")) {
      bytes(out, geo(row, i, "getGeometry"));
    } else if (isNamed(type, "GeographyType")) {
      bytes(out, geo(row, i, "getGeography"));
    } else if (type instanceof CalendarIntervalType) {
      CalendarInterval value = row.getInterval(i);
      out.writeInt(value.months);
      out.writeInt(value.days);
      out.writeLong(value.microseconds);
    } else if (isNamed(type, "VariantType")) {
      Object value = call(row, SpecializedGetters.class, "getVariant", i);
      bytes(out, (byte[]) call(value, value.getClass(), "getValue"));
      bytes(out, (byte[]) call(value, value.getClass(), "getMetadata"));
    } else if (type instanceof ArrayType) {
      array(out, row.getArray(i), ((ArrayType) type).elementType());
    } else if (type instanceof MapType) {
      MapType m = (MapType) type;
      MapData map = row.getMap(i);
      array(out, map.keyArray(), m.keyType());
      array(out, map.valueArray(), m.valueType());
    } else if (type instanceof StructType) {
      StructType s = (StructType) type;
      struct(out, row.getStruct(i, s.length()), s);
    } else {
      throw new IllegalArgumentException("no canonical form for " + type);
    }
  }

  static void struct(DataOutputStream out, SpecializedGetters row, StructType type) throws IOException {
    StructField[] fields = type.fields();
    for (int i = 0; i < fields.length; i++) {
      write(out, row, i, fields[i].dataType());
    }
  }

  private static void array(DataOutputStream out, ArrayData array, DataType element) throws IOException {
    out.writeInt(array.numElements());
    for (int i = 0; i < array.numElements(); i++) {
      write(out, array, i, element);
    }
  }

  private static void bytes(DataOutputStream out, byte[] value) throws IOException {
    out.writeInt(value.length);
    out.write(value);
  }

  private static boolean isLong(DataType type) {
    return type instanceof LongType || type instanceof TimestampType || type instanceof TimestampNTZType
        || type instanceof DayTimeIntervalType || isNamed(type, "TimeType");
  }

  /** For types that not every Spark under test has: this source is compiled against the oldest as well. */
  private static boolean isNamed(DataType type, String name) {
    return type.getClass().getSimpleName().equals(name) || type.getClass().getSimpleName().equals(name + "$");
  }

  /** Spark 4.1 has a getter for each of these types, later ones read them as binary. */
  private static byte[] geo(SpecializedGetters row, int i, String getter) {
    boolean own = Arrays.stream(SpecializedGetters.class.getMethods()).anyMatch(m -> m.getName().equals(getter));
    if (!own) {
      return row.getBinary(i);
    }
    Object value = call(row, SpecializedGetters.class, getter, i);
    return (byte[]) call(value, value.getClass(), "getBytes");
  }

  private static Object call(Object target, Class<?> declared, String method, Integer... arguments) {
    try {
      Class<?>[] types = new Class<?>[arguments.length];
      Arrays.fill(types, int.class);
      return declared.getMethod(method, types).invoke(target, (Object[]) arguments);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A value for a person to read, cut if long; floating point with its bits. */
  static String text(SpecializedGetters row, int i, DataType type) {
    if (type instanceof UserDefinedType) {
      return text(row, i, ((UserDefinedType<?>) type).sqlType());
    }
    if (type instanceof NullType || row.isNullAt(i)) {
      return "null";
    }
    if (type instanceof FloatType) {
      return row.getFloat(i) + "/" + Integer.toHexString(Float.floatToRawIntBits(row.getFloat(i)));
    }
    if (type instanceof DoubleType) {
      return row.getDouble(i) + "/" + Long.toHexString(Double.doubleToRawLongBits(row.getDouble(i)));
    }
    if (type instanceof StructType) {
      StructType s = (StructType) type;
      SpecializedGetters inner = row.getStruct(i, s.length());
      StringBuilder b = new StringBuilder("{");
      for (int k = 0; k < s.length(); k++) {
        b.append(k > 0 ? ", " : "").append(s.fields()[k].name()).append('=').append(text(inner, k, s.fields()[k].dataType()));
      }
      return b.append('}').toString();
    }
    if (type instanceof ArrayType) {
      return text(row.getArray(i), ((ArrayType) type).elementType());
    }
    if (type instanceof MapType) {
      MapType m = (MapType) type;
      MapData map = row.getMap(i);
      return "keys " + text(map.keyArray(), m.keyType()) + " values " + text(map.valueArray(), m.valueType());
    }
    if (type instanceof BinaryType) {
      return cut(Arrays.toString(row.getBinary(i)));
    }
    return cut(String.valueOf(row.get(i, type)));
  }

  private static String text(ArrayData array, DataType element) {
    StringBuilder b = new StringBuilder("[");
    for (int k = 0; k < array.numElements() && b.length() < 200; k++) {
      b.append(k > 0 ? ", " : "").append(text(array, k, element));
    }
    return b.append("]#").append(array.numElements()).toString();
  }

  private static String cut(String s) {
    return s.length() <= 80 ? s : s.substring(0, 77) + "...(" + s.length() + ")";
  }
}

package io.github.quiverspark.testing;

import io.github.quiverspark.vector.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.unsafe.types.VariantVal;

/** Rows as nested lists of Java values that own their memory and can be compared: bit for bit, with NaN, -0.0 and map order. */
public final class Values {
  private Values() {}

  /** Each row as a list of values. */
  public static List<List<Object>> of(StructType schema, Iterable<? extends InternalRow> rows) {
    List<List<Object>> out = new ArrayList<>();
    for (InternalRow r : rows) {
      out.add(row(r, schema));
    }
    return out;
  }

  private static List<Object> row(InternalRow r, StructType schema) {
    StructField[] fields = schema.fields();
    List<Object> out = new ArrayList<>(fields.length);
    for (int i = 0; i < fields.length; i++) {
      out.add(value(r, i, fields[i].dataType()));
    }
    return out;
  }

  private static Object value(SpecializedGetters from, int i, DataType type) {
    if (from.isNullAt(i)) {
      return null;
    }
    DataType t = Kind.storageType(type);
    switch (Kind.of(t)) {
      case BOOLEAN:
        return from.getBoolean(i);
      case BYTE:
        return from.getByte(i);
      case SHORT:
        return from.getShort(i);
      case INT:
        return from.getInt(i);
      case LONG:
        return from.getLong(i);
      case FLOAT:
        return from.getFloat(i);
      case DOUBLE:
        return from.getDouble(i);
      case DECIMAL:
        DecimalType d = (DecimalType) t;
        return from.getDecimal(i, d.precision(), d.scale()).toJavaBigDecimal();
      case STRING:
        return from.getUTF8String(i).copy();
      case BINARY:
        return ByteBuffer.wrap(from.getBinary(i).clone());
      case INTERVAL:
        return from.getInterval(i);
      case VARIANT:
        VariantVal v = from.getVariant(i);
        return List.of(ByteBuffer.wrap(v.getValue()), ByteBuffer.wrap(v.getMetadata()));
      case ARRAY:
        return list(from.getArray(i), ((ArrayType) t).elementType());
      case MAP:
        MapData map = from.getMap(i);
        return List.of(list(map.keyArray(), ((MapType) t).keyType()), list(map.valueArray(), ((MapType) t).valueType()));
      case STRUCT:
        return row(from.getStruct(i, ((StructType) t).length()), (StructType) t);
      default:
        throw new IllegalArgumentException(t.toString());
    }
  }

  private static List<Object> list(ArrayData array, DataType element) {
    List<Object> out = new ArrayList<>();
    for (int i = 0; i < array.numElements(); i++) {
      out.add(value(array, i, element));
    }
    return Collections.unmodifiableList(out);
  }

  /** A rough size in bytes: of strings and binaries, 8 for each other value. */
  public static long size(Object value) {
    if (value instanceof List) {
      long n = 0;
      for (Object v : (List<?>) value) {
        n += size(v);
      }
      return n;
    } else if (value instanceof ByteBuffer) {
      return ((ByteBuffer) value).remaining();
    } else if (value instanceof UTF8String) {
      return ((UTF8String) value).numBytes();
    }
    return 8;
  }
}

package io.github.quiverspark.vector;

import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.CalendarIntervalType;
import org.apache.spark.sql.types.CharType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.UserDefinedType;
import org.apache.spark.sql.types.VarcharType;
import org.apache.spark.sql.types.YearMonthIntervalType;

/** The physical kind of a Spark type: which Arrow buffers it has and which vector reads it. Mirrors package schema of the library. */
public enum Kind {
  NULL(0, NullVector.class),
  BOOLEAN(1, BooleanVector.class),
  BYTE(1, ByteVector.class),
  SHORT(2, ShortVector.class),
  INT(4, IntVector.class),
  LONG(8, LongVector.class),
  FLOAT(4, FloatVector.class),
  DOUBLE(8, DoubleVector.class),
  DECIMAL(16, DecimalVector.class),
  STRING(0, StringVector.class),
  BINARY(0, BinaryVector.class),
  /** Geometry and geography: stored as binary, but with getters of their own. */
  GEO(0, BinaryVector.class),
  INTERVAL(0, IntervalVector.class),
  VARIANT(0, VariantVector.class),
  ARRAY(0, ArrayVector.class),
  MAP(0, MapVector.class),
  STRUCT(0, StructVector.class);

  private final int width;
  private final Class<? extends QuiverVector> vectorClass;

  Kind(int width, Class<? extends QuiverVector> vectorClass) {
    this.width = width;
    this.vectorClass = vectorClass;
  }

  /** Bytes a value takes in the values buffer of a vector, 0 where there is none. */
  public int width() {
    return width;
  }

  /** The class of the vectors that read columns of this kind. */
  public Class<? extends QuiverVector> vectorClass() {
    return vectorClass;
  }

  /** The type whose values are really stored: a user-defined type's SQL type, any other type itself. */
  public static DataType storageType(DataType type) {
    DataType t = type;
    while (t instanceof UserDefinedType) {
      t = ((UserDefinedType<?>) t).sqlType();
    }
    return t;
  }

  /** The kind of a type. Throws IllegalArgumentException for a type that cannot be stored. */
  public static Kind of(DataType type) {
    DataType t = storageType(type);
    if (t instanceof IntegerType || t instanceof DateType || t instanceof YearMonthIntervalType) {
      return INT;
    } else if (t instanceof LongType || t instanceof TimestampType || t instanceof TimestampNTZType
        || t instanceof DayTimeIntervalType) {
      return LONG;
    } else if (t instanceof StringType || t instanceof CharType || t instanceof VarcharType) {
      return STRING;
    } else if (t instanceof DoubleType) {
      return DOUBLE;
    } else if (t instanceof DecimalType) {
      return DECIMAL;
    } else if (t instanceof BooleanType) {
      return BOOLEAN;
    } else if (t instanceof ByteType) {
      return BYTE;
    } else if (t instanceof ShortType) {
      return SHORT;
    } else if (t instanceof FloatType) {
      return FLOAT;
    } else if (t instanceof BinaryType) {
      return BINARY;
    } else if (t instanceof StructType) {
      return STRUCT;
    } else if (t instanceof ArrayType) {
      return ARRAY;
    } else if (t instanceof MapType) {
      return MAP;
    } else if (t instanceof NullType) {
      return NULL;
    } else if (t instanceof CalendarIntervalType) {
      return INTERVAL;
    }
    return ofNewerType(t);
  }

  /** Types that not every supported Spark version has, told by name so that this class loads on all of them. */
  private static Kind ofNewerType(DataType t) {
    String name = t.getClass().getSimpleName().replace("$", "");
    switch (name) {
      case "TimeType":
        return LONG;
      case "VariantType":
        return VARIANT;
      case "GeometryType":
      case "GeographyType":
        return GEO;
      default:
        throw new IllegalArgumentException("type " + t.catalogString() + " cannot be stored");
    }
  }
}

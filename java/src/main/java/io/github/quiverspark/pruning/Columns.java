package io.github.quiverspark.pruning;

import io.github.quiverspark.pruning.Column.Storage;
import io.github.quiverspark.pruning.Column.Widening;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.sql.types.YearMonthIntervalType;

/** Finds the cached column behind an expression. */
public final class Columns {
  private final Map<ExprId, Integer> indexes = new HashMap<>();

  /** Among these columns, in the order of the statistics. */
  public Columns(scala.collection.Seq<Attribute> cachedAttributes) {
    for (int i = 0; i < cachedAttributes.length(); i++) {
      indexes.putIfAbsent(cachedAttributes.apply(i).exprId(), i);
    }
  }

  /** The column that an expression is, but for casts that keep order; null if it is something else. */
  public Column find(Expression expression) {
    if (expression instanceof AttributeReference) {
      Integer index = indexes.get(((AttributeReference) expression).exprId());
      if (index == null) {
        return null;
      }
      DataType type = expression.dataType();
      if (type instanceof DecimalType) {
        return new Column(index, Storage.DECIMAL, ((DecimalType) type).precision(), ((DecimalType) type).scale());
      }
      return new Column(index, storage(type), 0, 0);
    }
    if (expression instanceof Cast) {
      Cast cast = (Cast) expression;
      Widening widening = widening(cast.child().dataType(), cast.dataType());
      Column column = widening == null ? null : find(cast.child());
      return column == null ? null : column.through(widening);
    }
    return null;
  }

  static Storage storage(DataType type) {
    if (type.equals(DataTypes.BooleanType)) {
      return Storage.BOOLEAN;
    }
    if (type.equals(DataTypes.ByteType)) {
      return Storage.BYTE;
    }
    if (type.equals(DataTypes.ShortType)) {
      return Storage.SHORT;
    }
    if (type.equals(DataTypes.IntegerType) || type.equals(DataTypes.DateType) || type instanceof YearMonthIntervalType) {
      return Storage.INT;
    }
    if (type.equals(DataTypes.LongType) || type.equals(DataTypes.TimestampType) || type.equals(DataTypes.TimestampNTZType)
        || type instanceof DayTimeIntervalType || type.typeName().startsWith("time(")) {
      return Storage.LONG;
    }
    if (type.equals(DataTypes.FloatType)) {
      return Storage.FLOAT;
    }
    if (type.equals(DataTypes.DoubleType)) {
      return Storage.DOUBLE;
    }
    if (type instanceof DecimalType) {
      return Storage.DECIMAL;
    }
    // a collated string type is not equal to this one: its order is not that of its bytes
    return type.equals(StringType$.MODULE$) ? Storage.STRING : Storage.NONE;
  }

  /** A value of a type in the form that {@link Column#compare} takes; null where the type has no order here. */
  static Object normalise(Object value, DataType type) {
    switch (storage(type)) {
      case BOOLEAN:
        return (Boolean) value ? 1L : 0L;
      case BYTE:
      case SHORT:
      case INT:
      case LONG:
        return ((Number) value).longValue();
      case FLOAT:
      case DOUBLE:
        return ((Number) value).doubleValue();
      case DECIMAL:
      case STRING:
        return value;
      default:
        return null;
    }
  }

  /** Decimal digits of an integer type; 0 for other types. */
  private static int digits(DataType type) {
    if (type.equals(DataTypes.ByteType)) {
      return 3;
    }
    if (type.equals(DataTypes.ShortType)) {
      return 5;
    }
    if (type.equals(DataTypes.IntegerType)) {
      return 10;
    }
    return type.equals(DataTypes.LongType) ? 19 : 0;
  }

  private static Widening widening(DataType from, DataType to) {
    int digits = digits(from);
    boolean decimal = from instanceof DecimalType;
    boolean floating = from.equals(DataTypes.FloatType) || from.equals(DataTypes.DoubleType);
    if (digits > 0 && digits(to) >= digits) {
      return Widening.LONG;
    }
    if (to.equals(DataTypes.DoubleType) && (digits > 0 || decimal || floating)) {
      return Widening.DOUBLE;
    }
    if (to.equals(DataTypes.FloatType) && (digits > 0 || floating)) {
      return Widening.FLOAT;
    }
    if (to instanceof DecimalType) {
      int scale = ((DecimalType) to).scale();
      int whole = ((DecimalType) to).precision() - scale;
      if (digits > 0 && scale >= 0 && whole >= digits) {
        return Widening.DECIMAL;
      }
      if (decimal && scale >= ((DecimalType) from).scale() && whole >= ((DecimalType) from).precision() - ((DecimalType) from).scale()) {
        return Widening.DECIMAL;
      }
    }
    return null;
  }

  /** Whether values of both types can be compared with one another as they are. */
  static boolean comparable(DataType a, DataType b) {
    return a.equals(b) || a instanceof DecimalType && b instanceof DecimalType;
  }

  /** Whether a normalised value is a floating-point zero of either sign. */
  static boolean isFloatingZero(Object value) {
    return value instanceof Double && (Double) value == 0;
  }

  /** Whether a normalised value is one that tests can be made of. */
  static boolean isNormalised(Object value) {
    return value instanceof Long || value instanceof Double || value instanceof Decimal
        || value instanceof org.apache.spark.unsafe.types.UTF8String;
  }
}

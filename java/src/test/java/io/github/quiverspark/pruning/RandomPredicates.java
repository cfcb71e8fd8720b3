package io.github.quiverspark.pruning;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNaN;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.StartsWith;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.jdk.javaapi.CollectionConverters;

/** Random predicates of all kinds over the columns of a relation, with constants of the same few values as its data. */
final class RandomPredicates {
  private final TestRelation relation;
  private final Random random;

  RandomPredicates(TestRelation relation, Random random) {
    this.relation = relation;
    this.random = random;
  }

  /** Name of the outermost operator. */
  String kindOf(Expression predicate) {
    return predicate.getClass().getSimpleName();
  }

  Expression next(int depth) {
    if (depth == 0) {
      return leaf();
    }
    switch (random.nextInt(4)) {
      case 0:
        return new And(next(depth - 1), next(depth - 1));
      case 1:
        return new Or(next(depth - 1), next(depth - 1));
      case 2:
        return new Not(next(depth - 1));
      default:
        return leaf();
    }
  }

  private Expression leaf() {
    Expression column = relation.attributes().get(random.nextInt(relation.attributes().size()));
    if (random.nextInt(8) == 0) {
      return random.nextBoolean() ? new IsNull(column) : new IsNotNull(column);
    }
    if (column.dataType().equals(DataTypes.BooleanType) && random.nextInt(3) == 0) {
      return column;
    }
    if (column.dataType().equals(DataTypes.StringType) && random.nextInt(3) == 0) {
      return text(column);
    }
    if (random.nextInt(3) == 0) {
      column = cast(column);
    }
    if (column.dataType().equals(DataTypes.DoubleType) && random.nextInt(8) == 0) {
      return new IsNaN(column);
    }
    return random.nextInt(3) == 0 ? list(column) : comparison(column);
  }

  private Expression comparison(Expression column) {
    boolean exchanged = random.nextBoolean();
    Expression constant = constant(column.dataType());
    Expression a = exchanged ? constant : column;
    Expression b = exchanged ? column : constant;
    switch (random.nextInt(6)) {
      case 0:
        return new EqualTo(a, b);
      case 1:
        return new EqualNullSafe(a, b);
      case 2:
        return new LessThan(a, b);
      case 3:
        return new LessThanOrEqual(a, b);
      case 4:
        return new GreaterThan(a, b);
      default:
        return new GreaterThanOrEqual(a, b);
    }
  }

  private Expression list(Expression column) {
    int length = 1 + random.nextInt(4);
    if (random.nextBoolean() || column.dataType().equals(DataTypes.BinaryType)) {
      List<Expression> list = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        list.add(constant(column.dataType()));
      }
      return new In(column, TestRelation.seq(list));
    }
    Set<Object> set = new HashSet<>();
    for (int i = 0; i < length; i++) {
      set.add(constant(column.dataType()).value());
    }
    return new InSet(column, CollectionConverters.asScala(set).toSet());
  }

  private Expression text(Expression column) {
    String value = String.valueOf(TestRelation.value(DataTypes.StringType, random.nextInt(15)));
    // whole characters only: half a surrogate pair is no text
    String start = value.substring(0, value.offsetByCodePoints(0, random.nextInt(value.codePointCount(0, value.length()) + 1)));
    switch (random.nextInt(4)) {
      case 0:
        return new Like(column, literal(start.replace("%", "\\%") + "%"), '\\');
      case 1:
        return new Like(column, literal(start.replace("%", "\\%") + "_" + (random.nextBoolean() ? "%" : "")), '\\');
      default:
        return new StartsWith(column, literal(start));
    }
  }

  /** Seen as another type, by casts that keep order and by one that does not. */
  private Expression cast(Expression column) {
    List<DataType> targets = new ArrayList<>();
    DataType type = column.dataType();
    if (type.equals(DataTypes.ByteType) || type.equals(DataTypes.ShortType) || type.equals(DataTypes.IntegerType)
        || type.equals(DataTypes.LongType)) {
      targets.addAll(List.of(DataTypes.LongType, DataTypes.DoubleType, DataTypes.FloatType, DataTypes.createDecimalType(38, 2),
          DataTypes.createDecimalType(12, 2), DataTypes.IntegerType));
    } else if (type.equals(DataTypes.FloatType) || type.equals(DataTypes.DoubleType)) {
      targets.addAll(List.of(DataTypes.DoubleType, DataTypes.FloatType));
    } else if (type instanceof DecimalType) {
      targets.addAll(List.of(DataTypes.DoubleType, DataTypes.createDecimalType(20, 4), DataTypes.createDecimalType(9, 0)));
    } else if (!type.equals(DataTypes.BooleanType) && !type.equals(DataTypes.BinaryType) && !type.equals(DataTypes.StringType)) {
      return column;
    }
    targets.add(DataTypes.StringType);
    return TestRelation.cast(column, targets.get(random.nextInt(targets.size())));
  }

  private Literal constant(DataType type) {
    return new Literal(random.nextInt(12) == 0 ? null : TestRelation.value(type, random.nextInt(15)), type);
  }

  private static Literal literal(String text) {
    return new Literal(UTF8String.fromString(text), DataTypes.StringType);
  }
}

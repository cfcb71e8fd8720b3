package io.github.quiverspark.aggregate;

import io.github.quiverspark.aggregate.Terms.Op;
import io.github.quiverspark.aggregate.TotalPart.Buffer;
import io.github.quiverspark.pruning.Column;
import io.github.quiverspark.pruning.Columns;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Length;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnscaledValue;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Average;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StringType;
import scala.collection.Seq;

/** Finds for aggregate functions what their buffers are made of: the statistics of batches where these say it, else values added up. */
final class AggregateParts {
  private final Columns columns;
  private final Map<ExprId, Expression> aliases;
  private final Terms terms = new Terms();
  private final List<Part> parts = new ArrayList<>();
  /** Of the first sum that has to be watched; they all do the same. */
  private Overflow overflow;

  AggregateParts(Seq<Attribute> cached, Map<ExprId, Expression> aliases) {
    this.columns = new Columns(cached);
    this.aliases = aliases;
  }

  Terms terms() {
    return terms;
  }

  Part[] parts() {
    return parts.toArray(new Part[0]);
  }

  Overflow overflow() {
    return overflow;
  }

  /** Takes on a function; returns whether that is possible, and its buffer has the types expected. */
  boolean add(AggregateFunction function) {
    if (function.children().length() != 1) {
      return false;
    }
    Expression argument = function.children().head();
    Part part = null;
    if (function.getClass() == Count.class) {
      part = count(argument);
    } else if (function.getClass() == Min.class || function.getClass() == Max.class) {
      Column column = column(argument);
      part = column == null || !column.hasExactBounds() ? null
          : new StatisticsPart(function.getClass() == Min.class ? StatisticsPart.Kind.MIN : StatisticsPart.Kind.MAX, column);
    } else if (function.getClass() == Sum.class) {
      part = sum((DeclarativeAggregate) function, argument);
    } else if (function.getClass() == Average.class) {
      part = average((DeclarativeAggregate) function, argument);
    }
    return part != null && parts.add(part);
  }

  /** The cached column that an expression is; null if it is something else. */
  private Column column(Expression e) {
    Leaf leaf = Leaf.of(e, aliases);
    return leaf == null || !leaf.isColumn() ? null : columns.find(leaf.column());
  }

  /** The leaf that an expression is; null if it is something else. */
  private Leaf leaf(Expression e) {
    Leaf leaf = Leaf.of(e, aliases);
    return leaf == null || columns.find(leaf.column()) == null ? null : leaf;
  }

  private Part count(Expression argument) {
    if (argument instanceof Literal) {
      return ((Literal) argument).value() == null ? null : new StatisticsPart(StatisticsPart.Kind.COUNT, null);
    }
    Column column = column(argument);
    if (column != null) {
      return new StatisticsPart(StatisticsPart.Kind.COUNT, column);
    }
    Leaf leaf = leaf(argument);
    return leaf == null ? null : new TotalPart(Buffer.COUNT, terms.add(Op.COUNT, leaf), null);
  }

  private Part sum(DeclarativeAggregate function, Expression argument) {
    DataType type = function.dataType();
    if (type.equals(DataTypes.LongType) && hasBuffers(function, type)) {
      return longSum(function, resolved(argument));
    }
    if (type.equals(DataTypes.DoubleType) && hasBuffers(function, type)) {
      Leaf leaf = doubles(resolved(argument));
      return leaf == null ? null : new TotalPart(Buffer.DOUBLE_SUM, terms.add(Op.DOUBLE_SUM, leaf), null);
    }
    Leaf leaf = decimals(argument, type);
    return leaf == null || !hasBuffers(function, type, DataTypes.BooleanType) ? null
        : new TotalPart(Buffer.DECIMAL_SUM, terms.add(Op.DECIMAL_SUM, leaf), (DecimalType) type);
  }

  private Part longSum(DeclarativeAggregate function, Expression argument) {
    if (argument.getClass() == Length.class) {
      Leaf text = leaf(((Length) argument).child());
      boolean known = text != null && (text.type() instanceof StringType || text.type() instanceof BinaryType);
      return known ? new TotalPart(Buffer.LONG_SUM, terms.add(Op.LENGTHS, text), null) : null;
    }
    Leaf leaf = integers(argument);
    Overflow sums = leaf == null ? null : Overflow.of(function);
    Boolean isError = sums == null ? null : sums.isError();
    if (isError == null) {
      return null;
    }
    if (isError && overflow == null) {
      overflow = sums;
    }
    return new TotalPart(Buffer.LONG_SUM, terms.add(isError ? Op.CHECKED_SUM : Op.SUM, leaf), null);
  }

  private Part average(DeclarativeAggregate function, Expression argument) {
    DataType type = function.aggBufferAttributes().head().dataType();
    if (!hasBuffers(function, type, DataTypes.LongType)) {
      return null;
    }
    if (type.equals(DataTypes.DoubleType)) {
      Leaf leaf = doubles(resolved(argument));
      return leaf == null ? null : new TotalPart(Buffer.DOUBLE_AVERAGE, terms.add(Op.DOUBLE_SUM, leaf), null);
    }
    Leaf leaf = decimals(argument, type);
    return leaf == null ? null : new TotalPart(Buffer.DECIMAL_AVERAGE, terms.add(Op.DECIMAL_SUM, leaf), (DecimalType) type);
  }

  private static boolean hasBuffers(DeclarativeAggregate function, DataType... types) {
    Seq<? extends Attribute> buffers = function.aggBufferAttributes();
    boolean same = buffers.length() == types.length;
    for (int i = 0; same && i < types.length; i++) {
      same = buffers.apply(i).dataType().equals(types[i]);
    }
    return same;
  }

  /** What a projection below makes of an attribute. */
  private Expression resolved(Expression e) {
    Expression made = e instanceof Attribute ? aliases.get(((Attribute) e).exprId()) : null;
    return made == null ? e : resolved(made);
  }

  /** A leaf of integers, or of decimals of which the unscaled values are asked for; casts to wider integers change nothing. */
  private Leaf integers(Expression e) {
    if (e.getClass() == UnscaledValue.class) {
      Leaf leaf = leaf(((UnscaledValue) e).child());
      boolean narrow = leaf != null && leaf.type() instanceof DecimalType && ((DecimalType) leaf.type()).precision() <= 18;
      return narrow ? leaf : null;
    }
    if (e.getClass() == Cast.class) {
      Expression child = resolved(((Cast) e).child());
      int from = width(child.dataType());
      return from > 0 && width(e.dataType()) >= from ? integers(child) : null;
    }
    Leaf leaf = leaf(e);
    return leaf != null && width(leaf.type()) > 0 ? leaf : null;
  }

  /** A leaf of floating-point numbers, or of what can be added up as integers; casts to double do what adding does. */
  private Leaf doubles(Expression e) {
    if (e.getClass() == Cast.class && e.dataType().equals(DataTypes.DoubleType)) {
      return doubles(resolved(((Cast) e).child()));
    }
    Leaf leaf = leaf(e);
    boolean floating = leaf != null && (leaf.type().equals(DataTypes.FloatType) || leaf.type().equals(DataTypes.DoubleType));
    return floating ? leaf : integers(e);
  }

  /** A leaf of decimals whose sum has the given type, which ten more digits keep from overflowing. */
  private Leaf decimals(Expression e, DataType sum) {
    Leaf leaf = leaf(e);
    if (leaf == null || !(leaf.type() instanceof DecimalType) || !(sum instanceof DecimalType)) {
      return null;
    }
    DecimalType from = (DecimalType) leaf.type();
    DecimalType to = (DecimalType) sum;
    return to.precision() == from.precision() + 10 && to.scale() == from.scale() ? leaf : null;
  }

  /** Bytes of an integer type; 0 for other types. */
  private static int width(DataType type) {
    if (type.equals(DataTypes.ByteType)) {
      return 1;
    }
    if (type.equals(DataTypes.ShortType)) {
      return 2;
    }
    if (type.equals(DataTypes.IntegerType)) {
      return 4;
    }
    return type.equals(DataTypes.LongType) ? 8 : 0;
  }
}

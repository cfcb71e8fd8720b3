package io.github.quiverspark.pruning;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
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
import org.apache.spark.sql.execution.ScalarSubquery;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;

/**
 * Translates Catalyst predicates into questions to batch statistics.
 *
 * <p>A predicate has three outcomes for a row: true, false and null. {@code translate(e, true)} asks whether a row may make e true,
 * {@code translate(e, false)} whether a row may make it false; NOT swaps the two, so that null stays null on both sides. A result of Java
 * null means "nothing can be proven"; such parts are left out of a conjunction, and make a disjunction unprovable.
 */
final class PredicateTranslator {
  private static final BatchTest NEVER = new BatchTest.Never();

  private final Columns columns;

  PredicateTranslator(scala.collection.Seq<Attribute> cachedAttributes) {
    this.columns = new Columns(cachedAttributes);
  }

  /** The test for "some row may satisfy all of these"; null if every batch must be kept. */
  static BatchTest conjunction(scala.collection.Seq<Expression> predicates, scala.collection.Seq<Attribute> cachedAttributes) {
    PredicateTranslator translator = new PredicateTranslator(cachedAttributes);
    List<BatchTest> tests = new ArrayList<>();
    for (int i = 0; i < predicates.length(); i++) {
      BatchTest test = translator.translate(predicates.apply(i), true);
      if (test != null) {
        tests.add(test);
      }
    }
    return tests.isEmpty() ? null : tests.size() == 1 ? tests.get(0) : new BatchTest.All(tests);
  }

  /** The test for "some row may make the expression {@code outcome}"; null if every batch must be kept. */
  BatchTest translate(Expression e, boolean outcome) {
    if (e instanceof Not) {
      return translate(((Not) e).child(), !outcome);
    }
    if (e instanceof And) {
      return outcome ? all(((And) e).left(), ((And) e).right(), true) : either(((And) e).left(), ((And) e).right(), false);
    }
    if (e instanceof Or) {
      return outcome ? either(((Or) e).left(), ((Or) e).right(), true) : all(((Or) e).left(), ((Or) e).right(), false);
    }
    if (e instanceof IsNull) {
      return nullness(((IsNull) e).child(), outcome);
    }
    if (e instanceof IsNotNull) {
      return nullness(((IsNotNull) e).child(), !outcome);
    }
    if (e instanceof IsNaN) {
      return nan(((IsNaN) e).child(), outcome);
    }
    if (e instanceof In) {
      return in((In) e, outcome);
    }
    if (e instanceof InSet) {
      return inSet((InSet) e, outcome);
    }
    if (e instanceof StartsWith) {
      return startsWith((StartsWith) e, outcome);
    }
    if (e instanceof Like) {
      return like((Like) e, outcome);
    }
    BatchTest comparison = comparison(e, outcome);
    return comparison != null ? comparison : truth(e, outcome);
  }

  private BatchTest all(Expression left, Expression right, boolean outcome) {
    BatchTest a = translate(left, outcome);
    BatchTest b = translate(right, outcome);
    return a == null ? b : b == null ? a : new BatchTest.All(Arrays.asList(a, b));
  }

  private BatchTest either(Expression left, Expression right, boolean outcome) {
    BatchTest a = translate(left, outcome);
    BatchTest b = a == null ? null : translate(right, outcome);
    return a == null || b == null ? null : new BatchTest.Either(a, b);
  }

  private BatchTest nullness(Expression child, boolean wantNull) {
    Column column = columns.find(child);
    return column == null ? null : new BatchTest.Nullness(column, wantNull);
  }

  /** isnan is never null: it is false for null. */
  private BatchTest nan(Expression child, boolean outcome) {
    Column column = ordered(child);
    if (column == null) {
      return null;
    }
    return outcome
        ? new BatchTest.Above(column, Double.NaN, true)
        : new BatchTest.Either(new BatchTest.Nullness(column, true), new BatchTest.Below(column, Double.NaN, false));
  }

  /** A boolean column, or a constant, by itself. */
  private BatchTest truth(Expression e, boolean outcome) {
    if (!e.dataType().equals(DataTypes.BooleanType)) {
      return null;
    }
    if (e instanceof Literal) {
      Object value = ((Literal) e).value();
      return value != null && (Boolean) value == outcome ? null : NEVER;
    }
    Column column = ordered(e);
    return column == null ? null : new BatchTest.OneOf(column, new Object[] {outcome ? 1L : 0L});
  }

  private BatchTest comparison(Expression e, boolean outcome) {
    if (e instanceof EqualTo) {
      return equal(((EqualTo) e).left(), ((EqualTo) e).right(), outcome);
    }
    if (e instanceof EqualNullSafe) {
      return equalNullSafe(((EqualNullSafe) e).left(), ((EqualNullSafe) e).right(), outcome);
    }
    if (e instanceof LessThan) {
      return order(((LessThan) e).left(), ((LessThan) e).right(), outcome, true, false);
    }
    if (e instanceof LessThanOrEqual) {
      return order(((LessThanOrEqual) e).left(), ((LessThanOrEqual) e).right(), outcome, true, true);
    }
    if (e instanceof GreaterThan) {
      return order(((GreaterThan) e).left(), ((GreaterThan) e).right(), outcome, false, false);
    }
    if (e instanceof GreaterThanOrEqual) {
      return order(((GreaterThanOrEqual) e).left(), ((GreaterThanOrEqual) e).right(), outcome, false, true);
    }
    return null;
  }

  private BatchTest equal(Expression left, Expression right, boolean outcome) {
    Operands operands = operands(left, right);
    if (operands == null) {
      return null;
    }
    if (operands.value == null) {
      return NEVER;
    }
    Object[] value = {operands.value};
    return outcome ? new BatchTest.OneOf(operands.column, value) : new BatchTest.NoneOf(operands.column, value);
  }

  /** Never null: two nulls are equal, null and a value are not. */
  private BatchTest equalNullSafe(Expression left, Expression right, boolean outcome) {
    Operands operands = operands(left, right);
    if (operands == null) {
      return null;
    }
    if (operands.value == null) {
      return new BatchTest.Nullness(operands.column, outcome);
    }
    Object[] value = {operands.value};
    return outcome
        ? new BatchTest.OneOf(operands.column, value)
        : new BatchTest.Either(new BatchTest.Nullness(operands.column, true), new BatchTest.NoneOf(operands.column, value));
  }

  /** left &lt; right, or &lt;=, &gt;, &gt;= by the last two arguments. */
  private BatchTest order(Expression left, Expression right, boolean outcome, boolean less, boolean inclusive) {
    Operands operands = operands(left, right);
    if (operands == null) {
      return null;
    }
    if (operands.value == null) {
      return NEVER;
    }
    // exchanged operands turn the comparison round; asking for false turns it round and swaps inclusive with exclusive
    boolean below = less != operands.exchanged;
    boolean at = inclusive;
    if (!outcome) {
      below = !below;
      at = !at;
    }
    return below ? new BatchTest.Below(operands.column, operands.value, at) : new BatchTest.Above(operands.column, operands.value, at);
  }

  private BatchTest in(In in, boolean outcome) {
    Column column = ordered(in.value());
    if (column == null || in.list().isEmpty()) {
      return null;
    }
    List<Object> values = new ArrayList<>();
    boolean hasNull = false;
    Iterator<Expression> list = in.list().iterator();
    while (list.hasNext()) {
      Constant element = constant(list.next());
      if (element == null || !Columns.comparable(in.value().dataType(), element.type)) {
        return null;
      }
      if (element.value == null) {
        hasNull = true;
      } else {
        values.add(Columns.normalise(element.value, element.type));
      }
    }
    return membership(column, values, hasNull, outcome);
  }

  private BatchTest inSet(InSet in, boolean outcome) {
    Column column = ordered(in.child());
    if (column == null || in.hset().isEmpty()) {
      return null;
    }
    List<Object> values = new ArrayList<>();
    boolean hasNull = false;
    Iterator<Object> set = in.hset().iterator();
    while (set.hasNext()) {
      Object element = set.next();
      if (element == null) {
        hasNull = true;
        continue;
      }
      Object value = Columns.normalise(element, in.child().dataType());
      // a hash set may tell the two zeros apart: nothing can be concluded from one of them being absent or present
      if (outcome || !Columns.isFloatingZero(value)) {
        values.add(value);
      }
    }
    return membership(column, values, hasNull, outcome);
  }

  /** x IN (…, null) is true or null, never false. */
  private static BatchTest membership(Column column, List<Object> values, boolean hasNull, boolean outcome) {
    if (outcome) {
      return values.isEmpty() ? NEVER : new BatchTest.OneOf(column, values.toArray());
    }
    return hasNull ? NEVER : new BatchTest.NoneOf(column, values.toArray());
  }

  private BatchTest startsWith(StartsWith e, boolean outcome) {
    return prefix(e.left(), constant(e.right()), outcome);
  }

  private BatchTest prefix(Expression text, Constant prefix, boolean outcome) {
    Column column = ordered(text);
    if (column == null || prefix == null || !Columns.comparable(text.dataType(), prefix.type)) {
      return null;
    }
    if (prefix.value == null) {
      return NEVER;
    }
    UTF8String value = (UTF8String) prefix.value;
    return outcome ? new BatchTest.Prefix(column, value) : new BatchTest.NotPrefix(column, value);
  }

  /** A LIKE pattern begins with plain text, which every match must begin with. */
  private BatchTest like(Like e, boolean outcome) {
    Constant pattern = constant(e.right());
    Column column = ordered(e.left());
    if (pattern == null || column == null || !Columns.comparable(e.left().dataType(), pattern.type)) {
      return null;
    }
    if (pattern.value == null) {
      return NEVER;
    }
    LikePattern parsed = LikePattern.parse(pattern.value.toString(), e.escapeChar());
    if (parsed == null) {
      return null;
    }
    Constant text = new Constant(UTF8String.fromString(parsed.prefix), pattern.type);
    switch (parsed.rest) {
      case NOTHING:
        Object[] value = {text.value};
        return outcome ? new BatchTest.OneOf(column, value) : new BatchTest.NoneOf(column, value);
      case ANYTHING:
        return prefix(e.left(), text, outcome);
      default:
        return outcome ? prefix(e.left(), text, true) : null;
    }
  }

  private Column ordered(Expression e) {
    Column column = columns.find(e);
    return column != null && column.ordered() ? column : null;
  }

  /** Column and constant of a comparison, in either order; null if it is not one between these. */
  private Operands operands(Expression left, Expression right) {
    Column column = columns.find(left);
    boolean exchanged = column == null;
    Expression other = exchanged ? left : right;
    if (exchanged) {
      column = columns.find(right);
    }
    Constant constant = column == null ? null : constant(other);
    if (constant == null || !Columns.comparable((exchanged ? right : left).dataType(), constant.type)) {
      return null;
    }
    if (constant.value == null) {
      return new Operands(column, null, exchanged);
    }
    if (!column.ordered()) {
      return null;
    }
    Object value = Columns.normalise(constant.value, constant.type);
    return Columns.isNormalised(value) ? new Operands(column, value, exchanged) : null;
  }

  /**
   * The value of an expression that is the same for all rows: a literal, an expression of literals, or a scalar subquery that has run.
   * Null if it is none.
   */
  private static Constant constant(Expression e) {
    if (e instanceof Literal) {
      return new Constant(((Literal) e).value(), e.dataType());
    }
    if (e instanceof ScalarSubquery || e.foldable() && e.deterministic()) {
      try {
        return new Constant(e.eval(null), e.dataType());
      } catch (RuntimeException failed) {
        // the query itself will report it, if it ever gets there
        return null;
      }
    }
    return null;
  }

  private static final class Constant {
    final Object value;
    final DataType type;

    Constant(Object value, DataType type) {
      this.value = value;
      this.type = type;
    }
  }

  private static final class Operands {
    final Column column;
    final Object value;
    final boolean exchanged;

    Operands(Column column, Object value, boolean exchanged) {
      this.column = column;
      this.value = value;
      this.exchanged = exchanged;
    }
  }
}

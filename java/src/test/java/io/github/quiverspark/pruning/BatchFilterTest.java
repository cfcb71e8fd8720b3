package io.github.quiverspark.pruning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.pruning.TestRelation.Batch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.Remainder;
import org.apache.spark.sql.catalyst.expressions.StartsWith;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

class BatchFilterTest {
  /** A batch of one column must be kept, or must be left out, by a predicate. */
  private static void expect(boolean kept, Batch batch, Expression predicate) {
    assertEquals(kept, kept(List.of(predicate), batch.attributes(), batch), () -> predicate + " on " + batch.rows());
    assertFalse(!kept && batch.matches(predicate), () -> "the test is wrong: a row satisfies " + predicate);
  }

  private static boolean kept(List<Expression> predicates, List<Attribute> attributes, Batch batch) {
    Iterator<CachedBatch> in = CollectionConverters.asScala(List.<CachedBatch>of(batch).iterator());
    return BatchFilter.build(TestRelation.seq(predicates), TestRelation.seq(attributes)).apply(0, in).hasNext();
  }

  private static Batch doubles(Object... values) {
    return TestRelation.of(DataTypes.DoubleType).batch(values);
  }

  private static Batch strings(Object... values) {
    Object[] converted = new Object[values.length];
    for (int i = 0; i < values.length; i++) {
      converted[i] = values[i] == null ? null : UTF8String.fromString((String) values[i]);
    }
    return TestRelation.of(DataTypes.StringType).batch(converted);
  }

  private static Literal string(String value) {
    return new Literal(value == null ? null : UTF8String.fromString(value), DataTypes.StringType);
  }

  private static Literal number(double value) {
    return new Literal(value, DataTypes.DoubleType);
  }

  private static Literal integer(Integer value) {
    return new Literal(value, DataTypes.IntegerType);
  }

  private static In in(Expression value, Expression... list) {
    return new In(value, TestRelation.seq(List.of(list)));
  }

  @Test
  void notANumberIsGreatestAndEqualsItself() {
    Batch mixed = doubles(1.0, Double.NaN);
    Expression a = mixed.column(0);
    expect(true, mixed, new GreaterThan(a, number(1000)));
    expect(true, mixed, new EqualTo(a, number(Double.NaN)));
    expect(true, mixed, new LessThan(a, number(Double.NaN)));
    expect(false, mixed, new GreaterThan(a, number(Double.NaN)));
    Batch only = doubles(Double.NaN, Double.longBitsToDouble(0x7ff8000000000001L));
    a = only.column(0);
    expect(false, only, new LessThan(a, number(Double.NaN)));
    expect(false, only, new Not(new EqualTo(a, number(Double.NaN))));
    expect(true, only, new GreaterThan(a, number(Double.POSITIVE_INFINITY)));
    expect(false, only, in(a, number(1), number(2)));
  }

  @Test
  void zerosAreEqual() {
    Batch batch = doubles(-0.0, -0.0);
    Expression a = batch.column(0);
    expect(true, batch, new EqualTo(a, number(0.0)));
    expect(true, batch, new GreaterThanOrEqual(a, number(0.0)));
    expect(false, batch, new LessThan(a, number(0.0)));
    expect(false, batch, new Not(new EqualTo(a, number(0.0))));
    // a hash set may tell them apart, so nothing is concluded from NOT
    Expression set = new InSet(a, CollectionConverters.asScala(java.util.Set.<Object>of(0.0)).toSet());
    assertTrue(kept(List.of(new Not(set)), batch.attributes(), batch));
  }

  @Test
  void columnsWithoutBoundsAreOnlyJudgedByTheirCounts() {
    for (DataType type : List.of(DataTypes.BinaryType, DataTypes.createArrayType(DataTypes.IntegerType), DataTypes.NullType)) {
      TestRelation relation = TestRelation.of(type);
      Batch nulls = relation.batch(null, null);
      expect(false, nulls, new IsNotNull(nulls.column(0)));
      expect(true, nulls, new IsNull(nulls.column(0)));
    }
    Batch batch = TestRelation.of(DataTypes.BinaryType).batch(new byte[] {5}, new byte[] {9});
    Expression five = new Literal(new byte[] {5}, DataTypes.BinaryType);
    Expression high = new Literal(new byte[] {99}, DataTypes.BinaryType);
    expect(true, batch, new GreaterThanOrEqual(batch.column(0), five));
    assertTrue(kept(List.of(new GreaterThanOrEqual(batch.column(0), high)), batch.attributes(), batch));
    expect(true, batch, new Not(new EqualTo(batch.column(0), high)));
    expect(false, batch, new IsNull(batch.column(0)));
  }

  @Test
  void collatedStringsAreNeverPruned() {
    DataType collated = DataType.fromDDL("c STRING COLLATE UTF8_LCASE");
    collated = ((org.apache.spark.sql.types.StructType) collated).apply(0).dataType();
    // bounds by bytes, as a mistaken encoder might keep them: they must not be used
    Batch batch = TestRelation.of(collated).batch(UTF8String.fromString("ABC"), UTF8String.fromString("ABD"));
    Expression lower = new Literal(UTF8String.fromString("abc"), collated);
    expect(true, batch, new EqualTo(batch.column(0), lower));
    expect(true, batch, new StartsWith(batch.column(0), lower));
    expect(false, batch, new IsNull(batch.column(0)));
  }

  @Test
  void nullsMakeNothingTrueAndNothingFalse() {
    Batch batch = TestRelation.of(DataTypes.IntegerType).batch(1, null);
    Expression a = batch.column(0);
    expect(false, batch, new EqualTo(a, integer(null)));
    expect(false, batch, new Not(new EqualTo(a, integer(null))));
    expect(true, batch, new EqualNullSafe(a, integer(null)));
    expect(true, batch, new Not(new EqualNullSafe(a, integer(null))));
    expect(true, batch, new Not(new EqualNullSafe(a, integer(1))));
    expect(false, batch, new Not(new EqualTo(a, integer(1))));
    expect(true, batch, in(a, integer(1), integer(null)));
    expect(false, batch, in(a, integer(2), integer(null)));
    expect(false, batch, new Not(in(a, integer(2), integer(null))));
    expect(true, batch, new Not(in(a, integer(2))));
    expect(false, batch, new Literal(null, DataTypes.BooleanType));
    Batch nulls = TestRelation.of(DataTypes.IntegerType).batch(null, null);
    expect(false, nulls, new LessThan(nulls.column(0), integer(5)));
    expect(false, nulls, new Not(new LessThan(nulls.column(0), integer(5))));
    expect(true, nulls, new EqualNullSafe(nulls.column(0), integer(null)));
  }

  @Test
  void boundsOfLongStringsAreCut() {
    String stem = "x".repeat(64);
    Batch batch = strings(stem + "b", stem + "d");
    Expression a = batch.column(0);
    expect(true, batch, new EqualTo(a, string(stem + "b")));
    // 'c' lies between, and nothing below the cut can tell
    assertTrue(kept(List.of(new EqualTo(a, string(stem + "c"))), batch.attributes(), batch));
    assertTrue(kept(List.of(new StartsWith(a, string(stem + "zz"))), batch.attributes(), batch));
    expect(true, batch, new StartsWith(a, string(stem)));
    expect(false, batch, new StartsWith(a, string("xy")));
    expect(false, batch, new LessThan(a, string("x")));
    Batch same = strings(stem + "b", stem + "b");
    // upper was cut and carried: equality of all values can no longer be seen, so NOT keeps the batch
    assertTrue(kept(List.of(new Not(new EqualTo(same.column(0), string(stem + "b")))), same.attributes(), same));
  }

  @Test
  void prefixes() {
    Batch batch = strings("apple", "apricot", null);
    Expression a = batch.column(0);
    expect(true, batch, new StartsWith(a, string("ap")));
    expect(true, batch, new StartsWith(a, string("apple")));
    expect(false, batch, new StartsWith(a, string("aq")));
    expect(false, batch, new StartsWith(a, string("an")));
    expect(false, batch, new StartsWith(a, string("apricots")));
    expect(false, batch, new Not(new StartsWith(a, string("ap"))));
    expect(true, batch, new Not(new StartsWith(a, string("app"))));
    expect(false, batch, new StartsWith(a, string(null)));
    expect(false, batch, new Like(a, string("b%"), '\\'));
    expect(false, batch, new Like(a, string("b_n%a"), '\\'));
    expect(true, batch, new Like(a, string("ap_l%"), '\\'));
    expect(false, batch, new Like(a, string("a\\%%"), '\\'));
    expect(false, batch, new Like(a, string("banana"), '\\'));
    expect(false, batch, new Not(new Like(a, string("ap%"), '\\')));
    expect(true, batch, new Not(new Like(a, string("ap_le"), '\\')));
  }

  @Test
  void partsThatCannotBeJudged() {
    Batch batch = TestRelation.of(DataTypes.IntegerType).batch(1, 2);
    Expression a = batch.column(0);
    Expression unknown = new EqualTo(new Remainder(a, integer(2)), integer(0));
    Expression never = new GreaterThan(a, integer(5));
    expect(false, batch, new And(unknown, never));
    expect(true, batch, new Or(unknown, never));
    expect(false, batch, new Not(new Or(unknown, new LessThanOrEqual(a, integer(5)))));
    expect(false, batch, new Or(never, new And(never, unknown)));
  }

  @Test
  void castsThatKeepOrder() {
    Batch batch = TestRelation.of(DataTypes.IntegerType).batch(10, 20);
    Expression a = batch.column(0);
    expect(false, batch, new GreaterThan(TestRelation.cast(a, DataTypes.LongType), new Literal(20L, DataTypes.LongType)));
    expect(true, batch, new GreaterThanOrEqual(TestRelation.cast(a, DataTypes.DoubleType), number(19.5)));
    expect(false, batch, new GreaterThan(TestRelation.cast(a, DataTypes.DoubleType), number(20.5)));
    expect(false, batch, new LessThan(number(20.5), TestRelation.cast(a, DataTypes.DoubleType)));
    // the text order of numbers is not theirs
    expect(true, batch, new GreaterThan(TestRelation.cast(a, DataTypes.StringType), string("1")));
    assertTrue(kept(List.of(new GreaterThan(TestRelation.cast(a, DataTypes.StringType), string("9"))), batch.attributes(), batch));
  }

  @Test
  void longLists() {
    Batch batch = TestRelation.of(DataTypes.IntegerType).batch(1000, 1010);
    List<Expression> list = new ArrayList<>();
    java.util.Set<Object> set = new java.util.HashSet<>();
    for (int i = 0; i < 500; i++) {
      list.add(integer(i));
      set.add(i);
    }
    expect(false, batch, new In(batch.column(0), TestRelation.seq(list)));
    expect(false, batch, new InSet(batch.column(0), CollectionConverters.asScala(set).toSet()));
    set.add(1010);
    expect(true, batch, new InSet(batch.column(0), CollectionConverters.asScala(set).toSet()));
  }

  @Test
  void randomPredicatesOverRandomData() {
    Map<String, int[]> prunedByKind = new TreeMap<>();
    int pruned = 0;
    int judged = 0;
    for (long seed = 0; seed < 60; seed++) {
      Random random = new Random(seed);
      TestRelation relation = TestRelation.random(random);
      RandomPredicates predicates = new RandomPredicates(relation, random);
      for (int i = 0; i < 200; i++) {
        Batch batch = relation.randomBatch(random);
        Expression predicate = predicates.next(random.nextInt(4));
        boolean matches;
        try {
          matches = batch.matches(predicate);
        } catch (RuntimeException overflow) {
          continue; // in ANSI mode the query itself fails
        }
        boolean kept = kept(List.of(predicate), relation.attributes(), batch);
        long failing = seed;
        assertTrue(kept || !matches, () -> "seed " + failing + ": lost a row of " + batch.rows() + " for " + predicate);
        judged++;
        if (!kept) {
          pruned++;
        }
        if (!matches) {
          int[] counts = prunedByKind.computeIfAbsent(predicates.kindOf(predicate), k -> new int[2]);
          counts[kept ? 1 : 0]++;
        }
      }
    }
    assertTrue(pruned > judged / 10, "pruned only " + pruned + " of " + judged);
    for (String kind : List.of("EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual", "In",
        "InSet", "IsNull", "IsNotNull", "StartsWith", "Like", "And", "Or", "Not")) {
      int[] counts = prunedByKind.get(kind);
      assertTrue(counts != null && counts[0] > 0, kind + " never pruned");
    }
  }
}

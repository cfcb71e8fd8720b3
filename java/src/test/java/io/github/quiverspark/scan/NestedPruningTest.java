package io.github.quiverspark.scan;

import static org.apache.spark.sql.functions.udaf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.QuiverPlugin;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.execution.BaseSubqueryExec;
import org.apache.spark.sql.execution.ExplainMode;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import org.apache.spark.sql.expressions.Aggregator;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which fields of struct columns are read, and that the answers are those without a cache. */
class NestedPruningTest {
  private static final String ADAPTIVE = "spark.sql.adaptive.enabled";
  private static final String PRUNING = "spark.quiver.scan.nestedPruning.enabled";
  private static final String WHOLE_STAGE = "spark.sql.codegen.wholeStage";
  private static final String HUGE_METHOD = "spark.sql.codegen.hugeMethodLimit";
  private static SparkSession spark;

  @BeforeAll
  static void start() {
    spark = SparkSession.builder().master("local[2]").appName("NestedPruningTest")
        .config("spark.plugins", QuiverPlugin.class.getName())
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.inMemoryColumnarStorage.batchSize", "300")
        .getOrCreate();
    assertEquals("on", spark.conf().get("spark.quiver.status"));
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  @BeforeEach
  void cache() {
    plain().createOrReplaceTempView("plain");
    // a plan of its own, which is not that of the view above
    plain().where("id >= 0").createOrReplaceTempView("cached");
    spark.catalog().cacheTable("cached");
  }

  @AfterEach
  void forget() {
    spark.catalog().clearCache();
    for (String key : List.of(ADAPTIVE, PRUNING, WHOLE_STAGE, HUGE_METHOD, "spark.sql.autoBroadcastJoinThreshold")) {
      spark.conf().unset(key);
    }
  }

  private static Dataset<Row> plain() {
    return spark.range(0, 1000, 1, 2).selectExpr(
        "id",
        "if(id % 5 = 0, null, named_struct('a', id, 'b', concat('b', id), 'c', named_struct('x', id % 10, 'y', if(id % 3 = 0, null, 'y')),"
            + " 'a', -id)) s",
        "if(id % 7 = 0, null, array(named_struct('p', id, 'q', concat('q', id)), null, named_struct('p', id + 1, 'q', null))) l",
        "map('k', named_struct('v', id, 'w', concat('w', id)), 'n', null) m",
        "named_struct('k', id % 3, 't', named_struct('u', id, 'v', array(named_struct('z', id, 'zz', 'zz')))) t",
        "if(id % 4 = 0, null, named_struct('a', id, 'v', null, 'c', named_struct('x', id, 'v', null, 'y', 'y'),"
            + " 'l', array(named_struct('v', null, 'p', id, 'q', 'q')))) n");
  }

  /** A query, and the paths that are read of columns that are not read whole; "" if there are none. */
  static Stream<Arguments> queries() {
    return Stream.of(
        Arguments.of("select s.b from %s", "[s.b]"),
        Arguments.of("select s.c.x, id from %s", "[s.c.x]"),
        Arguments.of("select s.c from %s", "[s.c]"),
        Arguments.of("select s from %s", ""),
        Arguments.of("select * from %s", ""),
        Arguments.of("select s.b, s from %s", ""),
        Arguments.of("select s.* from (select struct(s.b, s.c.y) s from %s)", "[s.b, s.c.y]"),
        Arguments.of("select id from %s where s is null", "[nulls of s]"),
        Arguments.of("select id from %s where s.c is not null", "[nulls of s.c]"),
        Arguments.of("select id from %s where s.b is not null", "[s.b]"),
        Arguments.of("select s.c.x from %s where s.b > 'b5'", "[s.b, s.c.x]"),
        Arguments.of("select id from %s where s.b > 'b5' and t.k = 1", "[s.b, t.k]"),
        Arguments.of("select count(s.c.y), max(s.b) from %s where id > 10", "[s.b, s.c.y]"),
        Arguments.of("select t.k, sum(s.c.x) from %s group by t.k", "[s.c.x, t.k]"),
        Arguments.of("select t.k, collect_set(s.c.x) from %s group by t.k", "[s.c.x, t.k]"),
        Arguments.of("select s, count(*) from %s group by s", ""),
        Arguments.of("select max(s) from %s", ""),
        Arguments.of("select first(s).b from %s where id = 3", ""),
        Arguments.of("select l.p from %s", "[l.element.p]"),
        Arguments.of("select l[0].q from %s", "[l.element.q]"),
        Arguments.of("select l.p[2] from %s", "[l.element.p]"),
        Arguments.of("select element_at(l, 1).q from %s where size(l) > 0", "[l.element.q]"),
        Arguments.of("select size(l) from %s", "[nulls of l.element]"),
        Arguments.of("select l[0] from %s", ""),
        Arguments.of("select l[cast(s.c.x %% 3 as int)].p from %s", "[l.element.p, s.c.x]"),
        Arguments.of("select transform(l, e -> e.p) from %s", ""),
        Arguments.of("select exists(l, e -> e.p = s.c.x) from %s", "[s.c.x]"),
        Arguments.of("select e.p from %s lateral view explode(l) as e", "[l.element.p]"),
        Arguments.of("select e.p, s.b from %s lateral view outer explode(l) as e", "[l.element.p, s.b]"),
        Arguments.of("select m['k'].v from %s", "[m.key, m.value.v]"),
        Arguments.of("select m[if(s.c.y is null, 'n', 'k')].w from %s", "[m.key, m.value.w, s.c.y]"),
        Arguments.of("select map_keys(m) from %s", ""),
        Arguments.of("select t.t.v.z from %s", "[t.t.v.element.z]"),
        Arguments.of("select t.t.v[0].z, t.t.u from %s", "[t.t.u, t.t.v.element.z]"),
        Arguments.of("select if(id > 3, s, null).b from %s", null),
        Arguments.of("select case when id > 3 then s.c else null end.y from %s", null),
        Arguments.of("select coalesce(s.c, named_struct('x', 1L, 'y', '1')) from %s", "[s.c]"),
        // void fields
        Arguments.of("select n.a from %s", "[n.a]"),
        Arguments.of("select n.a, n.v, n.c.v from %s", "[n.a, nulls of n.c]"),
        Arguments.of("select n.v from %s", "[nulls of n]"),
        Arguments.of("select n.c.x from %s where n.l.q[0] = 'q'", "[n.c.x, n.l.element.q]"),
        Arguments.of("select n.l.v from %s", "[nulls of n.l.element]"),
        Arguments.of("select n.c from %s", "[n.c]"),
        Arguments.of("select n.c.x, n.c.y, n.c.v from %s", "[n.c]"),
        Arguments.of("select n.a, n.c, n.l from %s", ""),
        // whole rows in between: generated code ends below an operator that has none, and copies fields that cannot be null unasked
        Arguments.of("select t.t.u, exists(l, e -> e.p > 500) from %s where id > 3", "[t.t.u]"),
        Arguments.of("select l.p, exists(l, e -> e.p > 500), m['k'].v, forall(t.t.v.zz, e -> e > '') from %s where s.c.x > 3", null),
        Arguments.of("select t.t.v.z, exists(array(id), e -> e > 500), m['k'].v from %s where s.c.x > 3",
            "[m.key, m.value.v, s.c.x, t.t.v.element.z]"),
        Arguments.of("select s.b from %s tablesample (100 rows)", null),
        Arguments.of("select s.b, row_number() over (partition by t.k order by s.c.x, id) from %s", "[s.b, s.c.x, t.k]"),
        Arguments.of("select s.b from %s order by s.c.x, id", "[s.b, s.c.x]"),
        Arguments.of("select t.k, s.c.x, count(*) from %s group by t.k, s.c.x with rollup", "[s.c.x, t.k]"),
        Arguments.of("select s.b from %s where id < 100 union all select s.c.y from %s where id > 900", "[s.b] [s.c.y]"),
        Arguments.of("select s.b from %s where id in (select s.c.x from %s)", "[s.b] [s.c.x]"),
        Arguments.of("select s.b, (select max(t.t.u) from %s) from %s", "[s.b] [t.t.u]"),
        Arguments.of("select x.s.b, y.s.c.y from %s x join %s y on x.s.c.x = y.t.t.u", "[s.b, s.c.x] [s.c.y, t.t.u]"));
  }

  @ParameterizedTest
  @MethodSource("queries")
  void fieldsReadAreThoseOfTheQuery(String query, String paths) {
    String once = query.replace("%%", "%");
    for (boolean wholeStage : new boolean[] {true, false}) {
      for (boolean adaptive : new boolean[] {true, false}) {
        spark.conf().set(ADAPTIVE, adaptive);
        spark.conf().set(WHOLE_STAGE, wholeStage);
        List<String> expected = rows(spark.sql(once.replace("%s", "plain")));
        Dataset<Row> df = spark.sql(once.replace("%s", "cached"));
        assertEquals(expected, rows(df), query);
        if (paths != null) {
          assertEquals(paths, pathsRead(df), () -> query + "\n" + df.queryExecution().executedPlan());
        }
      }
    }
  }

  private static List<String> rows(Dataset<Row> df) {
    return df.collectAsList().stream().map(Row::toString).sorted().collect(Collectors.toList());
  }

  private static String pathsRead(Dataset<Row> df) {
    List<String> read = new ArrayList<>();
    for (QuiverScan scan : scans(df)) {
      if (scan.readFields() != null) {
        read.add(new TreeSet<>(scan.readFields().paths(scan.attributes())).toString());
      }
    }
    return String.join(" ", new TreeSet<>(read));
  }

  private static List<QuiverScan> scans(Dataset<Row> df) {
    List<QuiverScan> scans = new ArrayList<>(QuiverScanTest.find(df, QuiverScan.class));
    QuiverScanTest.find(df, SparkPlan.class).forEach(node -> {
      scala.collection.Iterator<?> below = node.subqueries().iterator();
      while (below.hasNext()) {
        Object subquery = below.next();
        if (subquery instanceof BaseSubqueryExec) {
          scans.addAll(QuiverScanTest.find((SparkPlan) subquery, QuiverScan.class));
        }
      }
    });
    return scans;
  }

  @Test
  void theSettingSwitchesItOff() {
    spark.conf().set(PRUNING, "false");
    Dataset<Row> df = spark.sql("select s.b from cached");
    assertEquals(rows(spark.sql("select s.b from plain")), rows(df));
    assertEquals("", pathsRead(df));
    assertFalse(QuiverScanTest.explain(df).contains("ReadFields"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void explainNamesWhatIsRead(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    Dataset<Row> df = spark.sql("select s.b, l.p from cached where s.c.x > 3");
    df.collectAsList();
    String plan = QuiverScanTest.explain(df);
    assertTrue(plan.contains("ReadFields: [l.element.p, s.b, s.c.x]"), plan);
    String formatted = df.queryExecution().explainString(ExplainMode.fromString("formatted"));
    assertTrue(formatted.contains("ReadFields: [l.element.p, s.b, s.c.x]"), formatted);
  }

  /** As the description of the setting says. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void explainOfAnAdaptivePlanNamesItAfterItHasRun(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    Dataset<Row> df = spark.sql("select t.k, max(s.b) from cached group by t.k");
    for (boolean hasRun : new boolean[] {false, true}) {
      String plan = QuiverScanTest.explain(df);
      assertTrue(plan.contains("QuiverScan"), plan);
      assertEquals(hasRun || !adaptive, plan.contains("ReadFields: [s.b, t.k]"), plan);
      assertEquals(hasRun || !adaptive, plan.contains("ColumnarToRow"), plan);
      df.collectAsList();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void fewerBytesAreRead(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    long whole = bytesRead("select s.c.x, s from cached");
    long part = bytesRead("select s.c.x from cached");
    assertTrue(part > 0 && part < whole / 2, part + " of " + whole);
  }

  private static long bytesRead(String query) {
    Dataset<Row> df = spark.sql(query);
    df.collectAsList();
    return scans(df).stream().mapToLong(scan -> scan.metrics().apply("bytesRead").value()).sum();
  }

  /** Generated code that would be too long is not used, and whole rows are copied instead. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void generatedCodeMayBeTooLong(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    spark.conf().set(HUGE_METHOD, "1");
    for (String query : new String[] {"select t.t.u, m['k'].w, t.t.v.z from %s", "select t.k, max(s.c.x) from %s group by t.k"}) {
      Dataset<Row> df = spark.sql(String.format(query, "cached"));
      assertEquals(rows(spark.sql(String.format(query, "plain"))), rows(df));
      assertNotEquals("", pathsRead(df));
    }
  }

  /** Exchanges over scans that differ in the fields that they read are not one another's. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void exchangesOverOtherFieldsAreNotReused(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    spark.conf().set("spark.sql.autoBroadcastJoinThreshold", "-1");
    String join = "select x.k, x.v, y.v w from (select t.k, max(%s) v from cached group by t.k) x"
        + " join (select t.k, max(%s) v from cached group by t.k) y on x.k = y.k";
    for (String second : new String[] {"s.c.y", "s.b"}) {
      Dataset<Row> df = spark.sql(String.format(join, "s.b", second));
      List<String> expected = rows(spark.sql(String.format(join, "s.b", second).replace("cached", "plain")));
      assertEquals(expected, rows(df));
      boolean reused = !QuiverScanTest.find(df, ReusedExchangeExec.class).isEmpty();
      assertEquals(second.equals("s.b"), reused, df.queryExecution().executedPlan()::toString);
    }
  }

  /** A scan's copies by Spark keep what it reads, and what differs in it is not the same. */
  @Test
  void fieldsReadArePartOfTheNode() {
    spark.conf().set(ADAPTIVE, "false");
    QuiverScan one = scanOf("select s.b, l.p from cached");
    QuiverScan same = scanOf("select s.b, l.p from cached");
    QuiverScan other = scanOf("select s.c, l.p from cached");
    assertEquals(one.readFields(), ((QuiverScan) one.clone()).readFields());
    assertEquals(one.readFields(), ((QuiverScan) one.makeCopy(
        new Object[] {one.attributes(), one.predicates(), one.relation(), one.readFields()})).readFields());
    assertTrue(one.sameResult(same));
    assertFalse(one.sameResult(other));
    assertNotEquals(one, other);
    assertNull(((QuiverScan) one.makeCopy(new Object[] {one.attributes(), one.predicates(), one.relation()})).readFields());
  }

  private static QuiverScan scanOf(String query) {
    return scans(spark.sql(query)).get(0);
  }

  /** Functions of the user's get what they would get without a cache, whether they take a field, a struct within one, or all of it. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void functionsGetWholeArguments(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    spark.udf().register("negated", new Negated(), DataTypes.LongType);
    spark.udf().register("text", new Text(), DataTypes.StringType);
    spark.udf().register("total", udaf(new Total(), Encoders.LONG()));
    for (String[] query : new String[][] {
        {"select negated(s.c.x) from %s where negated(t.k) < 0", "[s.c.x, t.k]"},
        {"select text(s.c) from %s where s.b is not null", "[s.b, s.c]"},
        {"select text(s), s.b from %s", ""},
        {"select t.k, total(t.t.u) from %s group by t.k", "[t.k, t.t.u]"}}) {
      Dataset<Row> df = spark.sql(String.format(query[0], "cached"));
      assertEquals(rows(spark.sql(String.format(query[0], "plain"))), rows(df));
      assertEquals(query[1], pathsRead(df), query[0]);
    }
    assertEquals(spark.table("plain").map(new Text(), Encoders.STRING()).collectAsList(),
        spark.table("cached").map(new Text(), Encoders.STRING()).collectAsList());
  }

  /** A function of a number. Classes, since lambdas of a test class do not always come back from their serial form. */
  private static final class Negated implements UDF1<Long, Long> {
    private static final long serialVersionUID = 1L;

    @Override
    public Long call(Long x) {
      return x == null ? null : -x;
    }
  }

  /** A function of all of a struct. */
  private static final class Text implements UDF1<Row, String>, MapFunction<Row, String> {
    private static final long serialVersionUID = 1L;

    @Override
    public String call(Row row) {
      return String.valueOf(row);
    }
  }

  /** A sum. */
  public static final class Total extends Aggregator<Long, Long, Long> {
    private static final long serialVersionUID = 1L;

    @Override
    public Long zero() {
      return 0L;
    }

    @Override
    public Long reduce(Long sum, Long value) {
      return sum + value;
    }

    @Override
    public Long merge(Long a, Long b) {
      return a + b;
    }

    @Override
    public Long finish(Long sum) {
      return sum;
    }

    @Override
    public Encoder<Long> bufferEncoder() {
      return Encoders.LONG();
    }

    @Override
    public Encoder<Long> outputEncoder() {
      return Encoders.LONG();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCacheOfACacheIsWhole(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    spark.sql("select s, id from cached where s.c.x > 3").createOrReplaceTempView("second");
    spark.catalog().cacheTable("second");
    assertEquals(rows(spark.sql("select s.b from plain where s.c.x > 3")), rows(spark.sql("select s.b from second")));
    assertEquals(rows(spark.sql("select s, id from plain where s.c.x > 3")), rows(spark.sql("select s, id from second")));
  }
}

package io.github.quiverspark.scan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.QuiverPlugin;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import org.apache.spark.sql.functions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.collection.Iterator;

/** Plans over cached relations, and what they give, with adaptive execution on and off. */
class QuiverScanTest {
  private static final String ADAPTIVE = "spark.sql.adaptive.enabled";
  private static final String AGGREGATES = "spark.quiver.scan.aggregates.enabled";
  private static SparkSession spark;

  @BeforeAll
  static void start() {
    spark = SparkSession.builder().master("local[2]").appName("QuiverScanTest")
        .config("spark.plugins", QuiverPlugin.class.getName())
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.inMemoryColumnarStorage.batchSize", "1000")
        .getOrCreate();
    assertEquals("on", spark.conf().get("spark.quiver.status"));
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  @AfterEach
  void forget() {
    spark.catalog().clearCache();
    for (String key : List.of(ADAPTIVE, "spark.quiver.enabled", "spark.quiver.scan.enabled", AGGREGATES,
        "spark.quiver.scan.filter.enabled", "spark.quiver.compression.codec",
        "spark.sql.inMemoryColumnarStorage.enableVectorizedReader", "spark.sql.autoBroadcastJoinThreshold",
        "spark.sql.codegen.wholeStage")) {
      spark.conf().unset(key);
    }
  }

  private static Dataset<Row> numbers() {
    return spark.range(0, 20000, 1, 2).selectExpr("id", "id % 7 as k", "cast(id as string) as s");
  }

  /** All nodes of a plan that was executed, stages entered. */
  private static void collect(SparkPlan plan, List<SparkPlan> into) {
    into.add(plan);
    if (plan instanceof AdaptiveSparkPlanExec) {
      collect(((AdaptiveSparkPlanExec) plan).executedPlan(), into);
    } else if (plan instanceof QueryStageExec) {
      collect(((QueryStageExec) plan).plan(), into);
    }
    Iterator<SparkPlan> children = plan.children().iterator();
    while (children.hasNext()) {
      collect(children.next(), into);
    }
  }

  static <T extends SparkPlan> List<T> find(Dataset<?> df, Class<T> type) {
    return find(df.queryExecution().executedPlan(), type);
  }

  static <T extends SparkPlan> List<T> find(SparkPlan plan, Class<T> type) {
    List<SparkPlan> nodes = new ArrayList<>();
    collect(plan, nodes);
    List<T> found = new ArrayList<>();
    for (SparkPlan node : nodes) {
      if (type.isInstance(node)) {
        found.add(type.cast(node));
      }
    }
    return found;
  }

  private static boolean fused(Dataset<?> df) {
    return find(df, ColumnarToRowExec.class).stream()
        .map(node -> node.child() instanceof InputAdapter ? ((InputAdapter) node.child()).child() : node.child())
        .anyMatch(child -> child instanceof QuiverScan);
  }

  private static long metric(Dataset<?> df, String name) {
    return find(df, QuiverScan.class).stream().mapToLong(scan -> scan.metrics().apply(name).value()).sum();
  }

  static String explain(Dataset<?> df) {
    return df.queryExecution().explainString(org.apache.spark.sql.execution.ExplainMode.fromString("simple"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void operatorsWithGeneratedCodeReadVectors(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    Dataset<Row> cached = numbers().cache();
    Dataset<Row> sums = sums(cached);
    List<Row> rows = sums.collectAsList();
    assertTrue(fused(sums), () -> explain(sums));
    cached.unpersist();
    assertEquals(sums(numbers()).collectAsList(), rows);
  }

  private static Dataset<Row> sums(Dataset<Row> df) {
    return df.where("id >= 15000").groupBy("k").agg(functions.sum("id"), functions.max("s")).orderBy("k");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void countReadsNoColumn(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    numbers().cache().count();
    Dataset<Row> count = numbers().groupBy().count();
    assertEquals(20000, count.collectAsList().get(0).getLong(0));
    assertEquals(1, find(count, QuiverAggregate.class).size());
    spark.conf().set(AGGREGATES, false);
    Dataset<Row> rows = numbers().groupBy().count();
    assertEquals(20000, rows.collectAsList().get(0).getLong(0));
    assertEquals(20000, metric(rows, "numOutputRows"));
    assertEquals(0, metric(rows, "bytesRead"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void operatorsThatNeedRowsGetRows(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    Dataset<Row> cached = numbers().cache();
    // called by reflection: Spark generates no code for this function
    Dataset<Row> interpreted = cached.selectExpr("java_method('java.lang.Math', 'max', id, 5L) as m");
    for (Dataset<Row> df : List.of(cached, cached.limit(5), cached.repartition(3), cached.sort("s"), interpreted)) {
      df.collectAsList();
      assertEquals(1, find(df, QuiverScan.class).size(), () -> explain(df));
      assertFalse(fused(df), () -> explain(df));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void prunedBatchesAreNotRead(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    Dataset<Row> cached = numbers().cache();
    assertEquals(20000, cached.count());
    Dataset<Row> fused = cached.where("id between 5500 and 5510").select("s");
    assertEquals(11, fused.collectAsList().size());
    assertTrue(fused(fused));
    Dataset<Row> rows = cached.where("id between 5500 and 5510").select("s");
    spark.conf().set("spark.sql.inMemoryColumnarStorage.enableVectorizedReader", false);
    assertEquals(11, rows.collectAsList().size());
    assertFalse(fused(rows));
    for (Dataset<Row> df : List.of(fused, rows)) {
      assertEquals(11, metric(df, "numOutputRows"));
      assertEquals(989, metric(df, "numRowsFiltered"));
      assertEquals(1, metric(df, "numBatches"));
      assertEquals(19, metric(df, "numBatchesPruned"));
      assertEquals(19000, metric(df, "numRowsPruned"));
      assertTrue(metric(df, "bytesSkipped") > metric(df, "bytesRead") && metric(df, "bytesRead") > 0);
    }
  }

  @Test
  void projectionReadsFewerBytes() {
    // plain buffers, so that the share of each column is known: what pack makes of such regular columns says nothing
    spark.conf().set("spark.quiver.compression.codec", "none");
    Dataset<Row> cached = numbers().cache();
    cached.count();
    Dataset<Row> one = cached.select("k").groupBy("k").count();
    Dataset<Row> all = cached.selectExpr("max(id)", "max(k)", "max(s)");
    one.collectAsList();
    all.collectAsList();
    assertTrue(metric(one, "bytesRead") > 0 && metric(one, "bytesRead") < metric(all, "bytesRead") / 2);
    assertEquals(metric(all, "bytesRead"), metric(one, "bytesRead") + metric(one, "bytesSkipped"));
    assertEquals(0, metric(all, "bytesSkipped"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void fieldLimitCountsWhatIsRead(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    spark.conf().set(AGGREGATES, false);
    String[] columns = new String[300];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = "id + " + i + " as c" + i;
    }
    Dataset<Row> cached = spark.range(0, 100, 1, 2).selectExpr(columns).cache();
    Dataset<Row> one = cached.selectExpr("sum(c299)");
    assertEquals(100 * 299 + 4950, one.collectAsList().get(0).getLong(0));
    assertTrue(fused(one), () -> explain(one));
    // as adaptive execution and the reuse of exchanges compare plans: Spark 3.5 asserts that what is below a ColumnarToRow is columnar
    Dataset<Row> same = cached.selectExpr("sum(c299)");
    same.collectAsList();
    assertEquals(find(one, ColumnarToRowExec.class).get(0).canonicalized(), find(same, ColumnarToRowExec.class).get(0).canonicalized());
    Dataset<Row> all = cached.where("c0 = 17");
    assertEquals(17 + 299, all.collectAsList().get(0).getLong(299));
    assertFalse(fused(all));
    assertTrue(explain(all).contains("rows only: more fields are read than spark.sql.codegen.maxFields=100"), () -> explain(all));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void planningLaunchesNoJob(boolean adaptive) throws Exception {
    spark.conf().set(ADAPTIVE, adaptive);
    AtomicInteger jobs = new AtomicInteger();
    SparkListener listener = new SparkListener() {
      @Override
      public void onJobStart(SparkListenerJobStart start) {
        jobs.incrementAndGet();
      }
    };
    spark.sparkContext().addSparkListener(listener);
    try {
      Dataset<Row> cached = numbers().cache();
      Dataset<Row> query = cached.where("id > 5").groupBy("k").count();
      explain(query);
      query.queryExecution().explainString(org.apache.spark.sql.execution.ExplainMode.fromString("formatted"));
      assertTrue(query.queryExecution().executedPlan().toString().contains("QuiverScan"));
      spark.sparkContext().listenerBus().waitUntilEmpty();
      assertEquals(0, jobs.get());
      query.collectAsList();
      spark.sparkContext().listenerBus().waitUntilEmpty();
      assertTrue(jobs.get() > 0);
    } finally {
      spark.sparkContext().removeSparkListener(listener);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void observedMetricsOfTheCachedPlanAreSeen(boolean adaptive) throws Exception {
    spark.conf().set(ADAPTIVE, adaptive);
    Observation observation = new Observation();
    Dataset<Row> cached = spark.range(10).toDF().observe(observation, functions.sum("id").as("total")).cache();
    Dataset<Row> query = cached.where("id >= 0").groupBy().count();
    assertEquals(10, query.collectAsList().get(0).getLong(0));
    assertEquals(1, find(query, QuiverScan.class).size());
    Map<String, Object> observed = observation.getAsJava();
    assertEquals(45L, observed.get("total"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void equalScansShareAnExchange(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    spark.conf().set("spark.sql.autoBroadcastJoinThreshold", -1);
    Dataset<Row> grouped = numbers().cache().groupBy("k").agg(functions.sum("id").as("total"));
    Dataset<Row> joined = grouped.as("a").join(grouped.as("b"), functions.expr("a.k = b.k"));
    assertEquals(7, joined.collectAsList().size());
    assertFalse(find(joined, ReusedExchangeExec.class).isEmpty(), () -> joined.queryExecution().executedPlan().toString());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void unionsSelfJoinsAndCachesOfCaches(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    Dataset<Row> cached = numbers().cache();
    Dataset<Row> union = cached.union(cached).groupBy("k").agg(functions.sum("id")).orderBy("k");
    List<Row> unionRows = union.collectAsList();
    Dataset<Row> join = cached.as("a").join(cached.as("b"), functions.expr("a.id = b.k")).groupBy("a.s").count().orderBy("s");
    List<Row> joinRows = join.collectAsList();
    Dataset<Row> again = cached.where("k = 3").cache();
    assertEquals(2857, again.count());
    Dataset<Row> coalesced = again.coalesce(1).selectExpr("max(id)", "min(s)");
    List<Row> coalescedRows = coalesced.collectAsList();
    spark.catalog().clearCache();
    Dataset<Row> plain = numbers();
    assertEquals(plain.union(plain).groupBy("k").agg(functions.sum("id")).orderBy("k").collectAsList(), unionRows);
    assertEquals(plain.as("a").join(plain.as("b"), functions.expr("a.id = b.k")).groupBy("a.s").count().orderBy("s").collectAsList(),
        joinRows);
    assertEquals(plain.where("k = 3").selectExpr("max(id)", "min(s)").collectAsList(), coalescedRows);
  }

  @ParameterizedTest
  @ValueSource(strings = {"spark.quiver.enabled", "spark.quiver.scan.enabled"})
  void stepsAsideAtRunTime(String key) {
    Dataset<Row> cached = numbers().cache();
    assertEquals(20000, cached.count());
    spark.conf().set(key, false);
    for (boolean adaptive : new boolean[] {true, false}) {
      spark.conf().set(ADAPTIVE, adaptive);
      Dataset<Row> query = cached.where("id = 77");
      assertEquals(77, query.collectAsList().get(0).getLong(0));
      assertTrue(find(query, QuiverScan.class).isEmpty());
      assertEquals(1, find(query, SteppedAsideScan.class).size());
      String text = query.queryExecution().executedPlan().toString();
      assertTrue(text.contains("InMemoryTableScan") && text.contains("Quiver steps aside: " + key + " is false"), text);
    }
  }

  @Test
  void namesOfTablesAreShown() {
    numbers().createOrReplaceTempView("numbers");
    spark.sql("cache table numbers");
    Dataset<Row> query = spark.sql("select max(id) from numbers");
    assertTrue(explain(query).contains("QuiverScan In-memory table numbers"), () -> explain(query));
    assertEquals(19999, query.collectAsList().get(0).getLong(0));
  }

  @Test
  void withoutGeneratedCodeRowsAreRead() {
    spark.conf().set("spark.sql.codegen.wholeStage", false);
    Dataset<Row> query = numbers().cache().where("id = 5");
    assertEquals("5", query.collectAsList().get(0).getString(2));
    assertFalse(fused(query));
  }

  @Test
  void scalarSubqueriesPrune() {
    Dataset<Row> cached = numbers().cache();
    cached.count();
    cached.createOrReplaceTempView("numbers");
    Dataset<Row> query = spark.sql("select s from numbers where id > (select max(id) - 10 from numbers)");
    assertEquals(10, query.collectAsList().size());
    QuiverScan outer = find(query, QuiverScan.class).get(0);
    assertNotNull(outer);
    assertEquals(19, outer.metrics().apply("numBatchesPruned").value());
  }

  @Test
  void sparksOwnScansStay() {
    assertTrue(find(spark.range(3).toDF(), InMemoryTableScanExec.class).isEmpty());
    assertTrue(find(numbers().cache().where("id = 5"), InMemoryTableScanExec.class).isEmpty());
  }
}

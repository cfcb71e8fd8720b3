package io.github.quiverspark.scan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.QuiverPlugin;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Aggregations over cached relations that statistics answer, against the same without the cache. Sums are in {@link QuiverSumTest}. */
class QuiverAggregateTest {
  private static final String ADAPTIVE = "spark.sql.adaptive.enabled";
  private static final List<String> EXACT = List.of("tinyint", "smallint", "int", "bigint", "decimal(9,2)", "decimal(18,0)",
      "decimal(38,6)", "boolean", "date", "timestamp", "timestamp_ntz", "interval day to second", "interval year to month");
  private static final List<String> INEXACT = List.of("string", "double", "float");
  private static SparkSession spark;

  @BeforeAll
  static void start() {
    spark = SparkSession.builder().master("local[2]").appName("QuiverAggregateTest")
        .config("spark.plugins", QuiverPlugin.class.getName())
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.ansi.enabled", "false")
        .config("spark.sql.inMemoryColumnarStorage.batchSize", "300")
        .getOrCreate();
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  @AfterEach
  void forget() {
    spark.catalog().clearCache();
    spark.conf().unset(ADAPTIVE);
    spark.conf().unset("spark.quiver.scan.aggregates.enabled");
  }

  /** A column of every type, with nulls, and some batches of nulls only. */
  private static Dataset<Row> random(int rows) {
    List<String> columns = new ArrayList<>();
    List<String> types = new ArrayList<>(EXACT);
    types.addAll(INEXACT);
    for (int i = 0; i < types.size(); i++) {
      String type = types.get(i);
      String value = "hash(id, " + i + ")";
      if (type.startsWith("date")) {
        value = "date_add(date'1970-01-01', " + value + " % 1000000)";
      } else if (type.startsWith("timestamp")) {
        value = "cast(timestamp_micros(xxhash64(id, " + i + ") % 100000000000000000) as " + type + ")";
      } else if (type.equals("interval day to second")) {
        value = "make_dt_interval(" + value + " % 1000, 0, 0, 0.000001)";
      } else if (type.equals("interval year to month")) {
        value = "make_ym_interval(0, " + value + " % 100000)";
      } else if (type.equals("decimal(38,6)")) {
        value = "cast(xxhash64(id, " + i + ") as decimal(38,6)) * 1000000000";
      } else if (type.equals("boolean")) {
        value = value + " % 2 = 0";
      }
      columns.add("if(hash(id, -" + i + ") % 4 = 0 or id div 300 = " + i % 8 + ", null, cast(" + value + " as " + type + ")) c" + i);
    }
    columns.add("id not_null");
    return spark.range(0, rows, 1, 3).selectExpr(columns.toArray(new String[0]));
  }

  private static List<String> aggregates(int from, int to) {
    List<String> out = new ArrayList<>(List.of("count(*)", "count(not_null)", "min(not_null)"));
    for (int i = from; i < to; i++) {
      out.add("count(c" + i + ")");
      out.add("min(c" + i + ")");
      out.add("max(c" + i + ")");
    }
    return out;
  }

  private static Dataset<Row> query(Dataset<Row> df, List<String> aggregates) {
    return df.selectExpr(aggregates.toArray(new String[0]));
  }

  private static List<QuiverAggregate> answered(Dataset<Row> df) {
    return QuiverScanTest.find(df, QuiverAggregate.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyTypeThatHasExactBounds(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    for (int rows : new int[] {0, 1, 299, 5000}) {
      for (String level : List.of("MEMORY_ONLY", "DISK_ONLY")) {
        List<Row> expected = query(random(rows), aggregates(0, EXACT.size())).collectAsList();
        Dataset<Row> cached = random(rows).persist(StorageLevel.fromString(level));
        for (int i = 0; i < 2; i++) {
          Dataset<Row> df = query(cached, aggregates(0, EXACT.size()));
          assertEquals(expected, df.collectAsList());
          assertEquals(1, answered(df).size());
          assertEquals(0, QuiverScanTest.find(df, QuiverScan.class).size());
        }
        cached.unpersist(true);
      }
    }
  }

  /** What bounds do not say exactly is read, and so is what is not asked of the relation as a whole. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everythingElseIsRead(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    List<Dataset<Row>> queries = new ArrayList<>();
    for (Dataset<Row> df : List.of(random(3000), random(3000).cache())) {
      for (int i = 0; i < INEXACT.size(); i++) {
        queries.add(query(df, aggregates(EXACT.size() + i, EXACT.size() + i + 1)));
      }
      queries.add(df.where("c2 > 100").selectExpr("max(c3)", "count(*)"));
      queries.add(df.groupBy("c7").agg(org.apache.spark.sql.functions.max("c3")).orderBy("c7"));
      queries.add(df.selectExpr("max(c3 + 1)"));
      queries.add(df.selectExpr("max(c3)", "sum(c3 + 1)"));
      queries.add(df.selectExpr("count(distinct c0)"));
      queries.add(df.selectExpr("count(c0, c1)"));
      queries.add(df.selectExpr("count(*) filter (where c0 > 3)"));
      queries.add(df.limit(10).selectExpr("count(c0)"));
      queries.add(df.sample(0.5, 7).selectExpr("max(not_null)"));
    }
    int half = queries.size() / 2;
    for (int i = 0; i < half; i++) {
      Dataset<Row> cached = queries.get(half + i);
      // built before the relation was cached, executed without it
      assertEquals(queries.get(i).collectAsList(), cached.collectAsList());
      assertTrue(answered(cached).isEmpty(), cached.queryExecution()::toString);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void amongOtherOperators(boolean adaptive) {
    spark.conf().set(ADAPTIVE, adaptive);
    String union = "select max(c2) m from r union all select max(c2) from r union all select min(c2) from r order by m";
    String scalar = "select c7, count(*) from r where c2 >= (select max(c2) - 1000000000 from r) group by c7 order by c7";
    List<List<Row>> expected = new ArrayList<>();
    random(3000).createOrReplaceTempView("r");
    for (String sql : List.of(union, scalar)) {
      expected.add(spark.sql(sql).collectAsList());
    }
    spark.sql("cache table r");
    Dataset<Row> unions = spark.sql(union);
    assertEquals(expected.get(0), unions.collectAsList());
    assertTrue(answered(unions).size() >= 2, unions.queryExecution()::toString);
    assertEquals(expected.get(1), spark.sql(scalar).collectAsList());
    spark.sql("uncache table r");
  }

  @Test
  void itCountsBatchesAndCanBeSwitchedOff() {
    Dataset<Row> cached = random(3000).cache();
    Dataset<Row> df = cached.selectExpr("count(c1)", "max(c2)");
    List<Row> answer = df.collectAsList();
    assertEquals(12, answered(df).get(0).metrics().apply("numBatches").value());
    String plan = QuiverScanTest.explain(df);
    assertTrue(plan.contains("QuiverAggregate [partial_count(c1"), plan);
    spark.conf().set("spark.quiver.scan.aggregates.enabled", false);
    Dataset<Row> read = cached.selectExpr("count(c1)", "max(c2)");
    assertEquals(answer, read.collectAsList());
    assertTrue(answered(read).isEmpty());
  }
}

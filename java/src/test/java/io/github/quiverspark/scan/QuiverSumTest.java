package io.github.quiverspark.scan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
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

/** Sums and averages that the library adds up while it decodes, against the same without the cache. */
class QuiverSumTest {
  private static final String ADAPTIVE = "spark.sql.adaptive.enabled";
  private static final String ANSI = "spark.sql.ansi.enabled";
  private static final String CODEC = "spark.quiver.compression.codec";
  private static final String AGGREGATES = "spark.quiver.scan.aggregates.enabled";
  private static final String[] NUMBERS = {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)", "decimal(9,0)",
      "decimal(11,3)", "decimal(18,4)", "decimal(19,4)", "decimal(28,10)"};
  private static SparkSession spark;

  @BeforeAll
  static void start() {
    spark = SparkSession.builder().master("local[2]").appName("QuiverSumTest")
        .config("spark.plugins", QuiverPlugin.class.getName())
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "3")
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
    for (String key : List.of(ADAPTIVE, ANSI, CODEC, AGGREGATES)) {
      spark.conf().unset(key);
    }
  }

  /** Values of a type, from their whole range where sums of 5000 of them stay within theirs. */
  private static String random(String type, int seed) {
    String hash = "xxhash64(id, " + seed + ")";
    switch (type) {
      case "tinyint":
        return "cast(" + hash + " % 128 as tinyint)";
      case "smallint":
        return "cast(" + hash + " % 32768 as smallint)";
      case "int":
        return "cast(" + hash + " % 2147483648 as int)";
      case "bigint":
        return hash + " div 8192";
      case "float":
      case "double":
        return "cast(" + hash + " as " + type + ") * pow(10, id % 60 - 40)";
      default:
        int comma = type.indexOf(',');
        int digits = Integer.parseInt(type.substring(8, comma)) - Integer.parseInt(type.substring(comma + 1, type.length() - 1));
        String value = "cast(" + hash + " as decimal(38,10)) / " + (digits > 18 ? "7.3" : "1" + "0".repeat(19 - digits));
        return "cast(" + value + " as " + type + ")";
    }
  }

  /** A column of every type, with nulls, batches of nulls only, and two columns without a null; c0, c1, … in the order of the types. */
  private static Dataset<Row> numbers(int rows) {
    List<String> columns = new ArrayList<>();
    for (int i = 0; i < NUMBERS.length; i++) {
      String value = "cast(" + random(NUMBERS[i], i) + " as " + NUMBERS[i] + ")";
      columns.add("if(hash(id, -" + (i + 1) + ") % 4 = 0 or id div 300 = " + i % 8 + ", null, " + value + ") c" + i);
    }
    columns.add("id i");
    columns.add("cast(id as double) / 3 d");
    columns.add("cast(null as bigint) no_bigint");
    columns.add("cast(null as double) no_double");
    columns.add("cast(null as decimal(12,2)) no_decimal");
    return spark.range(0, rows, 1, 3).selectExpr(columns.toArray(new String[0]));
  }

  private static String[] sums() {
    List<String> out = new ArrayList<>();
    for (int i = 0; i < NUMBERS.length; i++) {
      out.add("sum(c" + i + ")");
      out.add("avg(c" + i + ")");
    }
    for (String name : List.of("i", "d", "no_bigint", "no_double", "no_decimal")) {
      out.add("sum(" + name + ")");
      out.add("avg(" + name + ")");
    }
    return out.toArray(new String[0]);
  }

  private static List<QuiverAggregate> answered(Dataset<Row> df) {
    return QuiverScanTest.find(df, QuiverAggregate.class);
  }

  /** The query over the cached relation gives what it gives without a cache, bit by bit, and from this node alone. */
  private static void assertAnswered(Dataset<Row> df, String... aggregates) {
    List<String> expected = exact(df.selectExpr(aggregates).collectAsList());
    df.cache();
    Dataset<Row> query = df.selectExpr(aggregates);
    assertEquals(expected, exact(query.collectAsList()), () -> String.join(", ", aggregates));
    assertEquals(1, answered(query).size(), query.queryExecution()::toString);
    assertEquals(0, QuiverScanTest.find(query, QuiverScan.class).size(), query.queryExecution()::toString);
    df.unpersist(true);
  }

  private static List<String> exact(List<Row> rows) {
    List<String> out = new ArrayList<>();
    for (Row row : rows) {
      for (int i = 0; i < row.size(); i++) {
        Object v = row.get(i);
        out.add(v instanceof Double ? Long.toHexString(Double.doubleToLongBits((Double) v)) : String.valueOf(v));
      }
    }
    return out;
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "lz4", "zstd", "pack"})
  void everyNumericType(String codec) {
    spark.conf().set(CODEC, codec);
    for (boolean adaptive : new boolean[] {true, false}) {
      spark.conf().set(ADAPTIVE, adaptive);
      for (int rows : new int[] {0, 1, 299, 5000}) {
        spark.conf().set(ANSI, rows % 2 == 0 == adaptive);
        assertAnswered(numbers(rows), sums());
      }
    }
  }

  @Test
  void fromDisk() {
    List<String> expected = exact(numbers(5000).selectExpr(sums()).collectAsList());
    for (String level : List.of("DISK_ONLY", "MEMORY_ONLY_SER", "OFF_HEAP")) {
      Dataset<Row> cached = numbers(5000).persist(StorageLevel.fromString(level));
      for (int i = 0; i < 2; i++) {
        Dataset<Row> query = cached.selectExpr(sums());
        assertEquals(expected, exact(query.collectAsList()), level);
        assertEquals(1, answered(query).size());
      }
      cached.unpersist(true);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"float", "double"})
  void floatingPointIsAddedInTheOrderOfRows(String type) {
    for (String value : List.of("if(id = 700, 1, if(id % 2 = 0, 1e30, -1e30))", "double('-0')", "if(id = 500, double('NaN'), 1)",
        "if(id = 500, double('Infinity'), if(id = 900, double('-Infinity'), 1))", "if(id = 0, double('Infinity'), 1e300)",
        "pow(2, 53) + id", "1e308")) {
      assertAnswered(spark.range(0, 1000, 1, 1).selectExpr("cast(" + value + " as " + type + ") v"), "sum(v)", "avg(v)");
    }
  }

  /** Spark's aggregates keep a sum of their own in every partition and add these in the end; an overflow may happen in either. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void bigintsThatOverflow(boolean ansi) {
    spark.conf().set(ANSI, ansi);
    String max = "9223372036854775807";
    String least = "(-9223372036854775807 - 1)";
    for (String value : List.of(
        "if(id = 0, " + max + ", if(id = 999, 1, 0))", // in the last row
        "if(id = 0, " + least + ", if(id = 999, -1, 0))",
        "if(id = 0, " + max + ", if(id = 1, 1, if(id = 2, -5, 0)))", // in between only
        "if(id = 0, " + max + ", if(id = 1, -5, if(id = 2, 5, 0)))", "if(id = 0, " + least + ", 0)", // not at all
        "if(id in (0, 600), 6000000000000000000, if(id = 700, -6000000000000000000, 0))", // where batches meet
        "if(id = 3, 1, " + max + ")", "if(id % 2 = 0, " + max + ", " + least + ")")) {
      for (String column : List.of(value + " v", "if(id = 5, null, " + value + ") v")) {
        for (int partitions : new int[] {1, 2}) {
          Dataset<Row> df = spark.range(0, 1000, 1, partitions).selectExpr(column);
          assertSameOutcome(df, "sum(v)");
        }
      }
    }
  }

  private static void assertSameOutcome(Dataset<Row> df, String aggregate) {
    String expected = outcome(df.selectExpr(aggregate));
    df.cache();
    Dataset<Row> query = df.selectExpr(aggregate);
    assertEquals(expected, outcome(query), df.queryExecution()::toString);
    assertEquals(1, answered(query).size(), query.queryExecution()::toString);
    df.unpersist(true);
  }

  /** The answer, or the error at the bottom of what was thrown. */
  private static String outcome(Dataset<Row> query) {
    try {
      return query.collectAsList().toString();
    } catch (Exception e) {
      Throwable cause = e;
      while (cause.getCause() != null && cause.getCause() != cause) {
        cause = cause.getCause();
      }
      String message = cause.getMessage();
      assertTrue(cause instanceof ArithmeticException && message.toLowerCase().contains("overflow"), e::toString);
      return cause.getClass() + " " + message.split("\n")[0].split(" SQLSTATE")[0];
    }
  }

  @Test
  void decimalsAtTheirBounds() {
    for (int precision : new int[] {1, 8, 9, 11, 18, 19, 28}) {
      String nines = "9".repeat(precision);
      for (String value : List.of(nines, "-" + nines)) {
        Dataset<Row> df = spark.range(0, 1000, 1, 2).selectExpr("cast(" + value + " as decimal(" + precision + ",0)) v",
            "cast(" + value + " as decimal(" + precision + ",0)) / 1 * if(id % 2 = 0, 1, null) q");
        assertAnswered(df.select("v"), "sum(v)", "avg(v)");
      }
    }
  }

  @Test
  void lengthsOfTextAndBinary() {
    String[] texts = {"'abc'", "repeat('x', cast(id % 300 as int))", "concat('ä€', char(id % 128), '😀')",
        "if(id % 3 = 0, null, '日本語')",
        "cast(unhex('E282') as string)", "cast(unhex('FFFEC080F5808080C2') as string)",
        "cast(unhex(concat('F09F98', hex(id % 256))) as string)", "cast(unhex(hex(id * 7919)) as string)", "cast(null as string)"};
    for (String text : texts) {
      assertAnswered(spark.range(0, 1000, 1, 2).selectExpr(text + " s", "cast(" + text + " as binary) b"),
          "sum(length(s))", "sum(length(b))", "count(s)");
    }
  }

  @Test
  void fieldsOfStructs() {
    String a = "if(id % 5 = 0, null, id)";
    String s = "struct(" + a + " a, cast(id as double) / 7 d, array(id) l, cast(" + a + " as string) t,"
        + " if(id % 7 = 0, null, struct(cast(id as decimal(12,2)) m, if(id % 11 = 0, null, cast(id as int)) n)) inner)";
    Dataset<Row> df = spark.range(0, 2000, 1, 3).selectExpr("id", "array(id, id) first", "if(id % 3 = 0, null, " + s + ") s",
        "struct(" + a + " a, map(id, id) m, id z) never");
    String[] all = {"count(s.a)", "sum(s.a)", "avg(s.a)", "sum(s.d)", "sum(length(s.t))", "count(s.inner)", "count(s.inner.n)",
        "sum(s.inner.m)", "avg(s.inner.m)", "sum(s.inner.n)", "sum(never.a)", "sum(never.z)", "count(never.a)", "count(s)", "sum(id)",
        "count(*)", "min(id)", "count(first)", "count(never.m)"};
    assertAnswered(df, all);
    for (String one : all) {
      assertAnswered(df, one);
    }
  }

  @Test
  void throughProjections() {
    Dataset<Row> df = numbers(3000);
    List<Row> expected = df.selectExpr("c3 as x", "i", "c5 as y").selectExpr("x as z", "y").selectExpr("sum(z)", "sum(y)", "avg(z)")
        .collectAsList();
    df.cache();
    Dataset<Row> query = df.selectExpr("c3 as x", "i", "c5 as y").selectExpr("x as z", "y").selectExpr("sum(z)", "sum(y)", "avg(z)");
    assertEquals(expected, query.collectAsList());
    assertEquals(1, answered(query).size(), query.queryExecution()::toString);
  }

  /** What is no column or field added up as it is, or grouped, filtered or distinct: Spark adds that up. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everythingElseIsRead(boolean ansi) {
    spark.conf().set(ANSI, ansi);
    Dataset<Row> df = numbers(3000).selectExpr("*", "cast(c11 as decimal(38,10)) w", "array(i, c3) l", "cast(c2 as string) s",
        "make_dt_interval(0, 0, 0, i) v");
    String[] aggregates = {"sum(c3 + 1)", "sum(l[0])", "sum(w)", "avg(w)", "sum(distinct c2)", "sum(c3) filter (where c0 > 3)",
        "try_sum(w)", "sum(cast(c3 as int))", "sum(cast(s as double))", "sum(char_length(s) + 1)", "sum(v)", "sum(size(l))",
        "stddev(c5)", "sum(coalesce(c3, 0))", "sum(cast(c8 as bigint))", "sum(c3); sum(c3 + 1)"};
    List<String> expected = new ArrayList<>();
    List<List<String>> filtered = new ArrayList<>();
    for (String aggregate : aggregates) {
      expected.add(outcomeOf(df.selectExpr(aggregate.split("; "))));
    }
    for (int i = 0; i < 3; i++) {
      filtered.add(exact(reduced(df, i).collectAsList()));
    }
    df.cache();
    for (int i = 0; i < aggregates.length; i++) {
      Dataset<Row> query = df.selectExpr(aggregates[i].split("; "));
      assertEquals(expected.get(i), outcomeOf(query), aggregates[i]);
      assertTrue(answered(query).isEmpty(), query.queryExecution()::toString);
    }
    for (int i = 0; i < 3; i++) {
      Dataset<Row> query = reduced(df, i);
      assertEquals(filtered.get(i), exact(query.collectAsList()));
      assertTrue(answered(query).isEmpty(), query.queryExecution()::toString);
    }
  }

  private static String outcomeOf(Dataset<Row> query) {
    try {
      return exact(query.collectAsList()).toString();
    } catch (Exception e) {
      assertTrue(e.toString().contains("CAST_OVERFLOW"), e::toString);
      return "CAST_OVERFLOW";
    }
  }

  private static Dataset<Row> reduced(Dataset<Row> df, int i) {
    return i == 0 ? df.where("c0 > 3").selectExpr("sum(c3)") : i == 1 ? df.groupBy("c0").sum("c3").orderBy("c0")
        : df.limit(100).selectExpr("sum(i)");
  }

  /** Casts to wider integers and to double are what sums and averages do themselves. */
  @Test
  void castsThatChangeNothing() {
    assertAnswered(numbers(3000), "sum(cast(c0 as int))", "sum(cast(c2 as bigint))", "sum(cast(c1 as double))", "avg(cast(c4 as double))",
        "sum(cast(cast(c0 as smallint) as bigint))");
  }

  @Test
  void itCountsWhatItReadsAndCanBeSwitchedOff() {
    Dataset<Row> cached = numbers(3000).cache();
    Dataset<Row> query = cached.selectExpr("sum(i)", "count(c1)");
    List<Row> answer = query.collectAsList();
    QuiverAggregate node = answered(query).get(0);
    assertEquals(12, node.metrics().apply("numBatches").value());
    assertTrue(node.metrics().apply("bytesRead").value() > 0, node.metrics()::toString);
    assertTrue(node.metrics().apply("bytesSkipped").value() > node.metrics().apply("bytesRead").value(), node.metrics()::toString);
    spark.conf().set(AGGREGATES, false);
    Dataset<Row> read = cached.selectExpr("sum(i)", "count(c1)");
    assertEquals(answer, read.collectAsList());
    assertTrue(answered(read).isEmpty());
  }

  @Test
  void aKilledQueryStops() {
    Dataset<Row> cached = numbers(3000).cache();
    cached.count();
    spark.sparkContext().setJobGroup("killed", "is killed", true);
    try {
      new Thread(() -> {
        try {
          Thread.sleep(20);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
        spark.sparkContext().cancelJobGroup("killed");
      }).start();
      Exception e = assertThrows(Exception.class, () -> {
        for (int i = 0; i < 1000; i++) {
          cached.selectExpr("sum(i)", "avg(d)").collectAsList();
        }
      });
      assertTrue(e.toString().toLowerCase().contains("cancel"), e::toString);
    } finally {
      spark.sparkContext().clearJobGroup();
    }
    assertEquals(3000L * 2999 / 2, cached.selectExpr("sum(i)").collectAsList().get(0).getLong(0));
  }
}

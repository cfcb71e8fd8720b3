package io.github.quiverspark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.nativelib.NativeLoader;
import io.github.quiverspark.testing.RandomRows;
import io.github.quiverspark.testing.Schemas;
import io.github.quiverspark.vector.ArrayVector;
import io.github.quiverspark.vector.LongVector;
import io.github.quiverspark.vector.NullVector;
import io.github.quiverspark.vector.StringVector;
import io.github.quiverspark.write.WriteCounters;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.columnar.CachedBatchSerializer;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.columnar.InMemoryRelation$;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.jdk.javaapi.CollectionConverters;

/** The serializer inside Spark, in local mode and without the plugin. */
class SparkCacheTest {
  @TempDir
  static Path directory;
  private static SparkSession spark;

  @BeforeAll
  static void start() {
    NativeLoader.load();
    InMemoryRelation$.MODULE$.clearSerializer();
    SparkConf conf = new SparkConf(false).setMaster("local[2]").setAppName("SparkCacheTest")
        .set("spark.ui.enabled", "false")
        .set("spark.sql.shuffle.partitions", "3")
        .set("spark.sql.inMemoryColumnarStorage.batchSize", "100")
        .set("spark.sql.warehouse.dir", directory.resolve("warehouse").toString())
        .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.sql.cache.serializer", QuiverCachedBatchSerializer.class.getName());
    spark = SparkSession.builder().config(conf).getOrCreate();
    spark.sparkContext().setLogLevel("OFF");
  }

  @AfterAll
  static void stop() {
    spark.stop();
    InMemoryRelation$.MODULE$.clearSerializer();
  }

  @AfterEach
  void forget() throws Exception {
    spark.catalog().clearCache();
    // The last task's listeners may still run when its job has ended.
    for (int i = 0; i < 100 && Native.nativeBytes() != 0; i++) {
      Thread.sleep(20);
    }
    assertEquals(0, Native.nativeBytes());
  }

  private static Dataset<Row> dataset(StructType schema, List<InternalRow> rows) {
    List<InternalRow> unsafe = new ArrayList<>();
    UnsafeProjection p = UnsafeProjection.create(schema);
    for (InternalRow r : rows) {
      unsafe.add(p.apply(r).copy());
    }
    RDD<InternalRow> rdd = spark.sparkContext().parallelize(CollectionConverters.asScala(unsafe).toSeq(), 3,
        scala.reflect.ClassTag$.MODULE$.apply(InternalRow.class));
    return ((org.apache.spark.sql.classic.SparkSession) spark).internalCreateDataFrame(rdd, schema, false);
  }

  /** Rows as text that tells every value, nested ones too. */
  private static List<String> text(Dataset<Row> rows) {
    List<String> out = new ArrayList<>();
    for (Object r : (Object[]) rows.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))").collect()) {
      out.add(((Row) r).getString(0));
    }
    return out;
  }

  private static InMemoryRelation relation(Dataset<Row> cached) {
    return (InMemoryRelation) ((org.apache.spark.sql.classic.Dataset<Row>) cached).queryExecution().withCachedData().collectLeaves().head();
  }

  private static List<CachedBatch> batches(Dataset<Row> cached) {
    CachedBatch[] all = (CachedBatch[]) relation(cached).cacheBuilder().cachedColumnBuffers().collect();
    return List.of(all);
  }

  @Test
  void rowsComeBackByEveryReader() {
    StructType schema = Schemas.common();
    Dataset<Row> df = dataset(schema, new RandomRows(1, 0.2).rows(schema, 1000));
    List<String> expected = text(df);
    df.cache();
    assertEquals(1000, df.count());
    for (CachedBatch b : batches(df)) {
      assertTrue(b instanceof QuiverCachedBatch, b.getClass().getName());
      assertTrue(b.numRows() <= 100);
    }
    assertEquals(expected, text(df));
    assertEquals(df.schema(), spark.table(name(df)).schema());
    // Parents that take columns: a union of caches under generated code.
    List<String> twice = new ArrayList<>(expected);
    twice.addAll(expected);
    assertEquals(twice, text(df.union(df)));
    spark.conf().set("spark.sql.codegen.wholeStage", "false");
    try {
      assertEquals(twice, text(df.union(df)));
      assertEquals(expected, text(df));
    } finally {
      spark.conf().unset("spark.sql.codegen.wholeStage");
    }
    assertEquals(1000, relation(df).computeStats().rowCount().get().toInt());
  }

  private static String name(Dataset<Row> df) {
    df.createOrReplaceTempView("t");
    return "t";
  }

  @ParameterizedTest
  @ValueSource(strings = {"false", "true"})
  void parquetIsCachedByColumns(String offHeap) {
    String path = directory.resolve("parquet" + offHeap).toString();
    StructType schema = Schemas.of("boolean", "tinyint", "int", "bigint", "double", "decimal(7,2)", "decimal(18,3)", "decimal(38,10)",
        "string", "binary", "date", "timestamp", "array<string>", "map<string,int>", "struct<a:int,b:array<struct<c:string,d:double>>>");
    dataset(schema, new RandomRows(2, 0.2).rows(schema, 900)).selectExpr("*", "c2 % 3 as p").write().partitionBy("p").parquet(path);
    spark.conf().set("spark.sql.columnVector.offheap.enabled", offHeap);
    try {
      Dataset<Row> df = spark.read().parquet(path);
      List<String> expected = text(df);
      df.cache();
      assertTrue(relation(df).cacheBuilder().cachedPlan().supportsColumnar());
      assertEquals(expected, text(df));
      // Our own vectors as the input of another cache.
      Dataset<Row> again = df.select("c8", "c14", "p").union(df.select("c8", "c14", "p"));
      List<String> both = text(again);
      again.cache();
      assertEquals(both, text(again));
    } finally {
      spark.conf().unset("spark.sql.columnVector.offheap.enabled");
    }
  }

  @Test
  void adaptivePlansAreReadAsWhatTheyGive() {
    Dataset<Row> counts = spark.range(0, 3000, 1, 3).selectExpr("id % 70 as k", "cast(id as string) as s").groupBy("k").count().cache();
    assertEquals(70, counts.count());
    SparkPlan plan = relation(counts).cachedPlan();
    assertTrue(plan instanceof AdaptiveSparkPlanExec, plan.toString());
    assertFalse(plan.supportsColumnar());
    assertFalse(plan.toString().contains("RowToColumnar"), plan.toString());
    // a union of caches gives vectors, and is adaptive since the plans below it are
    Dataset<Row> twice = counts.union(counts).cache();
    assertEquals(140, twice.count());
    plan = relation(twice).cachedPlan();
    assertTrue(plan instanceof AdaptiveSparkPlanExec, plan.toString());
    assertTrue(plan.supportsColumnar());
    assertFalse(plan.toString().contains("RowToColumnar"), plan.toString());
    assertEquals(6000, twice.selectExpr("sum(count)").first().getLong(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"MEMORY_ONLY", "MEMORY_ONLY_SER", "DISK_ONLY", "MEMORY_AND_DISK_SER"})
  void storageLevels(String level) {
    Dataset<Row> df = spark.range(0, 3000, 1, 3).selectExpr("id", "cast(id as string) s", "cast(id as decimal(20,2)) d");
    df.persist(StorageLevel.fromString(level));
    for (int i = 0; i < 2; i++) {
      assertEquals(3000, df.count());
      assertEquals(10, df.where("s like '29_9'").count());
    }
    assertEquals("999", df.selectExpr("max(s)").first().getString(0));
  }

  @Test
  void partialConsumptionReleasesMemory() {
    Dataset<Row> df = spark.range(0, 10_000, 1, 2).selectExpr("id", "repeat(cast(id as string), 5) s").cache();
    assertEquals(10_000, df.count());
    assertEquals(7, df.limit(7).collectAsList().size());
    assertEquals(7, df.union(df).limit(7).collectAsList().size());
    assertEquals(20, df.as("a").crossJoin(df.as("b")).limit(20).collectAsList().size());
  }

  @Test
  void aFailedTaskReleasesMemoryAndTheRetryIsRight() {
    FAIL.set(true);
    Dataset<Long> df = spark.range(0, 5000, 1, 2).map((MapFunction<Long, Long>) SparkCacheTest::failOnce, Encoders.LONG());
    df.cache();
    assertThrows(Exception.class, df::count);
    assertEquals(5000, df.count());
    assertEquals(4999L, df.selectExpr("max(value)").first().getLong(0));
  }

  private static final AtomicBoolean FAIL = new AtomicBoolean();

  private static Long failOnce(Long id) {
    if (id == 2300 && FAIL.getAndSet(false)) {
      throw new IllegalStateException("as the test wants it");
    }
    return id;
  }

  @Test
  void lastRowSurvivesHasNextAndStringsSurviveBatches() {
    Dataset<Row> df = spark.range(0, 2500, 1, 3).selectExpr("id", "concat('k', lpad(cast(id as string), 5, '0')) s").cache();
    Row r = df.selectExpr("max(s)", "min(s)", "first(s)", "last(s)", "max_by(s, id)").first();
    assertEquals("[k02499,k00000,k00000,k02499,k02499]", r.toString());
    Row u = df.union(df).selectExpr("max(s)", "min(s)", "max_by(s, id)").first();
    assertEquals("[k02499,k00000,k02499]", u.toString());
    assertEquals(2500, df.coalesce(1).javaRDD().zipWithIndex().filter(t -> t._1().getLong(0) == t._2()).count());
    assertEquals("k00000", df.orderBy("s").first().getString(1));
  }

  @Test
  void duplicateNamesAndRepeatedColumns() {
    Dataset<Row> df = spark.range(0, 500, 1, 1).selectExpr("id as a", "id * 2 as a", "id * 3 as a", "id + 1 as b").cache();
    assertEquals(500, df.count());
    assertEquals("[1,2,3,2]", df.collectAsList().get(1).toString());
    assertEquals("[11,11,10]", df.toDF("x", "y", "z", "b").selectExpr("b", "b", "x").collectAsList().get(10).toString());
  }

  @Test
  void encodersCountTheirWork() {
    long before = WriteCounters.batches();
    spark.range(0, 250, 1, 1).toDF().cache().count();
    assertEquals(3, WriteCounters.batches() - before);
  }

  @Test
  void vectorTypesAreFinalClassesOfOurs() {
    Dataset<Row> df = spark.range(0, 10, 1, 1).selectExpr("id", "cast(id as string)", "cast(null as void)", "array(id)").cache();
    var output = relation(df).output();
    var types = new QuiverCachedBatchSerializer().vectorTypes(output, new SQLConf()).get();
    assertEquals("List(" + String.join(", ", LongVector.class.getName(), StringVector.class.getName(), NullVector.class.getName(),
        ArrayVector.class.getName()) + ")", types.toString());
  }

  /** A wrong signature would go unnoticed, as the trait has a default: the methods Spark calls must be ours. */
  @Test
  void sparkCallsOurMethods() throws Exception {
    for (Method m : CachedBatchSerializer.class.getMethods()) {
      if (m.getDeclaringClass() != CachedBatchSerializer.class || Modifier.isStatic(m.getModifiers())) {
        continue;
      }
      Class<?> owner = QuiverCachedBatchSerializer.class.getMethod(m.getName(), m.getParameterTypes()).getDeclaringClass();
      assertEquals(QuiverCachedBatchSerializer.class, owner, m.toString());
    }
  }
}

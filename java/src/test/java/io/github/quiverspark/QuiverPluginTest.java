package io.github.quiverspark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.codahale.metrics.Gauge;
import com.esotericsoftware.kryo.Kryo;
import io.github.quiverspark.conf.QuiverBuild;
import java.math.BigDecimal;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.metrics.source.Source;
import org.apache.spark.rdd.RDD;
import org.apache.spark.serializer.KryoRegistrator;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/** What the plugin decides, each time in a fresh SparkContext of this JVM. */
class QuiverPluginTest {
  private SparkSession spark;

  private SparkSession start(String... keysAndValues) {
    SparkSession.Builder builder = SparkSession.builder().master("local[2]").appName("QuiverPluginTest")
        .config("spark.plugins", QuiverPlugin.class.getName()).config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      builder.config(keysAndValues[i], keysAndValues[i + 1]);
    }
    spark = builder.getOrCreate();
    return spark;
  }

  @AfterEach
  void stop() {
    if (spark != null) {
      spark.stop();
    }
  }

  private String set(String key) {
    return spark.sql("set " + key).collectAsList().get(0).getString(1);
  }

  /** Class of the batches that a small relation is kept in. */
  private String batchClass() {
    Dataset<Row> df = spark.range(0, 10, 1, 1).selectExpr("id", "cast(id as string) s").persist(StorageLevel.DISK_ONLY());
    assertEquals(45, df.selectExpr("sum(id)").collectAsList().get(0).getLong(0));
    return org.apache.spark.sql.execution.columnar.InMemoryRelation.class.cast(df.queryExecution().withCachedData())
        .cacheBuilder().cachedColumnBuffers().toJavaRDD().map(batch -> batch.getClass().getSimpleName()).first();
  }

  @Test
  void onByDefault() {
    start("spark.sql.extensions", "org.example.Absent");
    assertEquals("on", set("spark.quiver.status"));
    assertEquals(QuiverBuild.version(), set("spark.quiver.version"));
    assertEquals("org.example.Absent," + QuiverSessionExtension.class.getName(),
        spark.sparkContext().getConf().get("spark.sql.extensions"));
    assertEquals("QuiverCachedBatch", batchClass());
    assertThrows(Exception.class, () -> spark.conf().set("spark.sql.cache.serializer", "x"));
    assertThrows(Exception.class, () -> spark.conf().set("spark.quiver.status", "x"));
  }

  /** The gauge of the plugin's driver or executor part, as a metrics sink of Spark's gets it. */
  private static long metric(String name) {
    for (Source source : CollectionConverters.asJava(
        SparkEnv.get().metricsSystem().getSourcesByName("plugin." + QuiverPlugin.class.getName()))) {
      Gauge<?> gauge = source.metricRegistry().getGauges().get(name);
      if (gauge != null) {
        return (Long) gauge.getValue();
      }
    }
    throw new AssertionError("no metric " + name);
  }

  @Test
  void metricsCountWhatIsCached() {
    start();
    long batches = metric("encodedBatches");
    long rows = metric("encodedRows");
    long encoded = metric("encodedBytes");
    long stored = metric("storedBytes");
    long nanos = metric("encodeNanos");
    spark.range(0, 30000, 1, 2).selectExpr("id", "cast(1 as int) one").cache().count();
    assertEquals(4, metric("encodedBatches") - batches);
    assertEquals(30000, metric("encodedRows") - rows);
    assertEquals(30000 * (8 + 4), metric("encodedBytes") - encoded);
    long size = metric("storedBytes") - stored;
    assertTrue(size > 0 && size < 30000 * 8, size + " bytes");
    assertTrue(metric("encodeNanos") > nanos);
    assertEquals(0, metric("nativeBytes"));
  }

  /** Batches that other threads than the task's encode while one partition is cached, of 20. */
  private long aheadBatches(String... keysAndValues) {
    start(keysAndValues);
    long before = metric("aheadBatches");
    Dataset<Row> df = spark.range(0, 200_000, 1, 1).selectExpr("id", "cast(id as string) s").cache();
    assertEquals(200_000, df.count());
    assertEquals("19999900000", df.selectExpr("cast(sum(id) as string)").collectAsList().get(0).getString(0));
    df.unpersist(true);
    long ahead = metric("aheadBatches") - before;
    stop();
    return ahead;
  }

  @Test
  void anIdleSlotEncodes() {
    long ahead = aheadBatches();
    assertTrue(ahead >= 19 && ahead <= 20, ahead + " of 20 batches");
    assertEquals(0, aheadBatches("spark.quiver.write.ahead.enabled", "false"));
    assertEquals(0, aheadBatches("spark.master", "local[1]"));
    // less than twice what a second batch would take
    assertEquals(0, aheadBatches("spark.quiver.native.memoryLimit", "15m"));
  }

  @Test
  void metricsCountDelegatedRelations() {
    start();
    long before = metric("delegatedRelations");
    Attribute column = new AttributeReference("o", new ObjectType(String.class), true, Metadata.empty(),
        NamedExpression$.MODULE$.newExprId(), CollectionConverters.asScala(List.<String>of()).toSeq());
    RDD<InternalRow> none = spark.sparkContext().emptyRDD(ClassTag$.MODULE$.apply(InternalRow.class));
    new QuiverCachedBatchSerializer().convertInternalRowToCachedBatch(none, CollectionConverters.asScala(List.of(column)).toSeq(),
        StorageLevel.MEMORY_ONLY(), new SQLConf());
    assertEquals(1, metric("delegatedRelations") - before);
  }

  @Test
  void offWhenNotEnabledAndOnAgainInTheNextContext() {
    start("spark.quiver.enabled", "false");
    assertEquals("off: spark.quiver.enabled is false (set it to true to use Quiver)", set("spark.quiver.status"));
    assertEquals("DefaultCachedBatch", batchClass());
    spark.stop();
    start();
    assertEquals("on", set("spark.quiver.status"));
    assertEquals("QuiverCachedBatch", batchClass());
  }

  @Test
  void offAlsoWithOurSerializerSetByHand() {
    start("spark.quiver.enabled", "false", "spark.sql.cache.serializer", QuiverCachedBatchSerializer.class.getName());
    assertTrue(set("spark.quiver.status").startsWith("off: spark.quiver.enabled is false"), set("spark.quiver.status"));
    assertEquals("DefaultCachedBatch", batchClass());
    spark.stop();
    start("spark.plugins", "", "spark.quiver.enabled", "false",
        "spark.sql.cache.serializer", QuiverCachedBatchSerializer.class.getName());
    assertEquals("DefaultCachedBatch", batchClass());
  }

  /** As in a notebook: the configuration of the running application is changed, and a new one started with it. */
  @Test
  void offInAnApplicationWithTheConfigurationOfOneThatWasOn() {
    start();
    SparkConf conf = spark.sparkContext().getConf().set("spark.quiver.enabled", "false");
    assertEquals("QuiverCachedBatch", batchClass());
    spark.stop();
    spark = SparkSession.builder().config(conf).getOrCreate();
    assertTrue(spark.sparkContext().getConf().get("spark.quiver.status").startsWith("off: "));
    assertEquals("DefaultCachedBatch", batchClass());
    spark.stop();
    spark = SparkSession.builder().config(conf.set("spark.quiver.enabled", "true")).getOrCreate();
    assertEquals("QuiverCachedBatch", batchClass());
  }

  /** The library is loaded once in a process, but each application has its own limit of native memory. */
  @Test
  void theMemoryLimitIsThatOfThisApplication() {
    start();
    assertEquals("QuiverCachedBatch", batchClass());
    spark.stop();
    start("spark.quiver.native.memoryLimit", "1k");
    Exception e = assertThrows(Exception.class, this::batchClass);
    assertTrue(e.getMessage().contains("native memory limit reached") && e.getMessage().contains("limit 1024"), e.getMessage());
    spark.stop();
    start();
    assertEquals("QuiverCachedBatch", batchClass());
  }

  @Test
  void anotherSerializerOfTheUserStays() {
    start("spark.sql.cache.serializer", "org.apache.spark.sql.execution.columnar.DefaultCachedBatchSerializer");
    assertTrue(set("spark.quiver.status").contains("spark.sql.cache.serializer is set to org.apache"), set("spark.quiver.status"));
    assertEquals("DefaultCachedBatch", batchClass());
    assertNull(spark.conf().get("spark.sql.extensions", null));
  }

  @Test
  void ourSerializerSetByHandIsFine() {
    start("spark.sql.cache.serializer", QuiverCachedBatchSerializer.class.getName());
    assertEquals("on", set("spark.quiver.status"));
    assertEquals("QuiverCachedBatch", batchClass());
  }

  @Test
  void wrongValuesStopTheApplicationAtOnce() {
    Exception e = assertThrows(IllegalArgumentException.class, () -> start("spark.quiver.compression.codec", "snappy"));
    assertTrue(e.getMessage().contains("pack, zstd, lz4, none"), e.getMessage());
    spark = null;
  }

  @Test
  void kryoThatDoesNotKnowOurClasses() {
    start("spark.serializer", KryoSerializer.class.getName(), "spark.kryo.registrationRequired", "true");
    assertTrue(set("spark.quiver.status").startsWith("off: spark.kryo.registrationRequired"), set("spark.quiver.status"));
    assertTrue(set("spark.quiver.status").contains(QuiverKryoRegistrator.class.getName()));
    assertEquals("DefaultCachedBatch", batchClass());
  }

  @Test
  void kryoThatCannotKnowOurClassesWithOurSerializerSetByHand() {
    Exception e = assertThrows(IllegalArgumentException.class, () -> start("spark.serializer", KryoSerializer.class.getName(),
        "spark.kryo.registrationRequired", "true", "spark.sql.cache.serializer", QuiverCachedBatchSerializer.class.getName()));
    assertTrue(e.getMessage().contains(QuiverKryoRegistrator.class.getName()), e.getMessage());
    spark = null;
  }

  @Test
  void kryoThatDoesNotKnowOurClassesWithoutThePlugin() {
    start("spark.plugins", "", "spark.serializer", KryoSerializer.class.getName(), "spark.kryo.registrationRequired", "true",
        "spark.sql.cache.serializer", QuiverCachedBatchSerializer.class.getName());
    org.apache.spark.sql.execution.columnar.InMemoryRelation$.MODULE$.clearSerializer();
    Exception e = assertThrows(QuiverException.class, () -> spark.range(5).cache().count());
    assertTrue(e.getMessage().contains(QuiverKryoRegistrator.class.getName()), e.getMessage());
  }

  @Test
  void kryoWithOurRegistrator() {
    start("spark.serializer", KryoSerializer.class.getName(), "spark.kryo.registrationRequired", "true",
        "spark.kryo.registrator", QuiverKryoRegistrator.class.getName());
    assertEquals("on", set("spark.quiver.status"));
    assertEquals("QuiverCachedBatch", batchClass());
    Dataset<Row> df = spark.range(0, 1000, 1, 2)
        .selectExpr("id", "cast(id as decimal(30,5)) d", "array(id) a", "date_add(current_date(), 1) t")
        .persist(StorageLevel.MEMORY_AND_DISK_SER());
    assertEquals(1000, df.where("d >= 0").count());
  }

  @Test
  void kryoWithClassesToRegister() {
    start("spark.serializer", KryoSerializer.class.getName(), "spark.kryo.registrationRequired", "true",
        "spark.kryo.classesToRegister", QuiverCachedBatch.class.getName() + ",[L" + QuiverCachedBatch.class.getName() + ";");
    assertEquals("on", set("spark.quiver.status"));
    assertEquals("QuiverCachedBatch", batchClass());
  }

  /** A registrator of a user who registers our batch by himself. */
  public static final class OwnRegistrator implements KryoRegistrator {
    @Override
    public void registerClasses(Kryo kryo) {
      kryo.register(QuiverCachedBatch.class);
    }
  }

  @Test
  void kryoWithARegistratorOfTheUser() {
    start("spark.serializer", KryoSerializer.class.getName(), "spark.kryo.registrationRequired", "true",
        "spark.kryo.registrator", OwnRegistrator.class.getName());
    assertEquals("on", set("spark.quiver.status"));
    assertEquals("QuiverCachedBatch", batchClass());
  }

  @Test
  void extensionsAreAppendedOnce() {
    String ours = QuiverSessionExtension.class.getName();
    assertEquals(ours, QuiverPlugin.withExtension(" "));
    assertEquals("a,b," + ours, QuiverPlugin.withExtension("a,b"));
    assertEquals("a, " + ours + ",b", QuiverPlugin.withExtension("a, " + ours + ",b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1.50", "123456789012345678.90", "12345678901234567890123456789012.345678"})
  void decimalsSurviveKryo(String text) {
    SparkConf conf = new SparkConf(false).set("spark.kryo.registrationRequired", "true")
        .set("spark.kryo.registrator", QuiverKryoRegistrator.class.getName());
    SerializerInstance kryo = new KryoSerializer(conf).newInstance();
    Decimal value = Decimal.apply(new BigDecimal(text), 38, 6);
    Decimal back = kryo.deserialize(kryo.serialize(value, ClassTag$.MODULE$.apply(Decimal.class)), ClassTag$.MODULE$.apply(Decimal.class));
    assertEquals(value, back);
    assertEquals(38, back.precision());
    assertEquals(6, back.scale());
  }

  @Test
  void theRegistratorKnowsWhatDelegatedRelationsNeed() {
    SparkConf conf = new SparkConf(false).set("spark.kryo.registrationRequired", "true")
        .set("spark.kryo.registrator", QuiverKryoRegistrator.class.getName());
    Kryo kryo = new KryoSerializer(conf).newKryo();
    for (Class<?> type : List.of(QuiverCachedBatch.class, QuiverCachedBatch[].class, byte[].class, byte[][].class,
        org.apache.spark.sql.execution.columnar.DefaultCachedBatch.class, org.apache.spark.sql.types.Decimal.class,
        java.math.BigDecimal.class, org.apache.spark.sql.catalyst.expressions.GenericInternalRow.class)) {
      assertFalse(kryo.getClassResolver().getRegistration(type) == null, type.getName());
    }
  }
}

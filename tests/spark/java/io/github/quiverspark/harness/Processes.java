package io.github.quiverspark.harness;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend;
import org.apache.spark.sql.Dataset;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.RDDBlockId;
import scala.Option;
import scala.collection.JavaConverters;

/** Executors that are processes of their own, and where blocks are. */
public final class Processes {
  private Processes() {}

  /** Name, process id and native bytes in use of each executor, found by tasks; waits until there are {@code wanted}. */
  public static String[] executors(JavaSparkContext sc, int wanted, long timeoutMillis) throws InterruptedException {
    long deadline = System.currentTimeMillis() + timeoutMillis;
    Map<String, String> found = new TreeMap<>();
    while (true) {
      found.clear();
      List<Integer> numbers = IntStream.range(0, 2 * wanted).boxed().collect(Collectors.toList());
      for (String line : sc.parallelize(numbers, numbers.size()).map(Processes::describe).collect()) {
        found.put(line.substring(0, line.indexOf(' ')), line);
      }
      if (found.size() >= wanted || System.currentTimeMillis() > deadline) {
        return found.values().toArray(new String[0]);
      }
      Thread.sleep(200);
    }
  }

  private static String describe(Integer number) throws ReflectiveOperationException, InterruptedException {
    // long enough that the other executors get their share
    Thread.sleep(100);
    // by reflection: the harness is compiled without Quiver
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    Class<?> nativeLoader = Class.forName("io.github.quiverspark.nativelib.NativeLoader", true, loader);
    boolean loaded = (boolean) nativeLoader.getMethod("isLoaded").invoke(null);
    Object bytes = loaded
        ? Class.forName("io.github.quiverspark.nativelib.Native", true, loader).getMethod("nativeBytes").invoke(null) : 0L;
    // Java 8 has no other way to the process id: "id@host"
    String process = ManagementFactory.getRuntimeMXBean().getName();
    return SparkEnv.get().executorId() + " " + process.substring(0, process.indexOf('@')) + " " + bytes;
  }

  /** For each block of a cached relation, the executors that have it, separated by commas. */
  public static String[] locations(Dataset<?> cached) {
    RDD<?> rdd = Caches.rdd(cached);
    List<String> all = new ArrayList<>();
    for (int i = 0; i < rdd.getNumPartitions(); i++) {
      List<String> names = new ArrayList<>();
      for (BlockManagerId id : JavaConverters.seqAsJavaListConverter(
          SparkEnv.get().blockManager().master().getLocations(new RDDBlockId(rdd.id(), i))).asJava()) {
        names.add(id.executorId());
      }
      all.add(names.stream().sorted().collect(Collectors.joining(",")));
    }
    return all.toArray(new String[0]);
  }

  /** Memory and disk bytes that a cached relation takes. */
  public static long[] stored(Dataset<?> cached) {
    RDD<?> rdd = Caches.rdd(cached);
    return Arrays.stream(rdd.sparkContext().getRDDStorageInfo()).filter(i -> i.id() == rdd.id())
        .map(i -> new long[] {i.memSize(), i.diskSize()}).findFirst().orElse(new long[2]);
  }

  /** Has an executor hand its blocks over and end. */
  public static void decommission(JavaSparkContext sc, String executor) {
    CoarseGrainedSchedulerBackend backend = (CoarseGrainedSchedulerBackend) sc.sc().schedulerBackend();
    backend.decommissionExecutor(executor, new ExecutorDecommissionInfo("test", Option.empty()), false, false);
  }

  /** Called by SQL: takes very long on one executor, no time on others. */
  public static String sleepOn(String executor) throws InterruptedException {
    if (SparkEnv.get().executorId().equals(executor)) {
      Thread.sleep(120_000);
    }
    return "";
  }

  /** Number of executors known to the driver. */
  public static int count(JavaSparkContext sc) {
    return sc.sc().statusTracker().getExecutorInfos().length - 1;
  }
}

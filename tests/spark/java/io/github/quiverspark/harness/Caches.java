package io.github.quiverspark.harness;

import java.io.Serializable;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import scala.collection.JavaConverters;

/** Looks into cached relations. */
public final class Caches {
  private Caches() {}

  /** The cached relations that a query reads. */
  private static List<InMemoryRelation> relations(Dataset<?> query) {
    List<InMemoryRelation> found = new ArrayList<>();
    for (LogicalPlan leaf : JavaConverters.seqAsJavaListConverter(query.queryExecution().withCachedData().collectLeaves()).asJava()) {
      if (leaf instanceof InMemoryRelation) {
        found.add((InMemoryRelation) leaf);
      }
    }
    return found;
  }

  /** The cached RDD of the first cached relation that a query reads. */
  static RDD<CachedBatch> rdd(Dataset<?> query) {
    return relations(query).get(0).cacheBuilder().cachedColumnBuffers();
  }

  /** Id of the cached RDD of the first cached relation that a query reads. */
  public static int rddId(Dataset<?> query) {
    return rdd(query).id();
  }

  /** Number of cached relations that a query reads. */
  public static int count(Dataset<?> query) {
    return relations(query).size();
  }

  /** Class names of the serializers of the cached relations that a query reads. */
  public static String[] serializers(Dataset<?> query) {
    Set<String> names = new TreeSet<>();
    for (InMemoryRelation relation : relations(query)) {
      names.add(relation.cacheBuilder().serializer().getClass().getName());
    }
    return names.toArray(new String[0]);
  }

  /** Whether the cached relations were built from columnar batches. */
  public static boolean builtFromColumns(Dataset<?> query) {
    return !relations(query).isEmpty() && relations(query).stream().allMatch(r -> r.cachedPlan().supportsColumnar());
  }

  /** Bytes of the cached relations as the planner counts them. */
  public static long plannerSize(Dataset<?> query) {
    return relations(query).stream().mapToLong(r -> r.computeStats().sizeInBytes().longValue()).sum();
  }

  /** Rows of the cached relations as the planner counts them. */
  public static long plannerRows(Dataset<?> query) {
    return relations(query).stream().mapToLong(r -> r.computeStats().rowCount().get().longValue()).sum();
  }

  /** What one stored batch is. */
  private static final class Batch {
    final String type;
    final long rows;
    final long decoded;

    /** Of the text that {@link #batches} makes in a task. */
    Batch(String text) {
      String[] parts = text.split(" ");
      type = parts[0];
      rows = Long.parseLong(parts[1]);
      decoded = Long.parseLong(parts[2]);
    }
  }

  private static List<Batch> batches(Dataset<?> query) {
    List<Batch> all = new ArrayList<>();
    for (InMemoryRelation relation : relations(query)) {
      // results of tasks are strings: with Kryo's registrationRequired a class of the harness would be refused
      relation.cacheBuilder().cachedColumnBuffers().toJavaRDD()
          .map(b -> b.getClass().getName() + " " + b.numRows() + " " + b.sizeInBytes()).collect()
          .forEach(text -> all.add(new Batch(text)));
    }
    return all;
  }

  /** Class names of the stored batches. */
  public static String[] batchTypes(Dataset<?> query) {
    return batches(query).stream().map(b -> b.type).distinct().sorted().toArray(String[]::new);
  }

  /** Rows of each stored batch. */
  public static long[] batchRows(Dataset<?> query) {
    return batches(query).stream().mapToLong(b -> b.rows).toArray();
  }

  /** Decoded bytes of each stored batch. */
  public static long[] batchBytes(Dataset<?> query) {
    return batches(query).stream().mapToLong(b -> b.decoded).toArray();
  }

  /** For each stored batch of Quiver's, the bytes of its segments. */
  public static long[][] segmentBytes(Dataset<?> query) {
    List<long[]> all = new ArrayList<>();
    for (InMemoryRelation relation : relations(query)) {
      all.addAll(relation.cacheBuilder().cachedColumnBuffers().toJavaRDD()
          .map(b -> Arrays.stream(segments(b)).mapToLong(s -> s.length).toArray()).collect());
    }
    return all.toArray(new long[0][]);
  }

  /** Fraction of the partitions' blocks that are in memory or on disk; 1 once a relation is built. */
  public static double builtFraction(Dataset<?> query) {
    int cached = 0;
    int all = 0;
    for (InMemoryRelation relation : relations(query)) {
      RDD<CachedBatch> rdd = relation.cacheBuilder().cachedColumnBuffers();
      all += rdd.getNumPartitions();
      for (org.apache.spark.storage.RDDInfo info : rdd.sparkContext().getRDDStorageInfo()) {
        cached += info.id() == rdd.id() ? info.numCachedPartitions() : 0;
      }
    }
    return all == 0 ? 0 : (double) cached / all;
  }

  /** How {@link #damage} changes a stored batch. */
  public interface Damage extends Serializable {
    void apply(CachedBatch batch) throws ReflectiveOperationException;
  }

  /**
   * Changes all stored batches of a relation in place (in a local Spark the stored objects are this JVM's own).
   *
   * @param what {@code truncate-segment}, {@code drop-segments}, {@code flip-segments}, {@code truncate-header}, {@code flip-header},
   *     {@code replace-header} (with what {@code with} has)
   * @return number of batches changed
   */
  public static long damage(Dataset<?> query, String what, byte[] with) {
    Damage damage = damage(what, with);
    long changed = 0;
    for (InMemoryRelation relation : relations(query)) {
      changed += relation.cacheBuilder().cachedColumnBuffers().toJavaRDD().map(batch -> {
        damage.apply(batch);
        return 1;
      }).collect().size();
    }
    return changed;
  }

  private static Damage damage(String what, byte[] with) {
    switch (what) {
      case "truncate-segment":
        return batch -> {
          byte[][] segments = segments(batch);
          segments[0] = Arrays.copyOf(segments[0], segments[0].length / 2);
        };
      case "drop-segments":
        return batch -> set(batch, "segments", new byte[0][]);
      case "flip-segments":
        return batch -> {
          for (byte[] segment : segments(batch)) {
            flip(segment, 0, 7, 0xa5);
          }
        };
      case "truncate-header":
        return batch -> set(batch, "header", Arrays.copyOf(header(batch), 40));
      case "flip-header":
        return batch -> flip(header(batch), 8, 5, 0x5a);
      case "replace-header":
        return batch -> set(batch, "header", with);
      default:
        throw new IllegalArgumentException(what);
    }
  }

  private static void flip(byte[] bytes, int from, int step, int bits) {
    for (int i = from; i < bytes.length; i += step) {
      bytes[i] ^= (byte) bits;
    }
  }

  /** The message header of a relation's first batch. */
  public static byte[] firstHeader(Dataset<?> query) {
    return relations(query).get(0).cacheBuilder().cachedColumnBuffers().toJavaRDD().map(Caches::header).first();
  }

  private static byte[] header(CachedBatch batch) throws ReflectiveOperationException {
    return (byte[]) field(batch, "header").get(batch);
  }

  private static byte[][] segments(CachedBatch batch) throws ReflectiveOperationException {
    return (byte[][]) field(batch, "segments").get(batch);
  }

  private static void set(CachedBatch batch, String name, Object value) throws ReflectiveOperationException {
    field(batch, name).set(batch, value);
  }

  private static Field field(CachedBatch batch, String name) throws ReflectiveOperationException {
    Field field = batch.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }
}

package io.github.quiverspark.conf;

import io.github.quiverspark.conf.Setting.Scope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.internal.config.ConfigBuilder;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.TypedConfigBuilder;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SQLConf$;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.JavaConverters;

/**
 * Every {@code spark.quiver.*} setting, in one table; {@code docs/configuration.md} is generated from it
 * ({@link SettingsDocs}).
 *
 * <p>Session settings are read on the driver only: an executor's {@link SQLConf} is not the session's.
 */
public final class QuiverSettings {
  /** What every key of ours starts with. */
  public static final String PREFIX = "spark.quiver.";

  /** What the status of an application that does without Quiver starts with; the reason follows. */
  public static final String OFF = "off: ";

  public static final Setting<Boolean> ENABLED = Setting.ofBoolean(PREFIX + "enabled", true, Scope.BOTH,
      "Whether Quiver is used. False at start-up: relations are cached in Spark's own format, even if the serializer was set by hand."
          + " False at run time: what is cached already stays readable and is read through Spark's own scan node; new relations are still"
          + " stored by Quiver, because Spark fixes the cache serializer of an application when it first caches something.");

  public static final Setting<String> CODEC = Setting.ofChoice(PREFIX + "compression.codec", "pack",
      Arrays.asList("pack", "zstd", "lz4", "none"), Scope.RUN_TIME,
      "How column data is compressed. `pack`: light-weight encodings chosen for each buffer from a sample. `zstd` and `lz4`: standard"
          + " Arrow IPC body compression. `none`: plain Arrow buffers, which are read in place. Taken when a relation is cached; batches"
          + " carry their codec, so that relations of different codecs live side by side.");

  public static final Setting<Integer> ZSTD_LEVEL = Setting.ofInt(PREFIX + "compression.zstd.level", 1, 1, 22, Scope.RUN_TIME,
      "Compression level of the `zstd` codec: higher is smaller and slower to build.");

  public static final Setting<Long> BATCH_MAX_BYTES = Setting.ofBytes(PREFIX + "batch.maxBytes", "4m", "1", "1g", Scope.RUN_TIME,
      "A batch is closed once it has this many decoded bytes, or `spark.sql.inMemoryColumnarStorage.batchSize` rows, whichever comes"
          + " first. A larger row is a batch of its own.");

  public static final Setting<Boolean> WRITE_AHEAD = Setting.ofBoolean(PREFIX + "write.ahead.enabled", true, Scope.RUN_TIME,
      "Whether a batch of rows is encoded by another thread while its task makes the rows of the next, as long as a task slot of the"
          + " executor is idle. At most one batch of a task is on the way, and tasks and such threads together never outnumber the slots:"
          + " with one slot (`local`, executors of one core), or where all run tasks, each task encodes its own batches. Needs the plugin,"
          + " which counts tasks. False: tasks always encode their own.");

  public static final Setting<Boolean> SCAN_ENABLED = Setting.ofBoolean(PREFIX + "scan.enabled", true, Scope.RUN_TIME,
      "Whether operators with generated code read column vectors of the cache directly (fused reader). False: all operators read rows,"
          + " through Spark's own scan node.");

  public static final Setting<Boolean> AGGREGATES = Setting.ofBoolean(PREFIX + "scan.aggregates.enabled", true, Scope.RUN_TIME,
      "Whether aggregates over a whole cached relation, without grouping or filter, are answered by Quiver: `count(*)`, `count`, `min` and"
          + " `max` of columns from the statistics of batches, without decoding (`min` and `max` of integers, decimals, booleans, dates,"
          + " timestamps, times and intervals only); `sum` and `avg` of numbers and of decimals of up to 28 digits, `sum(length(column))`,"
          + " and all of these and `count` of fields of structs by adding up in the library while it decodes. False, or where a query"
          + " has any other aggregate: Spark adds up what is decoded for it.");

  public static final Setting<Boolean> ROW_FILTER = Setting.ofBoolean(PREFIX + "scan.filter.enabled", true, Scope.RUN_TIME,
      "Whether conditions of a query's filter (a column compared with constants, `IN`, `IS [NOT] NULL`, prefixes) are evaluated while"
          + " batches are decoded: where no row of a batch is left its other columns are not decoded, and where a quarter of the rows or"
          + " fewer are left only those are handed on. After batches that it left more of, some are not looked at."
          + " Needs `spark.sql.inMemoryColumnarStorage.partitionPruning`. False: all rows of a"
          + " batch are handed to the filter above the scan, which decides in either case.");

  public static final Setting<Boolean> NESTED_PRUNING = Setting.ofBoolean(PREFIX + "scan.nestedPruning.enabled", true, Scope.RUN_TIME,
      "Whether fields of struct columns that a query does not read are left out while batches are decoded, also within arrays and the"
          + " values of maps. `EXPLAIN` names those that are read (`ReadFields`) where others are left out. Of a query with"
          + " an exchange or a subquery, adaptive execution shows neither these nor `ColumnarToRow` before it has run:"
          + " `df.explain()` has them after `df.collect()`, `EXPLAIN` with `spark.sql.adaptive.enabled=false`. False: a column of which"
          + " anything is read is decoded whole.");

  public static final Setting<Long> MEMORY_LIMIT = Setting.ofBytesOrAuto(PREFIX + "native.memoryLimit", "0", "1024t", Scope.START,
      "Upper limit of the native memory that encoders, decoders and exported batches of one process may hold together; a task that would"
          + " exceed it fails with a message that says so, and the process goes on. `auto`: " + NativeLimit.BATCHES_PER_THREAD + " times"
          + " `spark.quiver.batch.maxBytes` (its value at start-up) for each task thread, or half of what the machine or container has"
          + " beyond the Java heap if that is more. 0: no limit. The cache itself is on the Java heap.");

  public static final Setting<String> STATUS = Setting.ofOutput(PREFIX + "status",
      "`on`, or `off: ` and the reason; set by the plugin when the application starts. `SET spark.quiver.status` shows it.");

  public static final Setting<String> VERSION = Setting.ofOutput(PREFIX + "version",
      "Version of Quiver; set by the plugin when the application starts.");

  private static final List<Setting<?>> ALL =
      Collections.unmodifiableList(Arrays.asList(ENABLED, CODEC, ZSTD_LEVEL, BATCH_MAX_BYTES, WRITE_AHEAD, SCAN_ENABLED,
          AGGREGATES, ROW_FILTER, NESTED_PRUNING, MEMORY_LIMIT, STATUS, VERSION));

  private static final Logger LOG = LoggerFactory.getLogger(QuiverSettings.class);
  private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

  static {
    register();
  }

  private QuiverSettings() {}

  /** All settings, in the order of the documentation. */
  public static List<Setting<?>> all() {
    return ALL;
  }

  /** Whether Quiver's scan node and readers are to be used by this session. */
  public static boolean enabled(SQLConf conf) {
    return ENABLED.read(conf);
  }

  /** Whether the fused reader may be planned in this session. */
  public static boolean scanEnabled(SQLConf conf) {
    return ENABLED.read(conf) && SCAN_ENABLED.read(conf);
  }

  /**
   * Why this application stores nothing in Quiver's format, although the serializer may be ours: it was set by hand, or came with the
   * configuration of an application that had it. Null if nothing was decided against it when the application started. On the driver.
   */
  public static String offFromTheStart() {
    SparkEnv env = SparkEnv.get();
    if (env == null) {
      return null;
    }
    String status = env.conf().get(STATUS.key(), "");
    if (status.startsWith(OFF)) {
      return status.substring(OFF.length());
    }
    return ENABLED.read(env.conf()) ? null : ENABLED.key() + " is false";
  }

  /** Whether aggregations over whole relations may be answered from statistics and added up by the library in this session. */
  public static boolean answersAggregates(SQLConf conf) {
    return scanEnabled(conf) && AGGREGATES.read(conf);
  }

  /** Whether rows may be left out while batches are decoded, in this session. */
  public static boolean filtersRows(SQLConf conf) {
    return scanEnabled(conf) && conf.inMemoryPartitionPruning() && ROW_FILTER.read(conf);
  }

  /** Whether fields of struct columns may be left out while batches are decoded, in this session. */
  public static boolean prunesFields(SQLConf conf) {
    return scanEnabled(conf) && NESTED_PRUNING.read(conf);
  }

  /** Whether batches may be encoded by other threads than the tasks', in this session. */
  public static boolean encodesAhead(SQLConf conf) {
    return WRITE_AHEAD.read(conf);
  }

  /** Decoded bytes after which a batch is closed. */
  public static long batchMaxBytes(SQLConf conf) {
    return BATCH_MAX_BYTES.read(conf);
  }

  /**
   * Options for {@code Native.newEncoder}: {@code key=value} lines. To be called on the driver when a relation is cached; also warns,
   * once for each, of settings that do not exist.
   */
  public static String encoderOptions(SQLConf conf) {
    warnOfUnknown(JavaConverters.mapAsJavaMapConverter(conf.getAllConfs()).asJava().keySet());
    return "codec=" + CODEC.read(conf) + "\nzstd.level=" + ZSTD_LEVEL.read(conf);
  }

  /** Options for {@code Native.configure}: the number of task threads of this process and {@link #memoryLimit}. */
  public static String processOptions(int threads, long memoryLimit) {
    return "threads=" + threads + "\nmemory.limit=" + memoryLimit;
  }

  /** Bytes of native memory that this process may have, with so many task threads; 0: as much as it likes. */
  public static long memoryLimit(SparkConf conf, int threads) {
    return NativeLimit.bytes(conf, threads);
  }

  /** Throws {@link IllegalArgumentException} for the first setting whose start-up value is wrong; warns of unknown keys. */
  public static void check(SparkConf conf) {
    List<String> keys = new ArrayList<>();
    for (scala.Tuple2<String, String> entry : conf.getAllWithPrefix(PREFIX)) {
      keys.add(PREFIX + entry._1());
    }
    for (Setting<?> setting : ALL) {
      if (keys.contains(setting.key())) {
        setting.parse(conf.get(setting.key()));
      }
    }
    warnOfUnknown(keys);
  }

  /** Logs one warning for each key that starts like ours, is none of ours, and has not been warned of before. */
  public static void warnOfUnknown(Collection<String> keys) {
    for (String key : keys) {
      if (key.startsWith(PREFIX) && find(key) == null && WARNED.add(key)) {
        String near = nearest(key);
        LOG.warn("{} is not a setting of Quiver and has no effect{}", key, near == null ? "" : "; did you mean " + near + "?");
      }
    }
  }

  static Setting<?> find(String key) {
    for (Setting<?> setting : ALL) {
      if (setting.key().equals(key)) {
        return setting;
      }
    }
    return null;
  }

  /** The key with the smallest edit distance, if it is close (a typing error, another case, a forgotten letter). */
  static String nearest(String key) {
    String best = null;
    int bestDistance = 4;
    for (Setting<?> setting : ALL) {
      int distance = editDistance(key.toLowerCase(java.util.Locale.ROOT), setting.key().toLowerCase(java.util.Locale.ROOT));
      if (distance < bestDistance) {
        bestDistance = distance;
        best = setting.key();
      }
    }
    return best;
  }

  private static int editDistance(String a, String b) {
    int[] previous = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] current = new int[b.length() + 1];
      current[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        current[j] = Math.min(change, Math.min(previous[j], current[j - 1]) + 1);
      }
      previous = current;
    }
    return previous[b.length()];
  }

  /**
   * Makes the settings known to Spark, so that {@code spark.conf.set} refuses a wrong value at once, {@code SET -v} lists them, and
   * start-up settings cannot be changed in vain. A key that is known already (a second class loader) is left alone.
   */
  private static void register() {
    for (Setting<?> setting : ALL) {
      if (SQLConf$.MODULE$.containsConfigKey(setting.key())) {
        continue;
      }
      boolean fixed = setting.scope() == Scope.START || setting.scope() == Scope.OUTPUT;
      ConfigBuilder builder = fixed ? SQLConf.buildStaticConf(setting.key()) : SQLConf.buildConf(setting.key());
      TypedConfigBuilder<String> typed = builder.doc(setting.doc()).version("").stringConf().transform(text -> {
        setting.parse(text);
        return text;
      });
      if (setting.defaultText() == null) {
        typed.createOptional();
      } else {
        ConfigEntry<String> entry = typed.createWithDefault(setting.defaultText());
        assert entry.key().equals(setting.key());
      }
    }
  }
}

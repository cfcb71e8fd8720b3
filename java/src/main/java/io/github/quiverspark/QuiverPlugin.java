package io.github.quiverspark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.github.quiverspark.conf.QuiverBuild;
import io.github.quiverspark.conf.QuiverSettings;
import io.github.quiverspark.conf.Setting;
import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.nativelib.NativeLoader;
import io.github.quiverspark.task.Ahead;
import io.github.quiverspark.write.WriteCounters;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.package$;
import org.apache.spark.sql.execution.columnar.InMemoryRelation$;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.util.Properties$;

/**
 * Switches Quiver on for an application: {@code spark.plugins=io.github.quiverspark.QuiverPlugin}.
 *
 * <p>The driver's part decides once, while the SparkContext starts, whether cached relations are stored by Quiver. If something speaks
 * against it, Spark's own format stays in place and one warning gives the reason and the setting to change. The outcome can be read with
 * {@code SET spark.quiver.status}. The executors' part loads the native library before the first task.
 */
public final class QuiverPlugin implements SparkPlugin {
  static final String SERIALIZER_KEY = "spark.sql.cache.serializer";
  static final String EXTENSIONS_KEY = "spark.sql.extensions";
  private static final String ACTIVE = "active";
  private static final Logger LOG = LoggerFactory.getLogger(QuiverPlugin.class);

  @Override
  public DriverPlugin driverPlugin() {
    return new Driver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Executor();
  }

  /** Why Quiver is not to be used, with what to do about it; null if nothing speaks against it. Loads the native library. */
  static String reasonAgainst(SparkConf conf) {
    if (!QuiverSettings.ENABLED.read(conf)) {
      return QuiverSettings.ENABLED.key() + " is false (set it to true to use Quiver)";
    }
    String otherLine = QuiverBuild.reasonAgainst(package$.MODULE$.SPARK_VERSION(), Properties$.MODULE$.versionNumberString());
    if (otherLine != null) {
      return otherLine;
    }
    String serializer = conf.get(SERIALIZER_KEY, null);
    if (serializer != null && !serializer.equals(QuiverCachedBatchSerializer.class.getName())) {
      return SERIALIZER_KEY + " is set to " + serializer + " (remove this setting to use Quiver)";
    }
    String kryo = KryoCheck.reasonAgainst(conf);
    if (kryo != null) {
      if (serializer != null) {
        // the user insists, and would see Kryo's error much later, in a task that spills
        throw new IllegalArgumentException(SERIALIZER_KEY + " is set to Quiver's, but " + kryo);
      }
      return kryo;
    }
    try {
      NativeLoader.load();
      return null;
    } catch (QuiverException e) {
      return e.getMessage();
    }
  }

  private static final class Driver implements DriverPlugin {
    @Override
    public Map<String, String> init(SparkContext sc, PluginContext context) {
      // not context.conf(): a copy would not reach the sessions and executors that are created later
      SparkConf conf = sc.conf();
      QuiverSettings.check(conf);
      InMemoryRelation$.MODULE$.clearSerializer();
      publish(conf, QuiverSettings.VERSION, QuiverBuild.version());
      String reason = reasonAgainst(conf);
      if (reason != null) {
        publish(conf, QuiverSettings.STATUS, QuiverSettings.OFF + reason);
        LOG.warn("Quiver {} is off, relations are cached in Spark's own format: {}", QuiverBuild.version(), reason);
        return Collections.singletonMap(ACTIVE, "false");
      }
      conf.set(SERIALIZER_KEY, QuiverCachedBatchSerializer.class.getName());
      conf.set(EXTENSIONS_KEY, withExtension(conf.get(EXTENSIONS_KEY, "")));
      publish(conf, QuiverSettings.STATUS, "on");
      // INFO is what spark-submit shows unless told otherwise; shells show warnings only, and there SET spark.quiver.status answers
      LOG.info("Quiver {} is on: relations are cached in Arrow format (codec {})", QuiverBuild.version(), QuiverSettings.CODEC.read(conf));
      return Collections.singletonMap(ACTIVE, "true");
    }

    /** A session shows what its builder was given instead: the old value, if that was an earlier application's configuration. */
    private static void publish(SparkConf conf, Setting<String> output, String value) {
      String given = conf.get(output.key(), value);
      if (!given.equals(value)) {
        LOG.warn("{} is set by Quiver, to '{}' now; leave it out of the configuration, which gives it as '{}'", output.key(), value, given);
      }
      conf.set(output.key(), value);
    }

    /** Spark remembers the first serializer of the process, also beyond the SparkContext that chose it; the next one may be without us. */
    @Override
    public void shutdown() {
      InMemoryRelation$.MODULE$.clearSerializer();
    }

    @Override
    public void registerMetrics(String appId, PluginContext context) {
      context.metricRegistry().register("delegatedRelations", (Gauge<Long>) WriteCounters::delegatedRelations);
    }
  }

  /** A comma-separated list of extensions with ours in it, last unless the user placed it. */
  static String withExtension(String extensions) {
    String ours = QuiverSessionExtension.class.getName();
    if (extensions.trim().isEmpty()) {
      return ours;
    }
    boolean present = Arrays.stream(extensions.split(",")).map(String::trim).anyMatch(ours::equals);
    return present ? extensions : extensions + "," + ours;
  }

  private static final class Executor implements ExecutorPlugin {
    @Override
    public void init(PluginContext context, Map<String, String> extraConf) {
      if (!"true".equals(extraConf.get(ACTIVE))) {
        return;
      }
      registerMetrics(context.metricRegistry());
      Ahead.configure(Ahead.slots(context.conf()));
      try {
        NativeLoader.load();
      } catch (QuiverException e) {
        // An exception here would end the executor, and the cluster manager would start the next one for ever. The loader remembers:
        // tasks that need the library fail with this message.
        LOG.error("executor {} cannot use Quiver's cached relations: {}", context.executorID(), e.getMessage(), e);
      }
    }

    @Override
    public void onTaskStart() {
      Ahead.taskStarted();
    }

    @Override
    public void onTaskSucceeded() {
      Ahead.taskEnded();
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
      Ahead.taskEnded();
    }

    /** A later SparkContext of this process may be without the plugin, and nobody tells of its tasks then. */
    @Override
    public void shutdown() {
      Ahead.configure(0);
    }

    private static void registerMetrics(MetricRegistry registry) {
      registry.register("encodedBatches", (Gauge<Long>) WriteCounters::batches);
      registry.register("encodedRows", (Gauge<Long>) WriteCounters::rows);
      registry.register("encodedBytes", (Gauge<Long>) WriteCounters::encodedBytes);
      registry.register("storedBytes", (Gauge<Long>) WriteCounters::storedBytes);
      registry.register("encodeNanos", (Gauge<Long>) WriteCounters::encodeNanos);
      registry.register("aheadBatches", (Gauge<Long>) Ahead::taken);
      registry.register("nativeBytes", (Gauge<Long>) () -> NativeLoader.isLoaded() ? Native.nativeBytes() : 0L);
    }
  }
}

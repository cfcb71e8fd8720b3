package io.github.quiverspark.scan;

import io.github.quiverspark.QuiverCachedBatchSerializer;
import io.github.quiverspark.StoredSchema;
import io.github.quiverspark.conf.QuiverSettings;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.internal.SQLConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts {@link QuiverScan} in the place of Spark's scan over relations that Quiver has cached.
 *
 * <p>It has to run before adaptive execution makes a stage of the scan; without adaptive execution, any time before generated code is
 * collapsed. It looks at the plan only: the cached plan is not executed, no job is launched.
 */
public final class ScanPlacement extends Rule<SparkPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(ScanPlacement.class);
  private static final Set<String> LOGGED = ConcurrentHashMap.newKeySet();

  @Override
  public SparkPlan apply(SparkPlan plan) {
    return Plans.transformUp(plan, this::place);
  }

  private SparkPlan place(SparkPlan node) {
    // the exact class: scans of ours, and other products' scans derived from Spark's, stay
    if (node.getClass() != InMemoryTableScanExec.class) {
      return node;
    }
    InMemoryTableScanExec scan = (InMemoryTableScanExec) node;
    if (!(scan.relation().cacheBuilder().serializer() instanceof QuiverCachedBatchSerializer)) {
      return node;
    }
    String reason = reasonToStepAside(conf(), scan.relation());
    CachedScan ours = reason == null
        ? new QuiverScan(scan.attributes(), scan.predicates(), scan.relation())
        : new SteppedAsideScan(scan.attributes(), scan.predicates(), scan.relation());
    ours.copyTagsFrom(scan);
    if (reason != null && LOGGED.add(reason)) {
      LOG.info("Cached relations are read through Spark's own scan: {}", reason);
    }
    return ours;
  }

  /** Why Spark's own scan is to read a relation of Quiver's serializer; null if {@link QuiverScan} can. */
  static String reasonToStepAside(SQLConf conf, InMemoryRelation relation) {
    if (!QuiverSettings.enabled(conf)) {
      return QuiverSettings.ENABLED.key() + " is false";
    }
    if (!QuiverSettings.scanEnabled(conf)) {
      return QuiverSettings.SCAN_ENABLED.key() + " is false";
    }
    StoredSchema stored = StoredSchema.of(relation.output());
    return stored.isSupported() ? null : "the relation is stored in Spark's own format: " + stored.unsupportedReason();
  }
}

package io.github.quiverspark.scan;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.TableCacheQueryStageExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanLike;

/**
 * The part of a cached scan that deals with stages of adaptive execution. The interface is there from Spark 3.5.2 on.
 */
abstract class CacheStageScan extends LeafPlan implements InMemoryTableScanLike {
  private static final long serialVersionUID = 1L;

  /** Spark's scan of the same columns, predicates and relation. Some operators ship their plan to executors, which ask for its output. */
  protected final InMemoryTableScanExec spark;

  CacheStageScan(InMemoryTableScanExec spark) {
    this.spark = spark;
  }

  /** The scan that a node wraps as a stage of its own, or null if it is no such stage. */
  static SparkPlan ofStage(SparkPlan node) {
    return node instanceof TableCacheQueryStageExec ? ((TableCacheQueryStageExec) node).plan() : null;
  }

  @Override
  public final boolean isMaterialized() {
    return spark.isMaterialized();
  }

  @Override
  public final RDD<CachedBatch> baseCacheRDD() {
    return spark.baseCacheRDD();
  }

  @Override
  public final Statistics runtimeStatistics() {
    return spark.runtimeStatistics();
  }
}

package io.github.quiverspark.scan;

import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;

/**
 * The part of a cached scan that deals with stages of adaptive execution. Spark 3.4 has none for cached relations.
 */
abstract class CacheStageScan extends LeafPlan {
  private static final long serialVersionUID = 1L;

  /** Spark's scan of the same columns, predicates and relation. Some operators ship their plan to executors, which ask for its output. */
  protected final InMemoryTableScanExec spark;

  CacheStageScan(InMemoryTableScanExec spark) {
    this.spark = spark;
  }

  /** The scan that a node wraps as a stage of its own, or null if it is no such stage. */
  static SparkPlan ofStage(SparkPlan node) {
    return null;
  }
}

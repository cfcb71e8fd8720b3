package io.github.quiverspark;

import org.apache.spark.sql.columnar.SimpleMetricsCachedBatchSerializer;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;

/** What a cache serializer is asked for by this line of Spark and not by others. */
abstract class LineSerializer extends SimpleMetricsCachedBatchSerializer {
  private static final long serialVersionUID = 1L;

  /**
   * The plan whose output is cached: without its last step if that only makes rows of columnar batches. An adaptive plan is asked for
   * batches only if it has them, as far as is known before it runs: Spark would otherwise put a conversion of rows to vectors on top,
   * which is slower than encoding the rows and holds {@code batchSize} rows in memory, however large they are.
   */
  @Override
  public SparkPlan convertToColumnarPlanIfPossible(SparkPlan plan) {
    if (plan instanceof AdaptiveSparkPlanExec && !((AdaptiveSparkPlanExec) plan).initialPlan().supportsColumnar()) {
      return plan;
    }
    return super.convertToColumnarPlanIfPossible(plan);
  }
}

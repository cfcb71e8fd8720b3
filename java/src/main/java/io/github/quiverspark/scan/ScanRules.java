package io.github.quiverspark.scan;

import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;

/** The planner rules of this package in the shape that sessions take them: placement before, fusion after columnar transitions. */
public final class ScanRules extends ColumnarRule {
  @Override
  public Rule<SparkPlan> preColumnarTransitions() {
    return new ScanPlacement();
  }

  @Override
  public Rule<SparkPlan> postColumnarTransitions() {
    return new ReaderFusion();
  }
}

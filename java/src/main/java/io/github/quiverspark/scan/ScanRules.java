package io.github.quiverspark.scan;

import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;

/** The planner rules of this package as sessions take them: placement and input of Python before columnar transitions, fusion after. */
public final class ScanRules extends ColumnarRule {
  @Override
  public Rule<SparkPlan> preColumnarTransitions() {
    ScanPlacement placement = new ScanPlacement();
    PythonInput pythonInput = new PythonInput();
    return new Rule<SparkPlan>() {
      @Override
      public SparkPlan apply(SparkPlan plan) {
        return pythonInput.apply(placement.apply(plan));
      }
    };
  }

  @Override
  public Rule<SparkPlan> postColumnarTransitions() {
    return new ReaderFusion();
  }
}

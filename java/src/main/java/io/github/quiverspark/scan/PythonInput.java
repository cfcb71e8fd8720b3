package io.github.quiverspark.scan;

import io.github.quiverspark.conf.QuiverBuild;
import org.apache.spark.package$;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.python.ArrowEvalPythonExec;
import scala.collection.Seq;

/**
 * On Spark 4.2.0, gives rows to Python UDFs whose arguments travel as Arrow, which is how all of them travel there unless told otherwise.
 *
 * <p>That release hands a columnar child's vectors on as they are, and for this kind of UDF then sends the input schema where the Python
 * process does not expect it: the task waits for ever (SPARK-58241; 4.3.0 and the branch of 4.2 have it mended). Pandas UDFs are not
 * affected. Runs before transitions are inserted, so that operators above see an operator of rows.
 */
final class PythonInput extends Rule<SparkPlan> {
  /** SQL_ARROW_BATCHED_UDF of Spark's PythonEvalType, which 3.4 has not. */
  private static final int ARROW_BATCHED = 101;

  private static final boolean AFFECTED = affected(package$.MODULE$.SPARK_VERSION());

  /** Whether this release, with what a vendor may have added to its number, has the fault. */
  static boolean affected(String version) {
    return QuiverBuild.isRelease(version, "4.2.0");
  }

  @Override
  public SparkPlan apply(SparkPlan plan) {
    return AFFECTED ? Plans.transformUp(plan, PythonInput::rowsFor) : plan;
  }

  static SparkPlan rowsFor(SparkPlan parent) {
    return parent instanceof ArrowEvalPythonExec && parent.supportsColumnar() && travelsAsArrow((ArrowEvalPythonExec) parent)
        ? Plans.mapChildren(parent, ColumnarToRowExec::new)
        : parent;
  }

  private static boolean travelsAsArrow(ArrowEvalPythonExec parent) {
    Seq<PythonUDF> functions = parent.udfs();
    return !functions.isEmpty() && functions.head().evalType() == ARROW_BATCHED;
  }
}

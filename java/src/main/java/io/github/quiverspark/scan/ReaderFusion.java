package io.github.quiverspark.scan;

import io.github.quiverspark.conf.QuiverSettings;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.LeafExpression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.BaseLimitExec;
import org.apache.spark.sql.execution.CodegenSupport;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.ColumnarToRowTransition;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec;
import org.apache.spark.sql.execution.joins.SortMergeJoinExec;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * Puts a ColumnarToRowExec above cached scans whose parent has generated code, so that the vectors are read by the parent's own loop
 * without a row in between. Spark would not: its scan gives rows as well, and where rows are offered Spark takes them.
 *
 * <p>Parents that need a whole UnsafeRow anyway (exchanges, sorts, limits, collecting) are better served by the row reader, which gets such
 * rows from the native library in blocks. Aggregations that need no values at all become a {@link QuiverAggregate}. Of struct columns
 * only the fields that are needed are read: {@link NestedPruning}.
 *
 * <p>Runs as the post-transition part of a columnar rule: Spark calls these before it collapses operators into generated code, in
 * QueryExecution.preparations as well as in the rules that adaptive execution applies to a new stage; scans are then already
 * materialised stages of their own in adaptive plans.
 */
final class ReaderFusion extends Rule<SparkPlan> {
  /**
   * Columns up to which the loop over a batch stays below 8000 bytes of byte code, beyond which HotSpot does not compile a method: each
   * column takes about 50 to be read and as much again where an aggregation is too wide to be split. Sums of 50 columns take 0.8 times
   * as long as with the row reader, of 60 columns 1.3 times.
   */
  private static final int MAX_COLUMNS = 50;

  @Override
  public SparkPlan apply(SparkPlan plan) {
    boolean generatesCode = conf().wholeStageEnabled()
        && !conf().getConfString("spark.sql.codegen.factoryMode", "FALLBACK").equalsIgnoreCase("NO_CODEGEN");
    SparkPlan fused = Plans.transformUp(plan, parent -> {
      SparkPlan answered = QuiverAggregate.of(parent);
      return answered != null ? answered : generatesCode ? fuse(parent) : parent;
    });
    return QuiverSettings.prunesFields(conf()) ? NestedPruning.apply(fused) : fused;
  }

  private SparkPlan fuse(SparkPlan parent) {
    return readsInGeneratedCode(parent) ? Plans.mapChildren(parent, this::columnarToRow) : parent;
  }

  private SparkPlan columnarToRow(SparkPlan child) {
    if (child.output().size() > MAX_COLUMNS) {
      return child;
    }
    if (child instanceof QuiverScan && child.supportsColumnar()) {
      return new ColumnarToRowExec(((QuiverScan) child).reusingVectors());
    }
    SparkPlan staged = CacheStageScan.ofStage(child);
    if (staged instanceof QuiverScan && child.supportsColumnar()) {
      // The stage has done its work. It would not tell generated code the classes of the scan's vectors, and code that knows only
      // ColumnVector dispatches anew for every value.
      return new ColumnarToRowExec(((QuiverScan) staged).reusingVectors());
    }
    return child;
  }

  /** Whether the operator will be part of generated code in which its children's values are plain variables. */
  private boolean readsInGeneratedCode(SparkPlan parent) {
    if (!(parent instanceof CodegenSupport) || !((CodegenSupport) parent).supportCodegen() || parent.supportsColumnar()) {
      return false;
    }
    if (parent instanceof BaseLimitExec || parent instanceof SortExec || parent instanceof ColumnarToRowTransition) {
      return false;
    }
    // their children are compiled on their own and hand over rows
    if (parent instanceof SortMergeJoinExec || parent instanceof ShuffledHashJoinExec) {
      return false;
    }
    // the conditions under which CollapseCodegenStages leaves an operator out
    if (WholeStageCodegenExec.isTooManyFields(conf(), parent.schema()) || anyFallsBack(parent.expressions())) {
      return false;
    }
    Iterator<SparkPlan> children = parent.children().iterator();
    while (children.hasNext()) {
      if (WholeStageCodegenExec.isTooManyFields(conf(), children.next().schema())) {
        return false;
      }
    }
    return true;
  }

  private static boolean anyFallsBack(Seq<Expression> expressions) {
    Iterator<Expression> it = expressions.iterator();
    while (it.hasNext()) {
      Expression e = it.next();
      if (!(e instanceof LeafExpression) && e instanceof CodegenFallback || anyFallsBack(e.children())) {
        return true;
      }
    }
    return false;
  }
}

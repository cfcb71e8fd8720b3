package io.github.quiverspark.scan;

import io.github.quiverspark.read.ReadFields;
import org.apache.spark.sql.execution.CollectMetricsExec;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.ExpandExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.GenerateExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SampleExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.HashAggregateExec;
import org.apache.spark.sql.execution.aggregate.ObjectHashAggregateExec;
import org.apache.spark.sql.execution.aggregate.SortAggregateExec;

/**
 * Tells cached scans which fields of struct columns the plan reads, so that the others need not be decoded: Spark tells a scan of a
 * cached relation only which columns.
 *
 * <p>A scan learns it from an operator whose output is made of expressions alone, where the scan's rows end, and from operators in
 * between that pass rows on as they are. With any other operator in between all is read. What is read is therefore decided by the plan
 * from that operator down, which two exchanges or subqueries that Spark takes for equal have in common; and it is part of the scan's
 * canonical form.
 *
 * <p>Runs on plans that stay as they are, see {@link ReaderFusion}: in adaptive execution on each stage when it is about to be executed.
 */
final class NestedPruning {
  private NestedPruning() {}

  static SparkPlan apply(SparkPlan plan) {
    return Plans.transformUp(plan, node -> {
      if (!endsRows(node)) {
        return node;
      }
      QuiverScan scan = scanBelow(node);
      if (scan == null) {
        return node;
      }
      FieldReads reads = new FieldReads(scan.attributes());
      reads.addAll(node.expressions());
      reads.addAll(scan.predicates());
      return withReads(node, reads);
    });
  }

  /** Whether nothing of the operator's input is in its output but through its expressions. */
  private static boolean endsRows(SparkPlan node) {
    Class<?> c = node.getClass();
    return c == ProjectExec.class || c == HashAggregateExec.class || c == ObjectHashAggregateExec.class || c == SortAggregateExec.class
        || c == GenerateExec.class || c == ExpandExec.class;
  }

  /** Whether the operator gives rows of its input as they are, and looks at them through its expressions only. */
  private static boolean passesRowsOn(SparkPlan node) {
    Class<?> c = node.getClass();
    return c == FilterExec.class || c == ColumnarToRowExec.class || c == SampleExec.class || c == CollectMetricsExec.class;
  }

  /** The scan that the operator's rows come from; null if there is none. */
  private static QuiverScan scanBelow(SparkPlan node) {
    SparkPlan child = node.children().head();
    while (passesRowsOn(child)) {
      child = child.children().head();
    }
    return QuiverScan.of(child);
  }

  /** The operator over a scan that reads what the operators in between read as well. */
  private static SparkPlan withReads(SparkPlan node, FieldReads reads) {
    return Plans.mapChildren(node, child -> {
      if (passesRowsOn(child)) {
        reads.addAll(child.expressions());
        return withReads(child, reads);
      }
      QuiverScan scan = QuiverScan.of(child);
      ReadFields fields = reads.readFields(scan.attributes());
      return fields == null && scan.readFields() == null ? child : scan.reading(fields);
    });
  }
}

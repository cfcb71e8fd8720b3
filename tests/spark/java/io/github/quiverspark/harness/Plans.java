package io.github.quiverspark.harness;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import scala.collection.JavaConverters;

/** What the physical plan of a query that has run says. */
public final class Plans {
  private Plans() {}

  /** A scan of a cached relation and the operators above it, nearest first (wrappers left out). */
  private static final class Scan {
    final SparkPlan node;
    final List<SparkPlan> parents;

    Scan(SparkPlan node, List<SparkPlan> parents) {
      this.node = node;
      this.parents = parents;
    }
  }

  /**
   * How the scans of cached relations were read: {@code fused} (vectors, turned into rows by generated code right above the scan),
   * {@code columnar} (vectors taken by a columnar operator), {@code row}, or {@code aggregate} (no values were handed over).
   */
  public static String[] readers(Dataset<?> query) {
    Set<String> found = new TreeSet<>();
    for (Scan scan : scans(query)) {
      SparkPlan parent = scan.parents.isEmpty() ? null : scan.parents.get(0);
      if (scan.node.getClass().getSimpleName().equals("QuiverAggregate")) {
        found.add("aggregate");
      } else if (parent instanceof ColumnarToRowExec) {
        found.add("fused");
      } else if (parent != null && parent.supportsColumnar() && scan.node.supportsColumnar()) {
        found.add("columnar");
      } else {
        found.add("row");
      }
    }
    return found.toArray(new String[0]);
  }

  /** Class names of the scans of cached relations, in plan order. */
  public static String[] scanNodes(Dataset<?> query) {
    return scans(query).stream().map(s -> s.node.getClass().getSimpleName()).toArray(String[]::new);
  }

  /** The sum of a metric over all scans of cached relations; -1 if no scan has it. */
  public static long metric(Dataset<?> query, String name) {
    long sum = -1;
    for (Scan scan : scans(query)) {
      if (scan.node.metrics().contains(name)) {
        sum = Math.max(sum, 0) + scan.node.metrics().apply(name).value();
      }
    }
    return sum;
  }

  /** Names of the metrics that scans of cached relations have. */
  public static String[] metricNames(Dataset<?> query) {
    Set<String> names = new TreeSet<>();
    for (Scan scan : scans(query)) {
      names.addAll(JavaConverters.setAsJavaSetConverter(scan.node.metrics().keySet()).asJava());
    }
    return names.toArray(new String[0]);
  }

  /** Class names of all operators, top first. */
  public static String[] operators(Dataset<?> query) {
    List<String> names = new ArrayList<>();
    collectNames(query.queryExecution().executedPlan(), names);
    return names.toArray(new String[0]);
  }

  public static String text(Dataset<?> query) {
    return query.queryExecution().executedPlan().toString();
  }

  private static List<Scan> scans(Dataset<?> query) {
    QueryExecution execution = query.queryExecution();
    List<Scan> found = new ArrayList<>();
    collect(execution.executedPlan(), new ArrayList<>(), found);
    return found;
  }

  private static void collect(SparkPlan plan, List<SparkPlan> parents, List<Scan> found) {
    // by name: the jar under test is not on the compiler's path
    if (plan instanceof InMemoryTableScanExec || plan.getClass().getName().startsWith("io.github.quiverspark.scan.")) {
      found.add(new Scan(plan, new ArrayList<>(parents)));
      return;
    }
    boolean wrapper = plan instanceof InputAdapter || plan instanceof WholeStageCodegenExec || plan instanceof QueryStageExec
        || plan instanceof AdaptiveSparkPlanExec;
    if (!wrapper) {
      parents.add(0, plan);
    }
    for (SparkPlan child : children(plan)) {
      collect(child, parents, found);
    }
    if (!wrapper) {
      parents.remove(0);
    }
  }

  private static void collectNames(SparkPlan plan, List<String> names) {
    names.add(plan.getClass().getSimpleName());
    for (SparkPlan child : children(plan)) {
      collectNames(child, names);
    }
  }

  private static List<SparkPlan> children(SparkPlan plan) {
    if (plan instanceof AdaptiveSparkPlanExec) {
      return Collections.singletonList(((AdaptiveSparkPlanExec) plan).executedPlan());
    }
    if (plan instanceof QueryStageExec) {
      return Collections.singletonList(((QueryStageExec) plan).plan());
    }
    List<SparkPlan> all = new ArrayList<>(JavaConverters.seqAsJavaListConverter(plan.children()).asJava());
    plan.subqueries().foreach(all::add);
    return all;
  }
}

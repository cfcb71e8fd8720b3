package io.github.quiverspark.scan;

import java.util.function.UnaryOperator;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** Walks over physical plans. */
final class Plans {
  private Plans() {}

  /** The plan with each node replaced, children before parents. Nodes that hide a plan (query stages, subqueries) are not entered. */
  static SparkPlan transformUp(SparkPlan plan, UnaryOperator<SparkPlan> rule) {
    return rule.apply(mapChildren(plan, child -> transformUp(child, rule)));
  }

  /** The plan with its children replaced; the same object if none of them is. */
  static SparkPlan mapChildren(SparkPlan plan, UnaryOperator<SparkPlan> f) {
    if (plan.children().isEmpty()) {
      return plan;
    }
    return (SparkPlan) plan.mapChildren(new AbstractFunction1<SparkPlan, SparkPlan>() {
      @Override
      public SparkPlan apply(SparkPlan child) {
        return f.apply(child);
      }
    });
  }

  /** The sequence as the immutable one that it is, or a copy: Scala 2.12's plain {@code Seq} promises less than 2.13's. */
  static <A> Seq<A> immutable(scala.collection.Seq<A> items) {
    return items instanceof Seq ? (Seq<A>) items : items.toList();
  }
}

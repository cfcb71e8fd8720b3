package io.github.quiverspark.scan;

import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.execution.LeafExecNode;
import org.apache.spark.sql.execution.SparkPlan;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.ScalaRunTime$;

/**
 * A leaf of a physical plan, written in Java. These methods are declared only because in Java a class's method wins over the default of
 * an interface, so that what Spark's traits for leaves override has to be overridden again.
 *
 * <p>Spark copies a node by its elements (as a product), through the public constructor of the concrete class.
 */
abstract class LeafPlan extends SparkPlan implements LeafExecNode {
  private static final long serialVersionUID = 1L;

  @Override
  public final Seq<SparkPlan> children() {
    return (Seq<SparkPlan>) (Seq<?>) Nil$.MODULE$;
  }

  @Override
  public final SparkPlan mapChildren(Function1<SparkPlan, SparkPlan> f) {
    return this;
  }

  // Abstract in Spark, with the one sequence for Scala 2.12 and the other for 2.13.

  public final SparkPlan withNewChildrenInternal(scala.collection.IndexedSeq<SparkPlan> newChildren) {
    return this;
  }

  public final SparkPlan withNewChildrenInternal(scala.collection.immutable.IndexedSeq<SparkPlan> newChildren) {
    return this;
  }

  @Override
  public final AttributeSet producedAttributes() {
    return outputSet();
  }

  @Override
  public final Iterator<Object> productIterator() {
    return ScalaRunTime$.MODULE$.typedProductIterator(this);
  }

  @Override
  public final String productPrefix() {
    return getClass().getSimpleName();
  }

  @Override
  public final boolean canEqual(Object other) {
    return other != null && other.getClass() == getClass();
  }
}

package io.github.quiverspark.scan;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.ExplainUtils;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanLike;
import scala.Function1;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.runtime.ScalaRunTime$;

/**
 * A scan of a cached relation, written in Java. What the scan promises to the planner (partitioning, order, statistics, canonical form) is
 * asked of a scan of Spark's own with the same contents, so that it cannot differ.
 *
 * <p>Several methods are declared only because in Java a class's method wins over the default of an interface, so that what Spark's
 * traits for leaves override has to be overridden again.
 */
abstract class CachedScan extends SparkPlan implements InMemoryTableScanLike {
  private static final long serialVersionUID = 1L;

  /** Spark's scan of the same columns, predicates and relation. Some operators ship their plan to executors, which ask for its output. */
  protected final InMemoryTableScanExec spark;

  CachedScan(Seq<Attribute> attributes, Seq<Expression> predicates, InMemoryRelation relation) {
    this.spark = new InMemoryTableScanExec(attributes, predicates, relation);
  }

  /** The columns read, in order. */
  public final Seq<Attribute> attributes() {
    return spark.attributes();
  }

  /** The query's filter, as conjuncts; batches are pruned by it, rows are not filtered. */
  public final Seq<Expression> predicates() {
    return spark.predicates();
  }

  /** The relation read. */
  public final InMemoryRelation relation() {
    return spark.relation();
  }

  @Override
  public final Seq<Attribute> output() {
    return spark.output();
  }

  @Override
  public final Partitioning outputPartitioning() {
    return spark.outputPartitioning();
  }

  @Override
  public final Seq<SortOrder> outputOrdering() {
    return spark.outputOrdering();
  }

  @Override
  public final boolean supportsRowBased() {
    return true;
  }

  @Override
  public final Option<Seq<String>> vectorTypes() {
    return spark.vectorTypes();
  }

  /** The canonical form is Spark's, so that exchanges over equal scans are reused. */
  @Override
  public final SparkPlan doCanonicalize() {
    return spark.doCanonicalize();
  }

  // ---- InMemoryTableScanLike: stages of adaptive execution

  @Override
  public final boolean isMaterialized() {
    return spark.isMaterialized();
  }

  @Override
  public final RDD<CachedBatch> baseCacheRDD() {
    return spark.baseCacheRDD();
  }

  @Override
  public final Statistics runtimeStatistics() {
    return spark.runtimeStatistics();
  }

  // ---- the cached plan below

  /** For EXPLAIN. The erased type, since Spark's classes declare two element types that Java cannot reconcile. */
  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public final Seq innerChildren() {
    return spark.innerChildren();
  }

  /**
   * The cached plan counts as one that this node depends on. For Spark's own scan, where observed metrics are collected and where the UI
   * draws the plan, Spark looks into the relation; for other nodes it looks here.
   */
  @Override
  @SuppressWarnings("unchecked")
  public final Seq<SparkPlan> subqueries() {
    return (Seq<SparkPlan>) super.subqueries().toList().$colon$colon(relation().cachedPlan());
  }

  // ---- leaf node

  @Override
  public final Seq<SparkPlan> children() {
    return (Seq<SparkPlan>) (Seq<?>) Nil$.MODULE$;
  }

  @Override
  public final SparkPlan mapChildren(Function1<SparkPlan, SparkPlan> f) {
    return this;
  }

  @Override
  public final SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> newChildren) {
    return this;
  }

  @Override
  public final AttributeSet producedAttributes() {
    return outputSet();
  }

  // ---- product: Spark copies a node by its elements, through the public constructor of the concrete class

  @Override
  public final int productArity() {
    return 3;
  }

  @Override
  public final Object productElement(int n) {
    switch (n) {
      case 0:
        return attributes();
      case 1:
        return predicates();
      case 2:
        return relation();
      default:
        throw new IndexOutOfBoundsException(String.valueOf(n));
    }
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

  @Override
  public final boolean equals(Object other) {
    return this == other || canEqual(other) && spark.equals(((CachedScan) other).spark);
  }

  @Override
  public final int hashCode() {
    return spark.hashCode();
  }

  // ---- EXPLAIN

  /** What EXPLAIN says about the reader, or "" if there is nothing to say. */
  abstract String note();

  @Override
  public final String simpleString(int maxFields) {
    return super.simpleString(maxFields) + (note().isEmpty() ? "" : " (" + note() + ")");
  }

  @Override
  public final String simpleStringWithNodeId() {
    return super.simpleStringWithNodeId()
        + " (columnarIn=" + relation().cacheBuilder().supportsColumnarInput() + ", columnarOut=" + supportsColumnar() + ")";
  }

  @Override
  public final String verboseStringWithOperatorId() {
    return "\n" + formattedNodeName() + "\n"
        + ExplainUtils.generateFieldString("Output", output()) + "\n"
        + "Arguments: " + argString(conf().maxToStringFields()) + "\n"
        + (note().isEmpty() ? "" : "Note: " + note() + "\n");
  }
}

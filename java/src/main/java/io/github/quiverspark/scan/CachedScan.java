package io.github.quiverspark.scan;

import io.github.quiverspark.read.ReadFields;
import java.util.Objects;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.ExplainUtils;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * A scan of a cached relation, written in Java. What the scan promises to the planner (partitioning, order, statistics, canonical form) is
 * asked of a scan of Spark's own with the same contents, so that it cannot differ.
 */
abstract class CachedScan extends CacheStageScan {
  private static final long serialVersionUID = 1L;

  CachedScan(scala.collection.Seq<Attribute> attributes, scala.collection.Seq<Expression> predicates, InMemoryRelation relation) {
    super(new InMemoryTableScanExec(attributes.toSeq(), predicates.toSeq(), relation));
  }

  /** The columns read, in order. */
  public final Seq<Attribute> attributes() {
    return Plans.immutable(spark.attributes());
  }

  /** The query's filter, as conjuncts; batches are pruned by it, rows are not filtered. */
  public final Seq<Expression> predicates() {
    return Plans.immutable(spark.predicates());
  }

  /** The relation read. */
  public final InMemoryRelation relation() {
    return spark.relation();
  }

  @Override
  public final Seq<Attribute> output() {
    ReadFields fields = readFields();
    return Plans.immutable(fields == null ? spark.output() : fields.output(spark.output()));
  }

  @Override
  public final Partitioning outputPartitioning() {
    return spark.outputPartitioning();
  }

  @Override
  public final Seq<SortOrder> outputOrdering() {
    return Plans.immutable(spark.outputOrdering());
  }

  @Override
  public final boolean supportsRowBased() {
    return true;
  }

  /** The erased type: Scala 2.12 and 2.13 mean different sequences. */
  @Override
  @SuppressWarnings("rawtypes")
  public final Option vectorTypes() {
    return spark.vectorTypes();
  }

  /** The canonical form is Spark's, so that exchanges over equal scans are reused. */
  @Override
  public SparkPlan doCanonicalize() {
    return spark.doCanonicalize();
  }

  // ---- the cached plan below

  /** For EXPLAIN. The erased type, since Spark's classes declare two element types that Java cannot reconcile. */
  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public final Seq innerChildren() {
    return Plans.immutable((scala.collection.Seq<?>) spark.innerChildren());
  }

  /**
   * The cached plan counts as one that this node depends on. For Spark's own scan, where observed metrics are collected and where the UI
   * draws the plan, Spark looks into the relation; for other nodes it looks here.
   */
  @Override
  @SuppressWarnings("unchecked")
  public final Seq<SparkPlan> subqueries() {
    return super.subqueries().toList().$colon$colon(relation().cachedPlan());
  }

  // ---- product

  /** Which fields of struct columns are read; null if all columns are read whole. An element of the product if there is one. */
  ReadFields readFields() {
    return null;
  }

  @Override
  public final int productArity() {
    return readFields() == null ? 3 : 4;
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
        if (n >= productArity()) {
          throw new IndexOutOfBoundsException(String.valueOf(n));
        }
        return readFields();
    }
  }

  @Override
  public final boolean equals(Object other) {
    return this == other || canEqual(other) && spark.equals(((CachedScan) other).spark)
        && Objects.equals(readFields(), ((CachedScan) other).readFields());
  }

  @Override
  public final int hashCode() {
    return spark.hashCode();
  }

  // ---- EXPLAIN

  /** What EXPLAIN says about the reader, or "" if there is nothing to say. */
  abstract String note();

  @Override
  public final Iterator<Object> stringArgs() {
    ReadFields fields = readFields();
    Iterator<Object> elements = super.stringArgs();
    return fields == null ? elements : elements.map(new AbstractFunction1<Object, Object>() {
      @Override
      public Object apply(Object element) {
        return element == fields ? "ReadFields: " + fields.paths(attributes()) : element;
      }
    });
  }

  @Override
  public final String simpleString(int maxFields) {
    return super.simpleString(maxFields) + (note().isEmpty() ? "" : " (" + note() + ")");
  }

  @Override
  public final String simpleStringWithNodeId() {
    return super.simpleStringWithNodeId()
        + " (columnarIn=" + columnarInput() + ", columnarOut=" + supportsColumnar() + ")";
  }

  private boolean columnarInput() {
    SparkPlan cached = relation().cachedPlan();
    return cached.supportsColumnar() && relation().cacheBuilder().serializer().supportsColumnarInput(cached.output());
  }

  @Override
  public final String verboseStringWithOperatorId() {
    return "\n" + formattedNodeName() + "\n"
        + ExplainUtils.generateFieldString("Output", output()) + "\n"
        + "Arguments: " + argString(conf().maxToStringFields()) + "\n"
        + (note().isEmpty() ? "" : "Note: " + note() + "\n");
  }
}

package io.github.quiverspark.scan;

import io.github.quiverspark.StoredSchema;
import io.github.quiverspark.aggregate.BatchAggregate;
import io.github.quiverspark.conf.QuiverSettings;
import io.github.quiverspark.read.Projection;
import io.github.quiverspark.read.ReadFields;
import java.util.HashMap;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.ExplainUtils;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.HashAggregateExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/**
 * A partial aggregation without grouping over a whole cached relation, perhaps through a projection. Counts, minima and maxima are answered
 * from the statistics of batches, sums and averages added up by the library while it decodes, with no values on the Java side. Gives one
 * row of aggregation buffers for each partition, as the aggregation that it stands for.
 */
public final class QuiverAggregate extends LeafPlan {
  private static final long serialVersionUID = 1L;

  private final HashAggregateExec partial;
  private final QuiverScan scan;
  private transient volatile AggregateMetrics aggregateMetrics;

  /** Stands for a partial aggregation for which {@link #of} gives a node. Called by Spark too, by reflection, to copy the node. */
  public QuiverAggregate(HashAggregateExec partial) {
    this.partial = partial;
    this.scan = scanBelow(partial);
  }

  /** The node to put in place of this one, or null if it has to be executed as it is. */
  static SparkPlan of(SparkPlan node) {
    if (node.getClass() != HashAggregateExec.class) {
      return null;
    }
    HashAggregateExec partial = (HashAggregateExec) node;
    if (!partial.groupingExpressions().isEmpty() || !QuiverSettings.answersAggregates(node.conf())) {
      return null;
    }
    QuiverScan scan = scanBelow(partial);
    boolean whole = scan != null && scan.predicates().isEmpty();
    return whole && aggregate(partial, scan) != null ? new QuiverAggregate(partial) : null;
  }

  private static BatchAggregate aggregate(HashAggregateExec partial, QuiverScan scan) {
    return BatchAggregate.of(partial.aggregateExpressions(), scan.relation().output(), aliases(partial.child()));
  }

  /** The scan that is aggregated as it is, or through a projection; null if there is none. */
  private static QuiverScan scanBelow(HashAggregateExec partial) {
    SparkPlan child = partial.child();
    if (child.getClass() == ProjectExec.class) {
      child = ((ProjectExec) child).child();
      child = child.getClass() == ColumnarToRowExec.class ? ((ColumnarToRowExec) child).child() : child;
    }
    return QuiverScan.of(child);
  }

  /** What a projection calls by a name of its own. */
  private static java.util.Map<ExprId, Expression> aliases(SparkPlan node) {
    java.util.Map<ExprId, Expression> aliases = new HashMap<>();
    if (node.getClass() == ProjectExec.class) {
      Iterator<NamedExpression> it = ((ProjectExec) node).projectList().iterator();
      while (it.hasNext()) {
        NamedExpression e = it.next();
        if (e instanceof Alias) {
          aliases.put(e.exprId(), ((Alias) e).child());
        }
      }
    }
    return aliases;
  }

  @Override
  public Seq<Attribute> output() {
    return Plans.immutable(partial.output());
  }

  @Override
  public Partitioning outputPartitioning() {
    return partial.outputPartitioning();
  }

  /** The canonical form is that of the aggregation, so that exchanges over equal ones are reused. */
  @Override
  public SparkPlan doCanonicalize() {
    return (SparkPlan) partial.canonicalized();
  }

  @Override
  public RDD<InternalRow> doExecute() {
    BatchAggregate aggregate = aggregate(partial, scan);
    scala.collection.Seq<Attribute> columns = aggregate.columns();
    FieldReads reads = new FieldReads(columns);
    reads.addAll(aggregate.reads());
    ReadFields fields = reads.readFields(columns);
    scala.collection.Seq<Attribute> cached = scan.relation().output();
    Projection projection = Projection.of(StoredSchema.of(cached), cached, columns, fields);
    return aggregate.over(scan.keptBatches(), projection, fields, aggregateMetrics());
  }

  @Override
  public Map<String, SQLMetric> metrics() {
    return aggregateMetrics().asMap();
  }

  private AggregateMetrics aggregateMetrics() {
    AggregateMetrics result = aggregateMetrics;
    if (result == null) {
      synchronized (partial) {
        result = aggregateMetrics;
        if (result == null) {
          result = new AggregateMetrics(session().sparkContext(), aggregate(partial, scan).readsNothing());
          aggregateMetrics = result;
        }
      }
    }
    return result;
  }

  /** The cached plan counts as one that this node depends on, as below {@link CachedScan}. */
  @Override
  @SuppressWarnings("unchecked")
  public Seq<SparkPlan> subqueries() {
    return super.subqueries().toList().$colon$colon(scan.relation().cachedPlan());
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"})
  public Seq innerChildren() {
    return scan.innerChildren();
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int n) {
    if (n != 0) {
      throw new IndexOutOfBoundsException(String.valueOf(n));
    }
    return partial;
  }

  @Override
  public boolean equals(Object other) {
    return this == other || canEqual(other) && partial.equals(((QuiverAggregate) other).partial);
  }

  @Override
  public int hashCode() {
    return partial.hashCode();
  }

  @Override
  public String simpleString(int maxFields) {
    return nodeName() + " " + partial.aggregateExpressions().mkString("[", ", ", "]") + " of " + scan.nodeName();
  }

  @Override
  public String verboseStringWithOperatorId() {
    return "\n" + formattedNodeName() + "\n"
        + ExplainUtils.generateFieldString("Output", output()) + "\n"
        + "Arguments: " + simpleString(conf().maxToStringFields()) + "\n";
  }
}

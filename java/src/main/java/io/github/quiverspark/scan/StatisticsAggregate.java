package io.github.quiverspark.scan;

import io.github.quiverspark.conf.QuiverSettings;
import io.github.quiverspark.pruning.BatchAggregate;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.ExplainUtils;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.HashAggregateExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;

/**
 * A partial aggregation without grouping over a whole cached relation, answered from the statistics of its batches: no column is decoded.
 * Gives one row of aggregation buffers for each partition, as the aggregation that it stands for.
 */
public final class StatisticsAggregate extends LeafPlan {
  private static final long serialVersionUID = 1L;

  private final HashAggregateExec partial;
  private final QuiverScan scan;
  private transient volatile SQLMetric batches;

  /** Stands for a partial aggregation for which {@link #of} gives a node. Called by Spark too, by reflection, to copy the node. */
  public StatisticsAggregate(HashAggregateExec partial) {
    this.partial = partial;
    this.scan = QuiverScan.of(partial.child());
  }

  /** The node to put in place of this one, or null if it has to be executed as it is. */
  static SparkPlan of(SparkPlan node) {
    if (node.getClass() != HashAggregateExec.class) {
      return null;
    }
    HashAggregateExec partial = (HashAggregateExec) node;
    if (!partial.groupingExpressions().isEmpty() || !QuiverSettings.statisticsAggregates(node.conf())) {
      return null;
    }
    QuiverScan scan = QuiverScan.of(partial.child());
    boolean whole = scan != null && scan.predicates().isEmpty();
    return whole && aggregate(partial, scan) != null ? new StatisticsAggregate(partial) : null;
  }

  private static BatchAggregate aggregate(HashAggregateExec partial, QuiverScan scan) {
    return BatchAggregate.of(partial.aggregateExpressions(), scan.relation().output());
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
    return aggregate(partial, scan).over(scan.keptBatches(), batches());
  }

  @Override
  public Map<String, SQLMetric> metrics() {
    return Map$.MODULE$.<String, SQLMetric>empty().updated("numBatches", batches());
  }

  private SQLMetric batches() {
    SQLMetric result = batches;
    if (result == null) {
      synchronized (partial) {
        result = batches;
        if (result == null) {
          result = SQLMetrics.createMetric(session().sparkContext(), "cached batches answered from statistics");
          batches = result;
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
    return this == other || canEqual(other) && partial.equals(((StatisticsAggregate) other).partial);
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

package io.github.quiverspark.scan;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.Seq;
import scala.collection.immutable.Map;

/**
 * Spark's own scan with a note: it reads, through Spark's code, a relation that {@link QuiverScan} cannot or must not read, and EXPLAIN
 * tells why.
 */
public final class SteppedAsideScan extends CachedScan {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /** Called by Spark too, by reflection, to copy the node with other expressions. */
  public SteppedAsideScan(Seq<Attribute> attributes, Seq<Expression> predicates, InMemoryRelation relation) {
    super(attributes, predicates, relation);
    String now = ScanPlacement.reasonToStepAside(conf(), relation);
    this.reason = now == null ? "" : "Quiver steps aside: " + now;
  }

  @Override
  public String nodeName() {
    return spark.nodeName();
  }

  @Override
  String note() {
    return reason;
  }

  @Override
  public boolean supportsColumnar() {
    return spark.supportsColumnar();
  }

  @Override
  public Map<String, SQLMetric> metrics() {
    return spark.metrics();
  }

  @Override
  public RDD<InternalRow> doExecute() {
    return spark.execute();
  }

  @Override
  public RDD<ColumnarBatch> doExecuteColumnar() {
    return spark.executeColumnar();
  }
}

package io.github.quiverspark.pruning;

import io.github.quiverspark.CorruptBatchException;
import io.github.quiverspark.read.Block;
import io.github.quiverspark.read.StoredBatches;
import java.io.Serializable;
import java.util.Collections;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.expressions.aggregate.Partial$;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.columnar.SimpleMetricsCachedBatch;
import org.apache.spark.sql.execution.metric.SQLMetric;
import scala.collection.Iterator;
import scala.collection.JavaConverters;
import scala.collection.Seq;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/**
 * Counts, minima and maxima of cached columns over the batches of a partition, from their statistics alone.
 *
 * <p>Minima and maxima of types whose bounds are values of the column: not of strings, whose bounds are cut, nor of floats and doubles,
 * whose bounds of zero have a sign of their own.
 */
public final class BatchAggregate implements Serializable {
  private static final long serialVersionUID = 1L;

  private enum Kind {
    COUNT, MIN, MAX
  }

  private final Kind[] kinds;
  /** The column of each aggregate; null: rows are counted. */
  private final Column[] columns;

  private BatchAggregate(int n) {
    kinds = new Kind[n];
    columns = new Column[n];
  }

  /**
   * The partial aggregation that these expressions are, without grouping; null if statistics cannot answer one of them.
   *
   * @param cached all columns of the relation, in the order of the statistics
   */
  public static BatchAggregate of(Seq<AggregateExpression> aggregates, Seq<Attribute> cached) {
    BatchAggregate result = new BatchAggregate(aggregates.length());
    Columns columns = new Columns(cached);
    for (int i = 0; i < result.kinds.length; i++) {
      AggregateExpression e = aggregates.apply(i);
      if (e.mode() != Partial$.MODULE$ || e.isDistinct() || e.filter().isDefined() || !result.plan(i, e.aggregateFunction(), columns)) {
        return null;
      }
    }
    return result.kinds.length == 0 ? null : result;
  }

  private boolean plan(int i, AggregateFunction function, Columns cached) {
    Expression argument;
    if (function instanceof Count && function.children().length() == 1) {
      kinds[i] = Kind.COUNT;
      argument = function.children().apply(0);
      if (argument instanceof Literal) {
        return ((Literal) argument).value() != null;
      }
    } else if (function instanceof Min || function instanceof Max) {
      kinds[i] = function instanceof Min ? Kind.MIN : Kind.MAX;
      argument = function.children().apply(0);
    } else {
      return false;
    }
    columns[i] = argument instanceof Attribute ? cached.find(argument) : null;
    return columns[i] != null && (kinds[i] == Kind.COUNT || columns[i].hasExactBounds());
  }

  /**
   * One row of aggregation buffers for each partition.
   *
   * @param batches all batches of the relation
   * @param seen counts the batches
   */
  public RDD<InternalRow> over(RDD<CachedBatch> batches, SQLMetric seen) {
    StoredBatches stored = new StoredBatches(batches);
    return stored.mapPartitionsWithIndex(
        new OfPartition(this, stored.cachedRdd(), seen), true, ClassTag$.MODULE$.apply(InternalRow.class));
  }

  private static final class OfPartition extends AbstractFunction2<Object, Iterator<CachedBatch>, Iterator<InternalRow>>
      implements Serializable {
    private static final long serialVersionUID = 1L;
    private final BatchAggregate aggregate;
    private final int rdd;
    private final SQLMetric seen;

    OfPartition(BatchAggregate aggregate, int rdd, SQLMetric seen) {
      this.aggregate = aggregate;
      this.rdd = rdd;
      this.seen = seen;
    }

    @Override
    public Iterator<InternalRow> apply(Object partition, Iterator<CachedBatch> batches) {
      Block block = Block.of(rdd, (Integer) partition);
      Object[] buffers = aggregate.emptyBuffers();
      TaskContext task = TaskContext.get();
      while (block.reading(batches::hasNext)) {
        if (task != null) {
          task.killTaskIfInterrupted();
        }
        CachedBatch batch = block.reading(batches::next);
        block.reading(() -> aggregate.add(buffers, (SimpleMetricsCachedBatch) batch));
        seen.add(1);
      }
      return JavaConverters.asScalaIteratorConverter(Collections.singletonList(aggregate.row(buffers)).iterator()).asScala();
    }
  }

  private Object[] emptyBuffers() {
    Object[] buffers = new Object[kinds.length];
    for (int i = 0; i < buffers.length; i++) {
      buffers[i] = kinds[i] == Kind.COUNT ? 0L : null;
    }
    return buffers;
  }

  private Void add(Object[] buffers, SimpleMetricsCachedBatch batch) {
    InternalRow stats = batch.stats();
    for (int i = 0; i < buffers.length; i++) {
      Column column = columns[i];
      if (kinds[i] == Kind.COUNT) {
        buffers[i] = (Long) buffers[i] + batch.numRows() - (column == null ? 0 : column.nulls(stats));
      } else if (column.hasValue(stats)) {
        Object bound = kinds[i] == Kind.MIN ? column.lower(stats) : column.upper(stats);
        if (bound == null) {
          throw new CorruptBatchException("the statistics of a batch have values but no bounds");
        }
        if (buffers[i] == null || Column.compare(bound, buffers[i]) < 0 == (kinds[i] == Kind.MIN)) {
          buffers[i] = bound;
        }
      }
    }
    return null;
  }

  private InternalRow row(Object[] buffers) {
    UnsafeRowWriter writer = new UnsafeRowWriter(buffers.length);
    writer.reset();
    writer.zeroOutNullBytes();
    for (int i = 0; i < buffers.length; i++) {
      if (kinds[i] == Kind.COUNT) {
        writer.write(i, (long) (Long) buffers[i]);
      } else {
        columns[i].write(buffers[i], writer, i);
      }
    }
    return writer.getRow();
  }
}

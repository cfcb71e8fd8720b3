package io.github.quiverspark.aggregate;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.read.Block;
import io.github.quiverspark.read.Projection;
import io.github.quiverspark.read.ReadFields;
import io.github.quiverspark.read.ReadObserver;
import io.github.quiverspark.read.StoredBatches;
import io.github.quiverspark.read.TotalsReader;
import java.io.Serializable;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Partial$;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.sql.columnar.CachedBatch;
import scala.collection.Iterator;
import scala.collection.JavaConverters;
import scala.collection.Seq;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/**
 * Aggregate functions of cached columns over the batches of a partition: the row of aggregation buffers that Spark's partial aggregation
 * would make of the partition's rows. Counts, minima and maxima are those of the batches' statistics; sums and averages, and counts of
 * fields of structs, are added up by the library while it decodes.
 */
public final class BatchAggregate {
  private final Part[] parts;
  private final Terms terms;
  private final Overflow overflow;

  private BatchAggregate(AggregateParts found) {
    parts = found.parts();
    terms = found.terms();
    overflow = found.overflow();
  }

  /**
   * The partial aggregation that these expressions are, without grouping; null if one of them is something else.
   *
   * @param cached all columns of the relation, in the order of the statistics
   * @param aliases what a projection between makes of the columns
   */
  public static BatchAggregate of(Seq<AggregateExpression> aggregates, Seq<Attribute> cached, Map<ExprId, Expression> aliases) {
    AggregateParts parts = new AggregateParts(cached, aliases);
    Iterator<AggregateExpression> it = aggregates.iterator();
    while (it.hasNext()) {
      AggregateExpression e = it.next();
      if (e.mode() != Partial$.MODULE$ || e.isDistinct() || e.filter().isDefined() || !parts.add(e.aggregateFunction())) {
        return null;
      }
    }
    return parts.parts().length == 0 ? null : new BatchAggregate(parts);
  }

  /** Whether statistics say it all, so that nothing is decoded. */
  public boolean readsNothing() {
    return terms.isEmpty();
  }

  /** The cached columns to decode. */
  public Seq<Attribute> columns() {
    return terms.columns();
  }

  /** What is read of these columns. */
  public Seq<Expression> reads() {
    return terms.reads();
  }

  /**
   * One row of aggregation buffers for each partition.
   *
   * @param batches all batches of the relation
   * @param projection of {@link #columns}
   * @param fields what the projection has of them; null: all
   * @param observer told of each batch
   */
  public RDD<InternalRow> over(RDD<CachedBatch> batches, Projection projection, ReadFields fields, ReadObserver observer) {
    StoredBatches stored = new StoredBatches(batches);
    OfPartition ofPartition = new OfPartition(parts, overflow, projection, terms.numbers(fields), stored.cachedRdd(), observer);
    return stored.mapPartitionsWithIndex(ofPartition, true, ClassTag$.MODULE$.apply(InternalRow.class));
  }

  private static final class OfPartition extends AbstractFunction2<Object, Iterator<CachedBatch>, Iterator<InternalRow>>
      implements Serializable {
    private static final long serialVersionUID = 1L;
    private final Part[] parts;
    private final Overflow overflow;
    private final Projection projection;
    private final int[] terms;
    private final int rdd;
    private final ReadObserver observer;

    OfPartition(Part[] parts, Overflow overflow, Projection projection, int[] terms, int rdd, ReadObserver observer) {
      this.parts = parts;
      this.overflow = overflow;
      this.projection = projection;
      this.terms = terms;
      this.rdd = rdd;
      this.observer = observer;
    }

    @Override
    public Iterator<InternalRow> apply(Object partition, Iterator<CachedBatch> batches) {
      Block block = Block.of(rdd, (Integer) partition);
      Object[] values = new Object[parts.length];
      TaskContext task = TaskContext.get();
      try (TotalsReader reader = new TotalsReader(projection, terms, block, observer)) {
        while (block.reading(batches::hasNext)) {
          if (task != null) {
            task.killTaskIfInterrupted();
          }
          QuiverCachedBatch batch = block.next(batches);
          block.reading(() -> addStatistics(values, batch));
          reader.add(batch);
          checkOverflow(reader.totals());
        }
        return JavaConverters.asScalaIteratorConverter(Collections.singletonList(row(values, reader.totals())).iterator()).asScala();
      }
    }

    private Void addStatistics(Object[] values, QuiverCachedBatch batch) {
      InternalRow stats = batch.stats();
      for (int i = 0; i < parts.length; i++) {
        values[i] = parts[i].add(values[i], stats, batch.numRows());
      }
      return null;
    }

    private void checkOverflow(long[] totals) {
      for (int i = 0; overflow != null && i < terms.length / 2; i++) {
        int at = Terms.SIZE * i;
        if (terms[2 * i + 1] == Terms.Op.CHECKED_SUM.number && totals[at + 2] != 0) {
          throw new IllegalStateException("Spark adds " + totals[at + 1] + " and " + totals[at + 3] + " up to "
              + overflow.add(totals[at + 1], totals[at + 3]) + ", which should overflow");
        }
      }
    }

    private InternalRow row(Object[] values, long[] totals) {
      int fields = 0;
      for (Part part : parts) {
        fields += part.fields();
      }
      UnsafeRowWriter writer = new UnsafeRowWriter(fields);
      writer.reset();
      writer.zeroOutNullBytes();
      int at = 0;
      for (int i = 0; i < parts.length; i++) {
        parts[i].write(writer, at, values[i], totals);
        at += parts[i].fields();
      }
      return writer.getRow();
    }
  }
}

package io.github.quiverspark.pruning;

import io.github.quiverspark.WholePartition;
import java.io.Serializable;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.columnar.SimpleMetricsCachedBatch;
import scala.Function2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction2;

/**
 * Skips cached batches whose statistics prove that no row can satisfy the predicates.
 *
 * <p>Not Spark's own filter, because that drops batches of columns without bounds, reads NaN and collations wrongly, and knows neither
 * long IN lists, nor NOT, nor casts. Behind it nobody knows which batches there were, so that it is here that a partition is checked to be
 * whole. Nothing here needs code generation, and a test takes well below a microsecond a batch.
 */
public final class BatchFilter {
  /** Is told about skipped batches, on the executor that skips them. */
  @FunctionalInterface
  public interface Listener extends Serializable {
    /** The batch will not be read. */
    void skipped(CachedBatch batch);
  }

  private BatchFilter() {}

  /**
   * Batch filter in the shape of {@code CachedBatchSerializer.buildFilter}.
   *
   * @param predicates conjuncts of the query's filter, of any form; what cannot be proven wrong keeps the batch
   * @param cachedAttributes all columns of the relation, in the order of the statistics
   */
  public static Function2<Object, Iterator<CachedBatch>, Iterator<CachedBatch>> build(
      scala.collection.Seq<Expression> predicates, scala.collection.Seq<Attribute> cachedAttributes) {
    return build(predicates, cachedAttributes, null);
  }

  /** Leaves nothing out, for where pruning is off; a partition is still checked to be whole. */
  public static Function2<Object, Iterator<CachedBatch>, Iterator<CachedBatch>> keepAll() {
    return new Filter(null, null);
  }

  /** As the first; the listener (may be null) hears of each skipped batch. */
  public static Function2<Object, Iterator<CachedBatch>, Iterator<CachedBatch>> build(
      scala.collection.Seq<Expression> predicates, scala.collection.Seq<Attribute> cachedAttributes, Listener listener) {
    return new Filter(PredicateTranslator.conjunction(predicates, cachedAttributes), listener);
  }

  private static final class Filter extends AbstractFunction2<Object, Iterator<CachedBatch>, Iterator<CachedBatch>>
      implements Serializable {
    private static final long serialVersionUID = 1L;
    private final BatchTest test;
    private final Listener listener;

    Filter(BatchTest test, Listener listener) {
      this.test = test;
      this.listener = listener;
    }

    @Override
    public Iterator<CachedBatch> apply(Object partition, Iterator<CachedBatch> batches) {
      Iterator<CachedBatch> whole = new WholePartition(batches);
      return test == null ? whole : new FilteredBatches(test, listener, whole);
    }
  }

  private static final class FilteredBatches extends AbstractIterator<CachedBatch> {
    private final BatchTest test;
    private final Listener listener;
    private final Iterator<CachedBatch> batches;
    private CachedBatch next;

    FilteredBatches(BatchTest test, Listener listener, Iterator<CachedBatch> batches) {
      this.test = test;
      this.listener = listener;
      this.batches = batches;
    }

    @Override
    public boolean hasNext() {
      while (next == null && batches.hasNext()) {
        CachedBatch batch = batches.next();
        if (test.mayMatch(((SimpleMetricsCachedBatch) batch).stats())) {
          next = batch;
        } else if (listener != null) {
          listener.skipped(batch);
        }
      }
      return next != null;
    }

    @Override
    public CachedBatch next() {
      if (!hasNext()) {
        throw new NoSuchElementException("no more batches");
      }
      CachedBatch batch = next;
      next = null;
      return batch;
    }
  }
}

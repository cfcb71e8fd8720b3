package io.github.quiverspark.read;

import org.apache.spark.Partition;
import org.apache.spark.Partitioner;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.columnar.CachedBatch;
import scala.Option;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;

/**
 * The batches of a cached relation, as they are; where a block cannot be opened, the exception names it.
 *
 * <p>Spark opens a stored stream, and decompresses the first part of it, while it asks the cached RDD for its iterator: before any function
 * over that iterator is called.
 */
public final class StoredBatches extends RDD<CachedBatch> {
  private static final long serialVersionUID = 1L;

  private final int cached;

  /**
   * Over batches, perhaps pruned, of the cached RDD with this id.
   *
   * @param cached as {@link Block#cachedRdd} finds it
   */
  public StoredBatches(RDD<CachedBatch> batches, int cached) {
    super(batches, ClassTag$.MODULE$.apply(CachedBatch.class));
    this.cached = cached;
  }

  @Override
  public Iterator<CachedBatch> compute(Partition split, TaskContext context) {
    RDD<CachedBatch> batches = firstParent(elementClassTag());
    return Block.of(cached, split.index()).reading(() -> batches.iterator(split, context));
  }

  @Override
  public Partition[] getPartitions() {
    return firstParent(elementClassTag()).partitions();
  }

  @Override
  public Option<Partitioner> partitioner() {
    return firstParent(elementClassTag()).partitioner();
  }
}

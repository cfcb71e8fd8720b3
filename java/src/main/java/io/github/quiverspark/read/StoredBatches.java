package io.github.quiverspark.read;

import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.Partition;
import org.apache.spark.Partitioner;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.storage.StorageLevel;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.reflect.ClassTag$;

/**
 * The batches of a cached relation, as they are; where a block cannot be opened, the exception names it.
 *
 * <p>Spark opens a stored stream, and decompresses the first part of it, while it asks the cached RDD for its iterator: before any function
 * over that iterator is called.
 */
public final class StoredBatches extends RDD<CachedBatch> {
  private static final long serialVersionUID = 1L;

  private final int cachedRdd;

  /** Over the batches, perhaps pruned, of a cached RDD. On the driver. */
  public StoredBatches(RDD<CachedBatch> batches) {
    super(batches, ClassTag$.MODULE$.apply(CachedBatch.class));
    this.cachedRdd = cachedRdd(batches);
  }

  /** Id of the cached RDD whose batches these are, as {@link Block#of} takes it. */
  public int cachedRdd() {
    return cachedRdd;
  }

  @Override
  public Iterator<CachedBatch> compute(Partition split, TaskContext context) {
    RDD<CachedBatch> batches = firstParent(elementClassTag());
    return Block.of(cachedRdd, split.index()).reading(() -> batches.iterator(split, context));
  }

  @Override
  public Partition[] getPartitions() {
    return firstParent(elementClassTag()).partitions();
  }

  @Override
  public Option<Partitioner> partitioner() {
    return firstParent(elementClassTag()).partitioner();
  }

  private static int cachedRdd(RDD<?> batches) {
    RDD<?> rdd = batches;
    while (rdd.getStorageLevel().equals(StorageLevel.NONE())) {
      Seq<? extends Dependency<?>> dependencies = rdd.dependencies();
      if (dependencies.size() != 1 || !(dependencies.head() instanceof OneToOneDependency)) {
        return batches.id();
      }
      rdd = dependencies.head().rdd();
    }
    return rdd.id();
  }
}

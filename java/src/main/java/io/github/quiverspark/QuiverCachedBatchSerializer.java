package io.github.quiverspark;

import io.github.quiverspark.pruning.BatchFilter;
import io.github.quiverspark.read.Block;
import io.github.quiverspark.read.ColumnarReader;
import io.github.quiverspark.read.Projection;
import io.github.quiverspark.read.ReadObserver;
import io.github.quiverspark.read.RowReader;
import io.github.quiverspark.read.StoredBatches;
import io.github.quiverspark.vector.Kind;
import io.github.quiverspark.write.ColumnarBatchWriter;
import io.github.quiverspark.write.RowBatchWriter;
import io.github.quiverspark.write.WriteCounters;
import io.github.quiverspark.write.WriteSpec;
import java.io.Serializable;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.columnar.DefaultCachedBatchSerializer;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.storage.StorageLevel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Function1;
import scala.Function2;
import scala.Option;
import scala.Predef$;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;

/**
 * Quiver as Spark's cache serializer: the value of {@code spark.sql.cache.serializer}, which {@link QuiverPlugin} sets.
 *
 * <p>A relation with a column that the native library cannot store goes to Spark's own serializer as a whole. That is decided by the
 * schema alone, so what writes a relation and what reads it agree.
 *
 * <p>Methods come twice, for {@code scala.collection.Seq} and {@code scala.collection.immutable.Seq}: Scala 2.12 knows the interface's
 * {@code Seq} as the one, Scala 2.13 as the other.
 */
public class QuiverCachedBatchSerializer extends LineSerializer {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(QuiverCachedBatchSerializer.class);
  private static final DefaultCachedBatchSerializer SPARK = new DefaultCachedBatchSerializer();

  /** Called by Spark, by reflection. */
  public QuiverCachedBatchSerializer() {}

  // ---- write

  /** Whether a relation of these columns may be fed with columnar batches. */
  public boolean supportsColumnarInput(Seq<Attribute> schema) {
    return StoredSchema.of(schema).isSupported() || SPARK.supportsColumnarInput(schema.toSeq());
  }

  public boolean supportsColumnarInput(scala.collection.immutable.Seq<Attribute> schema) {
    return supportsColumnarInput((Seq<Attribute>) schema);
  }

  /** Encodes rows. */
  public RDD<CachedBatch> convertInternalRowToCachedBatch(
      RDD<InternalRow> input, Seq<Attribute> schema, StorageLevel level, SQLConf conf) {
    StoredSchema stored = StoredSchema.of(schema);
    if (!stored.isSupported()) {
      noteDelegated(stored);
      return SPARK.convertInternalRowToCachedBatch(input, schema.toSeq(), level, conf);
    }
    KryoCheck.check();
    return map(input, new WriteRows(WriteSpec.of(stored, schema, conf)), CachedBatch.class);
  }

  public RDD<CachedBatch> convertInternalRowToCachedBatch(
      RDD<InternalRow> input, scala.collection.immutable.Seq<Attribute> schema, StorageLevel level, SQLConf conf) {
    return convertInternalRowToCachedBatch(input, (Seq<Attribute>) schema, level, conf);
  }

  /** Encodes columnar batches. */
  public RDD<CachedBatch> convertColumnarBatchToCachedBatch(
      RDD<ColumnarBatch> input, Seq<Attribute> schema, StorageLevel level, SQLConf conf) {
    StoredSchema stored = StoredSchema.of(schema);
    if (!stored.isSupported()) {
      noteDelegated(stored);
      return SPARK.convertColumnarBatchToCachedBatch(input, schema.toSeq(), level, conf);
    }
    KryoCheck.check();
    return map(input, new WriteBatches(WriteSpec.of(stored, schema, conf)), CachedBatch.class);
  }

  public RDD<CachedBatch> convertColumnarBatchToCachedBatch(
      RDD<ColumnarBatch> input, scala.collection.immutable.Seq<Attribute> schema, StorageLevel level, SQLConf conf) {
    return convertColumnarBatchToCachedBatch(input, (Seq<Attribute>) schema, level, conf);
  }

  // ---- prune

  /** A function that leaves out batches in which, by their statistics, no row can satisfy the predicates. */
  public Function2<Object, Iterator<CachedBatch>, Iterator<CachedBatch>> buildFilter(
      Seq<Expression> predicates, Seq<Attribute> cachedAttributes) {
    if (!StoredSchema.of(cachedAttributes).isSupported()) {
      return SPARK.buildFilter(predicates.toSeq(), cachedAttributes.toSeq());
    }
    return BatchFilter.build(predicates, cachedAttributes);
  }

  public Function2<Object, Iterator<CachedBatch>, Iterator<CachedBatch>> buildFilter(
      scala.collection.immutable.Seq<Expression> predicates, scala.collection.immutable.Seq<Attribute> cachedAttributes) {
    return buildFilter((Seq<Expression>) predicates, (Seq<Attribute>) cachedAttributes);
  }

  // ---- read

  @Override
  public boolean supportsColumnarOutput(StructType schema) {
    return StoredSchema.of(schema).isSupported() || SPARK.supportsColumnarOutput(schema);
  }

  /** The class of the vector of each attribute. */
  public Option<Seq<String>> vectorTypes(Seq<Attribute> attributes, SQLConf conf) {
    return Option.apply(vectorClasses(attributes, conf));
  }

  public Option<scala.collection.immutable.Seq<String>> vectorTypes(
      scala.collection.immutable.Seq<Attribute> attributes, SQLConf conf) {
    return Option.apply(vectorClasses(attributes, conf));
  }

  private static scala.collection.immutable.List<String> vectorClasses(Seq<Attribute> attributes, SQLConf conf) {
    if (!StoredSchema.of(attributes).isSupported()) {
      return SPARK.vectorTypes(attributes.toSeq(), conf).get().toList();
    }
    String[] names = new String[attributes.size()];
    Iterator<Attribute> it = attributes.iterator();
    for (int i = 0; it.hasNext(); i++) {
      names[i] = Kind.of(it.next().dataType()).vectorClass().getName();
    }
    return Predef$.MODULE$.wrapRefArray(names).toList();
  }

  /** Decodes the selected columns into heap-backed vectors. */
  public RDD<ColumnarBatch> convertCachedBatchToColumnarBatch(
      RDD<CachedBatch> input, Seq<Attribute> cacheAttributes, Seq<Attribute> selectedAttributes, SQLConf conf) {
    StoredSchema stored = StoredSchema.of(cacheAttributes);
    if (!stored.isSupported()) {
      return SPARK.convertCachedBatchToColumnarBatch(input, cacheAttributes.toSeq(), selectedAttributes.toSeq(), conf);
    }
    return readColumnar(whole(input, conf), Projection.of(stored, cacheAttributes, selectedAttributes), ReadObserver.NONE, false);
  }

  public RDD<ColumnarBatch> convertCachedBatchToColumnarBatch(
      RDD<CachedBatch> input, scala.collection.immutable.Seq<Attribute> cacheAttributes,
      scala.collection.immutable.Seq<Attribute> selectedAttributes, SQLConf conf) {
    return convertCachedBatchToColumnarBatch(input, (Seq<Attribute>) cacheAttributes, (Seq<Attribute>) selectedAttributes, conf);
  }

  /** Decodes the selected columns into UnsafeRows. */
  public RDD<InternalRow> convertCachedBatchToInternalRow(
      RDD<CachedBatch> input, Seq<Attribute> cacheAttributes, Seq<Attribute> selectedAttributes, SQLConf conf) {
    StoredSchema stored = StoredSchema.of(cacheAttributes);
    if (!stored.isSupported()) {
      return SPARK.convertCachedBatchToInternalRow(input, cacheAttributes.toSeq(), selectedAttributes.toSeq(), conf);
    }
    return readRows(whole(input, conf), Projection.of(stored, cacheAttributes, selectedAttributes), ReadObserver.NONE);
  }

  public RDD<InternalRow> convertCachedBatchToInternalRow(
      RDD<CachedBatch> input, scala.collection.immutable.Seq<Attribute> cacheAttributes,
      scala.collection.immutable.Seq<Attribute> selectedAttributes, SQLConf conf) {
    return convertCachedBatchToInternalRow(input, (Seq<Attribute>) cacheAttributes, (Seq<Attribute>) selectedAttributes, conf);
  }

  /**
   * Reads a projection of Quiver's batches as columnar batches; the observer, which is shipped to the tasks, is told of each.
   *
   * @param reuse as for {@link ColumnarReader}
   */
  public static RDD<ColumnarBatch> readColumnar(RDD<CachedBatch> input, Projection projection, ReadObserver observer, boolean reuse) {
    StoredBatches stored = new StoredBatches(input);
    return read(stored, new ReadBatches(stored.cachedRdd(), projection, observer, reuse), ColumnarBatch.class);
  }

  /** Reads a projection of Quiver's batches as UnsafeRows; the observer, which is shipped to the tasks, is told of each batch. */
  public static RDD<InternalRow> readRows(RDD<CachedBatch> input, Projection projection, ReadObserver observer) {
    StoredBatches stored = new StoredBatches(input);
    return read(stored, new ReadRows(stored.cachedRdd(), projection, observer), InternalRow.class);
  }

  // ---- helpers

  /** Without pruning, whose filter does it, partitions are checked here to be whole. */
  private static RDD<CachedBatch> whole(RDD<CachedBatch> input, SQLConf conf) {
    return conf.inMemoryPartitionPruning() ? input : read(input, BatchFilter.keepAll(), CachedBatch.class);
  }

  private static void noteDelegated(StoredSchema stored) {
    WriteCounters.relationDelegated();
    LOG.warn("A relation is cached in Spark's own format, not by Quiver: {}", stored.unsupportedReason());
  }

  private static <A, B> RDD<B> map(RDD<A> input, Function1<Iterator<A>, Iterator<B>> f, Class<B> to) {
    return input.mapPartitions(f, true, ClassTag$.MODULE$.apply(to));
  }

  private static <B> RDD<B> read(RDD<CachedBatch> input, Function2<Object, Iterator<CachedBatch>, Iterator<B>> f, Class<B> to) {
    return input.mapPartitionsWithIndex(f, true, ClassTag$.MODULE$.apply(to));
  }

  // Function classes instead of lambdas: Scala's Function1 is not serializable by itself.

  private static final class WriteRows extends AbstractFunction1<Iterator<InternalRow>, Iterator<CachedBatch>> implements Serializable {
    private static final long serialVersionUID = 1L;
    private final WriteSpec spec;

    private WriteRows(WriteSpec spec) {
      this.spec = spec;
    }

    @Override
    public Iterator<CachedBatch> apply(Iterator<InternalRow> rows) {
      return new RowBatchWriter(spec, rows);
    }
  }

  private static final class WriteBatches extends AbstractFunction1<Iterator<ColumnarBatch>, Iterator<CachedBatch>>
      implements Serializable {
    private static final long serialVersionUID = 1L;
    private final WriteSpec spec;

    private WriteBatches(WriteSpec spec) {
      this.spec = spec;
    }

    @Override
    public Iterator<CachedBatch> apply(Iterator<ColumnarBatch> batches) {
      return new ColumnarBatchWriter(spec, batches);
    }
  }

  private static final class ReadBatches extends AbstractFunction2<Object, Iterator<CachedBatch>, Iterator<ColumnarBatch>>
      implements Serializable {
    private static final long serialVersionUID = 1L;
    private final int rdd;
    private final Projection projection;
    private final ReadObserver observer;
    private final boolean reuse;

    private ReadBatches(int rdd, Projection projection, ReadObserver observer, boolean reuse) {
      this.rdd = rdd;
      this.projection = projection;
      this.observer = observer;
      this.reuse = reuse;
    }

    @Override
    public Iterator<ColumnarBatch> apply(Object partition, Iterator<CachedBatch> batches) {
      return new ColumnarReader(projection, batches, Block.of(rdd, (Integer) partition), observer, reuse);
    }
  }

  private static final class ReadRows extends AbstractFunction2<Object, Iterator<CachedBatch>, Iterator<InternalRow>>
      implements Serializable {
    private static final long serialVersionUID = 1L;
    private final int rdd;
    private final Projection projection;
    private final ReadObserver observer;

    private ReadRows(int rdd, Projection projection, ReadObserver observer) {
      this.rdd = rdd;
      this.projection = projection;
      this.observer = observer;
    }

    @Override
    public Iterator<InternalRow> apply(Object partition, Iterator<CachedBatch> batches) {
      return new RowReader(projection, batches, Block.of(rdd, (Integer) partition), observer);
    }
  }
}

package io.github.quiverspark.scan;

import io.github.quiverspark.QuiverCachedBatchSerializer;
import io.github.quiverspark.StoredSchema;
import io.github.quiverspark.conf.QuiverSettings;
import io.github.quiverspark.pruning.BatchFilter;
import io.github.quiverspark.read.Projection;
import io.github.quiverspark.read.ReadFields;
import java.io.Serializable;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.LongAccumulator;
import scala.Function2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.collection.immutable.Map;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction2;

/**
 * Scan of a relation that Quiver has cached: gives columnar batches or rows, whichever its parent asks for. Other than Spark's scan it
 * counts the fields that are read, not those of the whole relation, where generated code has a limit; and it reports what it pruned and
 * read.
 */
public final class QuiverScan extends CachedScan {
  private static final long serialVersionUID = 1L;

  /** Why no columnar batches are given; null if they are. */
  private final String rowsOnly;
  /** Whether the parent is done with a batch when it takes the next. Copies that Spark makes of the node may forget it. */
  private final boolean reusesVectors;
  /** Null if all columns are read whole. */
  private final ReadFields readFields;
  private transient volatile ScanMetrics scanMetrics;

  /** Called by Spark too, by reflection, to copy the node with other expressions. */
  public QuiverScan(Seq<Attribute> attributes, Seq<Expression> predicates, InMemoryRelation relation) {
    this(attributes, predicates, relation, null);
  }

  /** The same with fields left out; called by Spark too. */
  public QuiverScan(Seq<Attribute> attributes, Seq<Expression> predicates, InMemoryRelation relation, ReadFields readFields) {
    super(attributes, predicates, relation);
    this.rowsOnly = rowsOnly();
    this.reusesVectors = false;
    this.readFields = readFields;
  }

  private QuiverScan(QuiverScan scan, boolean reusesVectors, ReadFields readFields) {
    super(scan.attributes(), scan.predicates(), scan.relation());
    this.rowsOnly = scan.rowsOnly;
    this.reusesVectors = reusesVectors;
    this.readFields = readFields;
    this.scanMetrics = scan.scanMetrics();
    copyTagsFrom(scan);
  }

  /** The node as a scan, also where it is a stage of one, which has done its work by now; null if it is neither. */
  static QuiverScan of(SparkPlan node) {
    SparkPlan staged = CacheStageScan.ofStage(node);
    SparkPlan scan = staged == null ? node : staged;
    return scan instanceof QuiverScan ? (QuiverScan) scan : null;
  }

  /**
   * The scan for a ColumnarToRowExec, which is done with a batch when it takes the next: arrays are used again, so that they need not be
   * cleared and stay in the processor's cache. It counts in the same metrics as this node.
   */
  QuiverScan reusingVectors() {
    return new QuiverScan(this, true, readFields);
  }

  /** The scan that reads these fields, or all for null. It counts in the same metrics as this node. */
  QuiverScan reading(ReadFields fields) {
    return new QuiverScan(this, reusesVectors, fields);
  }

  /** Which fields of struct columns are read; null if all columns are read whole. */
  @Override
  public ReadFields readFields() {
    return readFields;
  }

  private String rowsOnly() {
    if (!conf().cacheVectorizedReaderEnabled()) {
      return "spark.sql.inMemoryColumnarStorage.enableVectorizedReader is false";
    }
    if (WholeStageCodegenExec.isTooManyFields(conf(), schema())) {
      return "more fields are read than spark.sql.codegen.maxFields=" + conf().wholeStageMaxNumFields();
    }
    return null;
  }

  @Override
  public boolean supportsColumnar() {
    return rowsOnly == null;
  }

  /** A scan of this class, because a ColumnarToRowExec insists on a child that is columnar, and Spark's scan of a wide relation is not. */
  @Override
  public SparkPlan doCanonicalize() {
    InMemoryTableScanExec canonical = (InMemoryTableScanExec) super.doCanonicalize();
    Seq<Attribute> columns = Plans.immutable(canonical.attributes());
    return new QuiverScan(columns, Plans.immutable(canonical.predicates()), canonical.relation(),
        readFields == null ? null : readFields.renamed(attributes(), columns));
  }

  @Override
  public String nodeName() {
    return relation().cacheBuilder().tableName().isDefined() ? "QuiverScan " + relation().cacheBuilder().cachedName() : "QuiverScan";
  }

  @Override
  String note() {
    return rowsOnly == null ? "" : "rows only: " + rowsOnly;
  }

  @Override
  public Map<String, SQLMetric> metrics() {
    return scanMetrics().asMap();
  }

  private ScanMetrics scanMetrics() {
    ScanMetrics result = scanMetrics;
    if (result == null) {
      synchronized (spark) {
        result = scanMetrics;
        if (result == null) {
          result = new ScanMetrics(session().sparkContext());
          scanMetrics = result;
        }
      }
    }
    return result;
  }

  @Override
  public RDD<InternalRow> doExecute() {
    return QuiverCachedBatchSerializer.readRows(keptBatches(), projection(), scanMetrics());
  }

  @Override
  public RDD<ColumnarBatch> doExecuteColumnar() {
    return QuiverCachedBatchSerializer.readColumnar(keptBatches(), projection(), scanMetrics(), reusesVectors);
  }

  private Projection projection() {
    Projection columns = Projection.of(StoredSchema.of(relation().output()), relation().output(), attributes(), readFields);
    return QuiverSettings.filtersRows(conf()) ? columns.where(predicates(), relation().output()) : columns;
  }

  /** The batches that the predicates leave. */
  RDD<CachedBatch> keptBatches() {
    RDD<CachedBatch> batches = mapBatches(relation().cacheBuilder().cachedColumnBuffers(), conf().inMemoryPartitionPruning()
        ? BatchFilter.build(predicates(), relation().output(), scanMetrics())
        : BatchFilter.keepAll());
    if (spark.enableAccumulatorsForTest()) {
      spark.readPartitions().setValue(0);
      spark.readBatches().setValue(0);
      batches = mapBatches(batches, new CountForTests(spark.readPartitions(), spark.readBatches()));
    }
    return batches;
  }

  private static RDD<CachedBatch> mapBatches(
      RDD<CachedBatch> batches, Function2<Object, Iterator<CachedBatch>, Iterator<CachedBatch>> f) {
    return batches.mapPartitionsWithIndex(f, true, ClassTag$.MODULE$.apply(CachedBatch.class));
  }

  /** Partitions in which a batch was read, with {@code spark.sql.inMemoryTableScanStatistics.enable}. */
  public LongAccumulator readPartitions() {
    return spark.readPartitions();
  }

  /** Batches read, with {@code spark.sql.inMemoryTableScanStatistics.enable}. */
  public LongAccumulator readBatches() {
    return spark.readBatches();
  }

  /** Counts partitions and batches as Spark's scan does. */
  private static final class CountForTests extends AbstractFunction2<Object, Iterator<CachedBatch>, Iterator<CachedBatch>>
      implements Serializable {
    private static final long serialVersionUID = 1L;
    private final LongAccumulator partitions;
    private final LongAccumulator batches;

    CountForTests(LongAccumulator partitions, LongAccumulator batches) {
      this.partitions = partitions;
      this.batches = batches;
    }

    @Override
    public Iterator<CachedBatch> apply(Object partition, Iterator<CachedBatch> input) {
      if (input.hasNext()) {
        partitions.add(1);
      }
      return new AbstractIterator<CachedBatch>() {
        @Override
        public boolean hasNext() {
          return input.hasNext();
        }

        @Override
        public CachedBatch next() {
          CachedBatch batch = input.next();
          batches.add(1);
          return batch;
        }
      };
    }
  }
}

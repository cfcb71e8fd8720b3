package io.github.quiverspark.scan;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.pruning.BatchFilter;
import io.github.quiverspark.read.ReadObserver;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import scala.Tuple2;
import scala.collection.immutable.ListMap$;
import scala.collection.immutable.Map;

/** Metrics of one scan node, as the SQL tab of the UI and the event log show them. Shipped to the tasks, which add to them. */
final class ScanMetrics implements ReadObserver, BatchFilter.Listener {
  private static final long serialVersionUID = 1L;

  private final SQLMetric rows;
  private final SQLMetric batches;
  private final SQLMetric batchesPruned;
  private final SQLMetric rowsPruned;
  private final SQLMetric rowsFiltered;
  private final SQLMetric bytesRead;
  private final SQLMetric bytesSkipped;
  private final SQLMetric decodeTime;

  ScanMetrics(SparkContext sc) {
    rows = SQLMetrics.createMetric(sc, "number of output rows");
    batches = SQLMetrics.createMetric(sc, "cached batches read");
    batchesPruned = SQLMetrics.createMetric(sc, "cached batches pruned");
    rowsPruned = SQLMetrics.createMetric(sc, "rows pruned");
    rowsFiltered = SQLMetrics.createMetric(sc, "rows filtered while decoding");
    bytesRead = NewMetrics.bytes(sc, "cached bytes read");
    bytesSkipped = NewMetrics.bytes(sc, "cached bytes skipped");
    decodeTime = NewMetrics.nanos(sc, "decode time");
  }

  Map<String, SQLMetric> asMap() {
    Map<String, SQLMetric> map = ListMap$.MODULE$.empty();
    map = with(map, "numOutputRows", rows);
    map = with(map, "numBatches", batches);
    map = with(map, "numBatchesPruned", batchesPruned);
    map = with(map, "numRowsPruned", rowsPruned);
    map = with(map, "numRowsFiltered", rowsFiltered);
    map = with(map, "bytesRead", bytesRead);
    map = with(map, "bytesSkipped", bytesSkipped);
    return with(map, "decodeTime", decodeTime);
  }

  /** The two Scala lines declare different results, neither of which Java sees as a map of these types. */
  @SuppressWarnings("unchecked")
  static Map<String, SQLMetric> with(Map<String, SQLMetric> map, String name, SQLMetric metric) {
    return (Map<String, SQLMetric>) (Object) map.$plus(new Tuple2<>(name, metric));
  }

  @Override
  public void batchRead(QuiverCachedBatch batch, int rowsLeft, long storedBytes, long decodeNanos) {
    rows.add(rowsLeft);
    rowsFiltered.add(batch.numRows() - rowsLeft);
    batches.add(1);
    bytesRead.add(storedBytes);
    bytesSkipped.add(segmentBytes(batch) - storedBytes);
    decodeTime.add(decodeNanos);
  }

  @Override
  public void skipped(CachedBatch batch) {
    batchesPruned.add(1);
    rowsPruned.add(batch.numRows());
    if (batch instanceof QuiverCachedBatch) {
      bytesSkipped.add(segmentBytes((QuiverCachedBatch) batch));
    }
  }

  static long segmentBytes(QuiverCachedBatch batch) {
    long bytes = 0;
    for (byte[] segment : batch.segments()) {
      bytes += segment.length;
    }
    return bytes;
  }
}

package io.github.quiverspark.scan;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.pruning.BatchFilter;
import io.github.quiverspark.read.ReadObserver;
import java.util.LinkedHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import scala.collection.immutable.Map;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;

/** Metrics of one scan node, as the SQL tab of the UI and the event log show them. Shipped to the tasks, which add to them. */
final class ScanMetrics implements ReadObserver, BatchFilter.Listener {
  private static final long serialVersionUID = 1L;

  private final SQLMetric rows;
  private final SQLMetric batches;
  private final SQLMetric batchesPruned;
  private final SQLMetric rowsPruned;
  private final SQLMetric bytesRead;
  private final SQLMetric bytesSkipped;
  private final SQLMetric decodeTime;

  ScanMetrics(SparkContext sc) {
    rows = SQLMetrics.createMetric(sc, "number of output rows");
    batches = SQLMetrics.createMetric(sc, "cached batches read");
    batchesPruned = SQLMetrics.createMetric(sc, "cached batches pruned");
    rowsPruned = SQLMetrics.createMetric(sc, "rows pruned");
    bytesRead = SQLMetrics.createSizeMetric(sc, "cached bytes read", 0);
    bytesSkipped = SQLMetrics.createSizeMetric(sc, "cached bytes skipped", 0);
    decodeTime = SQLMetrics.createNanoTimingMetric(sc, "decode time", 0);
  }

  Map<String, SQLMetric> asMap() {
    java.util.Map<String, SQLMetric> map = new LinkedHashMap<>();
    map.put("numOutputRows", rows);
    map.put("numBatches", batches);
    map.put("numBatchesPruned", batchesPruned);
    map.put("numRowsPruned", rowsPruned);
    map.put("bytesRead", bytesRead);
    map.put("bytesSkipped", bytesSkipped);
    map.put("decodeTime", decodeTime);
    return Map$.MODULE$.from(CollectionConverters.asScala(map));
  }

  @Override
  public void batchRead(QuiverCachedBatch batch, long storedBytes, long decodeNanos) {
    rows.add(batch.numRows());
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

  private static long segmentBytes(QuiverCachedBatch batch) {
    long bytes = 0;
    for (byte[] segment : batch.segments()) {
      bytes += segment.length;
    }
    return bytes;
  }
}

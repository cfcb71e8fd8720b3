package io.github.quiverspark.scan;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.read.ReadObserver;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import scala.collection.immutable.ListMap$;
import scala.collection.immutable.Map;

/** Metrics of one {@link QuiverAggregate}. Shipped to the tasks, which add to them. */
final class AggregateMetrics implements ReadObserver {
  private static final long serialVersionUID = 1L;

  private final SQLMetric batches;
  private final SQLMetric bytesRead;
  private final SQLMetric bytesSkipped;
  private final SQLMetric decodeTime;

  /** For one that answers from statistics alone, or that decodes as well. */
  AggregateMetrics(SparkContext sc, boolean readsNothing) {
    batches = SQLMetrics.createMetric(sc, readsNothing ? "cached batches answered from statistics" : "cached batches read");
    bytesRead = NewMetrics.bytes(sc, "cached bytes read");
    bytesSkipped = NewMetrics.bytes(sc, "cached bytes skipped");
    decodeTime = NewMetrics.nanos(sc, "decode time");
  }

  Map<String, SQLMetric> asMap() {
    Map<String, SQLMetric> map = ListMap$.MODULE$.empty();
    map = ScanMetrics.with(map, "numBatches", batches);
    map = ScanMetrics.with(map, "bytesRead", bytesRead);
    map = ScanMetrics.with(map, "bytesSkipped", bytesSkipped);
    return ScanMetrics.with(map, "decodeTime", decodeTime);
  }

  @Override
  public void batchRead(QuiverCachedBatch batch, int rows, long storedBytes, long decodeNanos) {
    batches.add(1);
    bytesRead.add(storedBytes);
    bytesSkipped.add(ScanMetrics.segmentBytes(batch) - storedBytes);
    decodeTime.add(decodeNanos);
  }
}

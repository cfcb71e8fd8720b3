package io.github.quiverspark.scan;

import org.apache.spark.SparkContext;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;

/** Metrics of a scan, registered with Spark. */
final class NewMetrics {
  private NewMetrics() {}

  static SQLMetric bytes(SparkContext sc, String name) {
    return SQLMetrics.createSizeMetric(sc, name, 0);
  }

  static SQLMetric nanos(SparkContext sc, String name) {
    return SQLMetrics.createNanoTimingMetric(sc, name, 0);
  }
}

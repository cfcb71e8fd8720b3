package io.github.quiverspark;

import org.apache.spark.sql.columnar.SimpleMetricsCachedBatchSerializer;

/** What a cache serializer is asked for by this line of Spark and not by others: nothing. */
abstract class LineSerializer extends SimpleMetricsCachedBatchSerializer {
  private static final long serialVersionUID = 1L;
}

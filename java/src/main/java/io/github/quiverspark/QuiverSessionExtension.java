package io.github.quiverspark;

import io.github.quiverspark.scan.ScanPlacement;
import io.github.quiverspark.scan.ScanRules;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Teaches Spark's planner to read Quiver's relations well. {@link QuiverPlugin} adds it to {@code spark.sql.extensions}; without the
 * plugin it can be named there by hand.
 */
public final class QuiverSessionExtension extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    // adaptive plans meet the columnar rules only after their scans have become stages, so the scan is placed before
    extensions.injectQueryStagePrepRule(session -> new ScanPlacement());
    extensions.injectColumnar(session -> new ScanRules());
    return BoxedUnit.UNIT;
  }
}

package io.github.quiverspark;

import io.github.quiverspark.conf.QuiverBuild;
import io.github.quiverspark.scan.ScanPlacement;
import io.github.quiverspark.scan.ScanRules;
import org.apache.spark.package$;
import org.apache.spark.sql.SparkSessionExtensions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Teaches Spark's planner to read Quiver's relations well. {@link QuiverPlugin} adds it to {@code spark.sql.extensions}; without the
 * plugin it can be named there by hand.
 */
public final class QuiverSessionExtension extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  private static final Logger LOG = LoggerFactory.getLogger(QuiverSessionExtension.class);

  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    String version = package$.MODULE$.SPARK_VERSION();
    if (stagesKnowSparksScanOnly(version)) {
      LOG.warn("Spark {} makes stages of its own cached scan only: cached relations are read through that scan, row by row."
          + " Spark 3.5.2 and newer take Quiver's scan", version);
      return BoxedUnit.UNIT;
    }
    // adaptive plans meet the columnar rules only after their scans have become stages, so the scan is placed before
    extensions.injectQueryStagePrepRule(session -> new ScanPlacement());
    extensions.injectColumnar(session -> new ScanRules());
    return BoxedUnit.UNIT;
  }

  /** Spark 3.5.0 and 3.5.1 have cache stages (SPARK-42101), but not yet the interface by which another scan can be in one. */
  static boolean stagesKnowSparksScanOnly(String sparkVersion) {
    return QuiverBuild.isRelease(sparkVersion, "3.5.0", "3.5.1");
  }
}

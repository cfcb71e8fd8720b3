package io.github.quiverspark.conf;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The unit tests run on the jar of Spark 4.1. */
class QuiverBuildTest {
  @Test
  void anyReleaseOfTheLineWillDo() {
    assertNull(QuiverBuild.reasonAgainst("4.1.0", "2.13.17"));
    assertNull(QuiverBuild.reasonAgainst("4.1.99-vendor-3", "2.13.1"));
  }

  @Test
  void anotherLineIsNamedWithTheJarToTake() {
    assertTrue(QuiverBuild.reasonAgainst("4.3.0", "2.13.17").contains("quiver-spark-4.3_2.13-" + QuiverBuild.version() + ".jar"));
    assertTrue(QuiverBuild.reasonAgainst("4.10.0", "2.13.17").contains("this is Spark 4.10.0"));
    assertTrue(QuiverBuild.reasonAgainst("4.1.0", "2.12.20").contains("with Scala 2.12.20"));
  }
}

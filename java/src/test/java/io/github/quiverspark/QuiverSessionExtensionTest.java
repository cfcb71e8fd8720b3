package io.github.quiverspark;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class QuiverSessionExtensionTest {
  @Test
  void leavesTwoReleasesTheirScan() {
    assertTrue(QuiverSessionExtension.stagesKnowSparksScanOnly("3.5.0"));
    assertTrue(QuiverSessionExtension.stagesKnowSparksScanOnly("3.5.1-amzn-0"));
    assertFalse(QuiverSessionExtension.stagesKnowSparksScanOnly("3.5.2"));
    assertFalse(QuiverSessionExtension.stagesKnowSparksScanOnly("3.5.10"));
    assertFalse(QuiverSessionExtension.stagesKnowSparksScanOnly("3.4.1"));
    assertFalse(QuiverSessionExtension.stagesKnowSparksScanOnly("4.1.1"));
  }
}

package io.github.quiverspark.scan;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PythonInputTest {
  @Test
  void releasesThatHaveTheFault() {
    assertTrue(PythonInput.affected("4.2.0"));
    assertTrue(PythonInput.affected("4.2.0-vendor-3"));
    assertTrue(PythonInput.affected("4.2.0.1"));
    assertFalse(PythonInput.affected("4.2.01"));
    assertFalse(PythonInput.affected("4.2.1"));
    assertFalse(PythonInput.affected("4.1.4"));
    assertFalse(PythonInput.affected("4.3.0"));
  }
}

package io.github.quiverspark.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.nativelib.NativeLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** Tests of writers and readers over the native library, without a SparkContext: after each of them native memory is back. */
public abstract class NativeTest {
  @BeforeAll
  static void load() {
    NativeLoader.load();
  }

  @AfterEach
  void nativeMemoryIsBack() {
    assertEquals(0, Native.nativeBytes());
  }
}

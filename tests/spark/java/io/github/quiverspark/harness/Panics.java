package io.github.quiverspark.harness;

import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;

/** Makes the test build of the native library fail inside a task. */
public final class Panics {
  private static final String SCHEMA =
      "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}";

  private Panics() {}

  /** Encodes one row with an injected failure of the given kind; what the task failed with. */
  public static String inTask(JavaSparkContext sc, String kind) {
    try {
      sc.parallelize(Collections.singletonList(1), 1).map(x -> encode(kind)).collect();
      return "no failure";
    } catch (Exception e) {
      if (e instanceof SparkException || e.getCause() != null) {
        return String.valueOf(e.getMessage());
      }
      throw e;
    }
  }

  private static long encode(String kind) throws ReflectiveOperationException {
    // by reflection: the harness is compiled without Quiver
    Class<?> api = Class.forName("io.github.quiverspark.nativelib.Native", true, Thread.currentThread().getContextClassLoader());
    byte[] schema = SCHEMA.getBytes(StandardCharsets.UTF_8);
    long encoder =
        (long) api.getMethod("newEncoder", byte[].class, String.class).invoke(null, schema, "codec=zstd\ninject=" + kind);
    long memory = (long) api.getMethod("allocate", long.class).invoke(null, 64L);
    try {
      org.apache.spark.unsafe.Platform.putLong(null, memory + 32, 16);
      api.getMethod("encodeRows", long.class, long.class, long.class, long.class, int.class, long[].class)
          .invoke(null, encoder, memory, 16L, memory + 32, 1, new long[2]);
      return encoder;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException) {
        throw (RuntimeException) e.getCause();
      }
      throw e;
    } finally {
      api.getMethod("free", long.class, long.class).invoke(null, memory, 64L);
      api.getMethod("close", long.class).invoke(null, encoder);
    }
  }
}

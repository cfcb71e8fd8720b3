package io.github.quiverspark.conf;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** What this jar was built as: read from {@code quiver-build.properties}, which Maven fills in. */
public final class QuiverBuild {
  private static final Properties PROPERTIES = read();

  private QuiverBuild() {}

  /** Version of Quiver, such as 0.1.0; part of the native library's file name. */
  public static String version() {
    return PROPERTIES.getProperty("version");
  }

  /** Version of Spark that the jar was compiled against. */
  public static String spark() {
    return PROPERTIES.getProperty("spark");
  }

  private static Properties read() {
    String name = "/io/github/quiverspark/quiver-build.properties";
    try (InputStream in = QuiverBuild.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the jar of Quiver is incomplete: " + name + " is missing");
      }
      Properties properties = new Properties();
      properties.load(in);
      return properties;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

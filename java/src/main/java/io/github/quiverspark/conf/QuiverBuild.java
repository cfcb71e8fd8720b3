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

  /** Scala version that the jar was compiled for, such as 2.13. */
  public static String scala() {
    return PROPERTIES.getProperty("scala");
  }

  /**
   * Why this jar cannot be used with a Spark, with what to do about it; null if it is of the same line.
   *
   * @param spark the running Spark's version, such as 4.1.4
   * @param scala the running Scala's version, such as 2.13.17
   */
  public static String reasonAgainst(String spark, String scala) {
    if (line(spark).equals(line(spark())) && line(scala).equals(scala())) {
      return null;
    }
    return "this jar is for Spark " + line(spark()) + " with Scala " + scala() + ", but this is Spark " + spark + " with Scala " + scala
        + " (take quiver-spark-" + line(spark) + "_" + line(scala) + "-" + version() + ".jar)";
  }

  /**
   * Whether a version of Spark is one of the releases, or one of them with what a vendor has added, such as 3.5.1-amzn-0 for 3.5.1.
   *
   * @param spark the running Spark's version
   * @param releases whole release numbers, such as 3.5.1
   */
  public static boolean isRelease(String spark, String... releases) {
    for (String release : releases) {
      if (spark.startsWith(release) && (spark.length() == release.length() || !Character.isDigit(spark.charAt(release.length())))) {
        return true;
      }
    }
    return false;
  }

  /** Major and minor part of a version. */
  private static String line(String version) {
    String[] parts = version.split("[.-]", -1);
    return parts.length < 2 ? version : parts[0] + "." + parts[1];
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

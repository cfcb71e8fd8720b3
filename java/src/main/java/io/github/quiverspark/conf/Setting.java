package io.github.quiverspark.conf;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.internal.SQLConf;

/**
 * One {@code spark.quiver.*} setting: its key, type, default, allowed values and documentation.
 *
 * <p>Values are read as text and checked here, so that the same rule and the same message serve {@code SparkConf} at
 * start-up, {@code spark.conf.set} at run time, and a session without the plugin.
 *
 * @param <T> Boolean, Integer, Long (bytes) or String (one of a list)
 */
public final class Setting<T> {
  /** When a value is taken. */
  public enum Scope {
    /** Read once, while the SparkContext (or an executor) starts. */
    START("start-up"),
    /** Read whenever it is needed; {@code spark.conf.set} and {@code SET} work. */
    RUN_TIME("run time"),
    /** Read at start-up, and again at run time. */
    BOTH("start-up and run time"),
    /** Set by Quiver, for reading. */
    OUTPUT("read only");

    private final String text;

    Scope(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** Turns text into a value; throws {@link IllegalArgumentException} for text that is no value. */
  private interface Parser<T> {
    T parse(String text);
  }

  /** What a size that is left to Quiver reads as. */
  public static final long AUTO = -1;

  private static final String AUTO_TEXT = "auto";

  private final String key;
  private final String type;
  private final String defaultText;
  private final String allowed;
  private final Scope scope;
  private final String doc;
  private final Parser<T> parser;

  private Setting(String key, String type, String defaultText, String allowed, Scope scope, String doc, Parser<T> parser) {
    this.key = key;
    this.type = type;
    this.defaultText = defaultText;
    this.allowed = allowed;
    this.scope = scope;
    this.doc = doc;
    this.parser = parser;
  }

  static Setting<Boolean> ofBoolean(String key, boolean defaultValue, Scope scope, String doc) {
    return new Setting<>(key, "boolean", String.valueOf(defaultValue), "true or false", scope, doc, text -> {
      switch (text.toLowerCase(Locale.ROOT)) {
        case "true":
          return true;
        case "false":
          return false;
        default:
          throw new IllegalArgumentException();
      }
    });
  }

  static Setting<Integer> ofInt(String key, int defaultValue, int min, int max, Scope scope, String doc) {
    return new Setting<>(key, "integer", String.valueOf(defaultValue), "a whole number from " + min + " to " + max, scope, doc,
        text -> {
          int value = Integer.parseInt(text);
          if (value < min || value > max) {
            throw new IllegalArgumentException();
          }
          return value;
        });
  }

  /** A size; min and max in bytes, both texts as a user would write them. */
  static Setting<Long> ofBytes(String key, String defaultText, String min, String max, Scope scope, String doc) {
    long low = JavaUtils.byteStringAsBytes(min);
    long high = JavaUtils.byteStringAsBytes(max);
    return new Setting<>(key, "size", defaultText, "a size from " + min + " to " + max + ", such as 512k or 4m (a plain number is bytes)",
        scope, doc, text -> {
          long value = JavaUtils.byteStringAsBytes(text);
          if (value < low || value > high) {
            throw new IllegalArgumentException();
          }
          return value;
        });
  }

  /** A size, or the word {@code auto}, which is the default and reads as {@link #AUTO}. */
  static Setting<Long> ofBytesOrAuto(String key, String min, String max, Scope scope, String doc) {
    Setting<Long> size = ofBytes(key, AUTO_TEXT, min, max, scope, doc);
    return new Setting<>(key, size.type, AUTO_TEXT, AUTO_TEXT + " or " + size.allowed, scope, doc,
        text -> text.equalsIgnoreCase(AUTO_TEXT) ? Long.valueOf(AUTO) : size.parser.parse(text));
  }

  static Setting<String> ofChoice(String key, String defaultValue, List<String> choices, Scope scope, String doc) {
    return new Setting<>(key, "name", defaultValue, "one of " + String.join(", ", choices), scope, doc, text -> {
      String value = text.toLowerCase(Locale.ROOT);
      if (!choices.contains(value)) {
        throw new IllegalArgumentException();
      }
      return value;
    });
  }

  /** A key that Quiver sets for users to read. */
  static Setting<String> ofOutput(String key, String doc) {
    return new Setting<>(key, "text", null, "set by Quiver", Scope.OUTPUT, doc, text -> text);
  }

  public String key() {
    return key;
  }

  /** "boolean", "integer", "size", "name" or "text". */
  public String type() {
    return type;
  }

  /** The default as a user would write it; null for an output. */
  public String defaultText() {
    return defaultText;
  }

  /** The allowed values in words. */
  public String allowed() {
    return allowed;
  }

  public Scope scope() {
    return scope;
  }

  public String doc() {
    return doc;
  }

  /** The value of a text. Throws {@link IllegalArgumentException} that names the key and lists the right values. */
  public T parse(String text) {
    try {
      return parser.parse(text.trim());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(key + " is '" + text + "' but must be " + allowed + " (default " + defaultText + ")");
    }
  }

  /** The value of the session. */
  public T read(SQLConf conf) {
    return parse(conf.getConfString(key, defaultText));
  }

  /** The value the application was started with. */
  public T read(SparkConf conf) {
    return parse(conf.get(key, defaultText));
  }

  @Override
  public String toString() {
    return key + Arrays.asList(type, defaultText, allowed, scope);
  }
}

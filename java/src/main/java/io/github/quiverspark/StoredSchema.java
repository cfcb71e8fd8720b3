package io.github.quiverspark;

import io.github.quiverspark.conf.QuiverSettings;
import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.nativelib.NativeLoader;
import io.github.quiverspark.vector.VectorBuilder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.Seq;

/**
 * The schema of a cached relation in the form the native library takes it, and whether the library can store it. Made on the driver;
 * the verdict depends on the types, and on what stays as it is for the whole application, so that writer and reader of a relation agree.
 */
public final class StoredSchema {
  private static final int REMEMBERED = 256;
  // The same few relations are asked about whenever a query over them is planned; making the JSON of a wide one takes milliseconds.
  private static final Map<StructType, StoredSchema> CACHE = new LinkedHashMap<StructType, StoredSchema>(16, 0.75f, true) {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<StructType, StoredSchema> eldest) {
      return size() > REMEMBERED;
    }
  };

  private final byte[] json;
  private final String unsupportedReason;

  private StoredSchema(byte[] json, String unsupportedReason) {
    this.json = json;
    this.unsupportedReason = unsupportedReason;
  }

  /** The schema of these attributes. */
  public static StoredSchema of(Seq<Attribute> attributes) {
    return of(structType(attributes));
  }

  /** The schema of this struct. */
  public static StoredSchema of(StructType schema) {
    String off = QuiverSettings.offFromTheStart();
    if (off != null) {
      return new StoredSchema(new byte[0], off); // not remembered: the next application of this JVM may be another
    }
    synchronized (CACHE) {
      StoredSchema known = CACHE.get(schema);
      if (known == null) {
        known = judge(schema);
        CACHE.put(schema, known);
      }
      return known;
    }
  }

  /** UTF-8 of {@code StructType.json()}. Not a copy. */
  public byte[] json() {
    return json;
  }

  /** Whether batches of the schema can be stored by Quiver. */
  public boolean isSupported() {
    return unsupportedReason == null;
  }

  /** Why not, naming column and type; null if supported. */
  public String unsupportedReason() {
    return unsupportedReason;
  }

  /** The struct of these attributes: names, types, nullability and metadata. */
  static StructType structType(Seq<Attribute> attributes) {
    StructField[] fields = new StructField[attributes.size()];
    scala.collection.Iterator<Attribute> it = attributes.iterator();
    for (int i = 0; it.hasNext(); i++) {
      Attribute a = it.next();
      fields[i] = new StructField(a.name(), a.dataType(), a.nullable(), a.metadata());
    }
    return new StructType(fields);
  }

  private static StoredSchema judge(StructType schema) {
    byte[] json;
    try {
      json = schema.json().getBytes(StandardCharsets.UTF_8);
    } catch (RuntimeException e) {
      return new StoredSchema(new byte[0], "the schema has no JSON form: " + e.getMessage());
    }
    try {
      // The loader remembers a failure, so the verdict stays the same for this JVM's life.
      NativeLoader.load();
    } catch (QuiverException e) {
      return new StoredSchema(json, e.getMessage());
    }
    try {
      String reason = Native.unsupportedReason(json);
      return new StoredSchema(json, reason == null ? unreadable(schema) : reason);
    } catch (IllegalArgumentException e) {
      // such as types that nest deeper than the library follows them
      return new StoredSchema(json, e.getMessage());
    }
  }

  /** Why there is no vector for a column; null if there is one for each. */
  private static String unreadable(StructType schema) {
    for (StructField f : schema.fields()) {
      try {
        VectorBuilder.nodes(f.dataType());
      } catch (IllegalArgumentException e) {
        return "column " + f.name() + ": " + e.getMessage();
      }
    }
    return null;
  }
}

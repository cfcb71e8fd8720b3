import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.types.*;
import org.apache.spark.sql.util.ArrowUtils;

/**
 * Prints schemas as Spark writes them, one per line: what it is, StructType.json, and the Arrow schema that Spark's
 * ArrowUtils makes of it ("-" where it makes none), with tabs in between. Run by Java 17 with SPARK_HOME/jars/* as class path:
 *
 *   java -cp "$SPARK_HOME/jars/*" SparkSchemas.java > ../spark-schemas.tsv
 */
public class SparkSchemas {
  static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  static void print(String what, StructType t) {
    String arrow;
    try {
      Schema s = ArrowUtils.toArrowSchema(t, "UTC", false, false);
      arrow = s.toString().replace("\n", "\\n");
    } catch (RuntimeException e) {
      arrow = "-";
    }
    OUT.println(what + "\t" + t.json() + "\t" + arrow);
  }

  static void ddl(String type) {
    print(type, (StructType) DataType.fromDDL("c " + type));
  }

  public static void main(String[] args) {
    String[] types = {
      "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "decimal(38,18)", "decimal(1,1)",
      "string", "char(5)", "varchar(7)", "binary", "date", "timestamp", "timestamp_ntz", "timestamp_ltz", "time", "time(0)", "time(3)",
      "void", "interval", "interval year", "interval month", "interval year to month", "interval day", "interval day to hour",
      "interval day to minute", "interval day to second", "interval hour", "interval hour to minute", "interval hour to second",
      "interval minute", "interval minute to second", "interval second", "variant",
      "array<bigint>", "array<array<string>>", "map<string,array<decimal(38,2)>>", "map<date,variant>",
      "struct<a:int,a:int,`b.c`:struct<d:string not null>>", "struct<>",
      "string collate UNICODE_CI", "string collate UTF8_LCASE", "string collate UTF8_BINARY", "string collate UTF8_BINARY_RTRIM",
      "array<string collate UNICODE>", "map<string collate UTF8_LCASE,map<string,string collate UNICODE>>",
      "struct<s:string collate UNICODE_CI,t:array<string collate UTF8_LCASE>,u:string>", "array<struct<s:string collate UNICODE_CI>>",
    };
    for (String t : types) {
      ddl(t);
    }
    for (String t : new String[] {"geometry(4326)", "geography(4326)"}) {
      ddl(t);
    }
    StructType empty = new StructType();
    print("no columns", empty);
    print("equal names", empty.add("a", "int").add("a", "string", false).add("", "double"));
    print("names with quotes", empty.add("\"\\\n\u00e9\ud83d\ude00.`", "int").add("x", new StructType().add("\"", "string collate UNICODE")));
    print("containsNull false", empty.add("a", DataTypes.createArrayType(DataTypes.IntegerType, false), false)
        .add("m", DataTypes.createMapType(DataTypes.StringType, DataTypes.LongType, false)));
    print("metadata", empty.add(new StructField("m", DataTypes.StringType, true, new MetadataBuilder().putString("comment", "}\"]{")
        .putLongArray("l", new long[] {1, -2}).putMetadata("n", new MetadataBuilder().putDouble("d", 1e-300).putNull("z").build()).build())));
    print("udt", empty.add("u", new Point()).add("a", DataTypes.createArrayType(new Point())));
  }

  /** A user-defined type over a struct. */
  public static class Point extends UserDefinedType<Object> {
    @Override public DataType sqlType() {
      return new StructType().add("x", "double", false).add("y", "double", false);
    }
    @Override public Object serialize(Object o) { return o; }
    @Override public Object deserialize(Object o) { return o; }
    @Override public Class<Object> userClass() { return Object.class; }
  }
}

package io.github.quiverspark.testing;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Schemas that tests share. */
public final class Schemas {
  private Schemas() {}

  /** A schema of nullable columns c0, c1 … given in Spark's DDL, without names. */
  public static StructType of(String... types) {
    List<StructField> fields = new ArrayList<>();
    for (String t : types) {
      fields.add(new StructField("c" + fields.size(), DataType.fromDDL(t), true, Metadata.empty()));
    }
    return new StructType(fields.toArray(new StructField[0]));
  }

  /** The types that Spark's own vectors and Arrow's can hold. */
  public static StructType common() {
    return of("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(7,2)", "decimal(18,3)",
        "decimal(38,10)", "string", "binary", "date", "timestamp", "timestamp_ntz", "interval year to month",
        "interval day to second", "array<int>", "array<string>", "map<string,int>", "struct<a:int,b:string>",
        "array<struct<x:array<string>,y:map<int,decimal(38,2)>>>", "struct<s:struct<t:binary,u:boolean>,v:double>",
        "map<int,struct<a:string,b:array<double>>>", "void");
  }

  /**
   * Those that only Spark's vectors hold, on top of {@link #common}. No interval inside a struct: Spark's converter of rows to vectors
   * misplaces the values behind a null struct.
   */
  public static StructType sparkOnly() {
    return of("interval", "variant", "array<interval>", "struct<v:variant,i:int>").add("n", DataTypes.NullType);
  }

  public static DataType[] types(StructType schema) {
    DataType[] types = new DataType[schema.length()];
    for (int i = 0; i < types.length; i++) {
      types[i] = schema.fields()[i].dataType();
    }
    return types;
  }
}

package io.github.quiverspark.read;

import io.github.quiverspark.vector.VectorBuilder;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/**
 * Which fields of struct columns are read: for each column of which not all is, its type with void in the place of fields that are not.
 * These are not decoded and are null in what is read. By expression id, so that a column that is not known is read whole.
 */
public final class ReadFields implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Map<ExprId, DataType> types;

  private ReadFields(Map<ExprId, DataType> types) {
    this.types = types;
  }

  /** For the types that columns are read as, in the order of the columns; null if all are read whole. */
  public static ReadFields of(Seq<Attribute> columns, List<DataType> types) {
    Map<ExprId, DataType> partial = new HashMap<>();
    Iterator<Attribute> it = columns.iterator();
    for (DataType type : types) {
      Attribute column = it.next();
      if (!type.equals(column.dataType())) {
        partial.put(column.exprId(), type);
      }
    }
    return partial.isEmpty() ? null : new ReadFields(partial);
  }

  /** The type that a column is read as: its own with void in the place of fields that are not read. */
  public DataType typeOf(Attribute column) {
    return types.getOrDefault(column.exprId(), column.dataType());
  }

  /**
   * The columns as they are read: fields that are left out may be null there, whatever they are in the relation. Code that copies a whole
   * struct, though nobody looks at those fields afterwards, would otherwise take their values without asking.
   */
  public Seq<Attribute> output(Seq<Attribute> columns) {
    List<Attribute> output = new ArrayList<>();
    Iterator<Attribute> it = columns.iterator();
    while (it.hasNext()) {
      Attribute column = it.next();
      output.add(column.withDataType(withNulls(column.dataType(), typeOf(column))));
    }
    return JavaConverters.asScalaIteratorConverter(output.iterator()).asScala().toList();
  }

  private static DataType withNulls(DataType full, DataType read) {
    if (full.equals(read)) {
      return full;
    }
    if (full instanceof StructType) {
      StructField[] fields = ((StructType) full).fields().clone();
      for (int i = 0; i < fields.length; i++) {
        StructField f = fields[i];
        DataType type = ((StructType) read).fields()[i].dataType();
        fields[i] = isLeftOut(f.dataType(), type)
            ? new StructField(f.name(), f.dataType(), true, f.metadata())
            : new StructField(f.name(), withNulls(f.dataType(), type), f.nullable(), f.metadata());
      }
      return new StructType(fields);
    }
    if (full instanceof ArrayType) {
      ArrayType array = (ArrayType) full;
      return new ArrayType(withNulls(array.elementType(), ((ArrayType) read).elementType()), array.containsNull());
    }
    MapType map = (MapType) full;
    return new MapType(map.keyType(), withNulls(map.valueType(), ((MapType) read).valueType()), map.valueContainsNull());
  }

  /** The same for other attributes of the same columns, in the same order. */
  public ReadFields renamed(Seq<Attribute> from, Seq<Attribute> to) {
    List<DataType> read = new ArrayList<>();
    Iterator<Attribute> it = from.iterator();
    while (it.hasNext()) {
      read.add(typeOf(it.next()));
    }
    return of(to, read);
  }

  /** The paths of what is read of the columns that are not read whole, such as {@code [s.a, s.b.c, list.element.x]}. */
  public List<String> paths(Seq<Attribute> columns) {
    List<String> paths = new ArrayList<>();
    Iterator<Attribute> it = columns.iterator();
    while (it.hasNext()) {
      Attribute column = it.next();
      DataType read = types.get(column.exprId());
      if (read != null) {
        addPaths(column.name(), column.dataType(), read, paths);
      }
    }
    return paths;
  }

  /** A struct of which no field is read is looked at for whether it is null. Void fields have nothing to read, whether asked for or not. */
  private static void addPaths(String name, DataType full, DataType read, List<String> paths) {
    if (full.equals(read)) {
      paths.add(name);
    } else if (full instanceof StructType) {
      int before = paths.size();
      StructField[] fields = ((StructType) full).fields();
      for (int i = 0; i < fields.length; i++) {
        DataType type = ((StructType) read).fields()[i].dataType();
        if (!(type instanceof NullType)) {
          addPaths(name + "." + fields[i].name(), fields[i].dataType(), type, paths);
        }
      }
      if (paths.size() == before) {
        paths.add("nulls of " + name);
      }
    } else if (full instanceof ArrayType) {
      addPaths(name + ".element", ((ArrayType) full).elementType(), ((ArrayType) read).elementType(), paths);
    } else {
      paths.add(name + ".key");
      addPaths(name + ".value", ((MapType) full).valueType(), ((MapType) read).valueType(), paths);
    }
  }

  /** Adds the nodes that are not read of a column whose own is the given; they are counted as in {@code Native.decodeVectors}. */
  static void addUnread(DataType full, DataType read, int node, List<Integer> unread) {
    if (full.equals(read)) {
      return;
    }
    if (full instanceof StructType) {
      StructField[] fields = ((StructType) full).fields();
      int at = node + 1;
      for (int i = 0; i < fields.length; i++) {
        DataType type = ((StructType) read).fields()[i].dataType();
        if (isLeftOut(fields[i].dataType(), type)) {
          unread.add(at);
        } else {
          addUnread(fields[i].dataType(), type, at, unread);
        }
        at += VectorBuilder.nodes(fields[i].dataType());
      }
    } else if (full instanceof ArrayType) {
      addUnread(((ArrayType) full).elementType(), ((ArrayType) read).elementType(), node + 1, unread);
    } else {
      MapType map = (MapType) full; // the node of its entries, the key, then the value
      addUnread(map.valueType(), ((MapType) read).valueType(), node + 2 + VectorBuilder.nodes(map.keyType()), unread);
    }
  }

  private static boolean isLeftOut(DataType full, DataType read) {
    return read instanceof NullType && !(full instanceof NullType);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ReadFields && types.equals(((ReadFields) other).types);
  }

  @Override
  public int hashCode() {
    return types.hashCode();
  }
}

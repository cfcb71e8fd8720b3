package io.github.quiverspark.scan;

import io.github.quiverspark.read.ReadFields;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.ElementAt;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetArrayItem;
import org.apache.spark.sql.catalyst.expressions.GetArrayStructFields;
import org.apache.spark.sql.catalyst.expressions.GetMapValue;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Size;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.collection.Seq;

/**
 * Finds out which fields of struct columns expressions read. What is taken apart by one of the few expressions that are known here to
 * look at nothing else is followed down; a column, or a part of one, that occurs in any other way is read whole.
 */
final class FieldReads {
  /** Number of the child that an array's elements and a map's values are; fields have their ordinals. */
  private static final int ELEMENT = -1;

  private final Map<ExprId, Part> columns = new HashMap<>();
  private boolean everything;

  FieldReads(Seq<Attribute> columns) {
    Iterator<Attribute> it = columns.iterator();
    while (it.hasNext()) {
      this.columns.put(it.next().exprId(), new Part());
    }
  }

  /** What is read of the columns; null if that is all. */
  ReadFields readFields(Seq<Attribute> of) {
    if (everything) {
      return null;
    }
    List<DataType> types = new ArrayList<>();
    Iterator<Attribute> it = of.iterator();
    while (it.hasNext()) {
      Attribute column = it.next();
      types.add(columns.get(column.exprId()).typeRead(column.dataType()));
    }
    return ReadFields.of(of, types);
  }

  void addAll(scala.collection.Seq<? extends Expression> expressions) {
    Iterator<? extends Expression> it = expressions.iterator();
    while (it.hasNext()) {
      add(it.next());
    }
  }

  private void add(Expression e) {
    if (e instanceof BoundReference) {
      everything = true; // by position, of who knows what
      return;
    }
    Place place = place(e);
    if (place != null) {
      place.part.whole = true;
    } else if (looksAtShapeOnly(e)) {
      Expression child = e.children().head();
      if (place(child) == null) {
        add(child);
      }
    } else {
      addAll(e.children());
      if (e.children().isEmpty()) {
        addHidden(e);
      }
    }
  }

  /** Whether of its child the expression asks only whether it is null and how many elements it has. */
  private static boolean looksAtShapeOnly(Expression e) {
    return e.getClass() == IsNull.class || e.getClass() == IsNotNull.class || e.getClass() == Size.class;
  }

  /** What an expression without children refers to, if it is none of those that are known. */
  private void addHidden(Expression e) {
    Iterator<Attribute> it = e.references().iterator();
    while (it.hasNext()) {
      Part part = columns.get(it.next().exprId());
      if (part != null) {
        part.whole = true;
      }
    }
  }

  /** The place in a column that an expression takes its value from, and nothing of it but that; null if it does anything else. */
  private Place place(Expression e) {
    if (e instanceof AttributeReference) {
      Part column = columns.get(((AttributeReference) e).exprId());
      return column == null ? null : new Place(column, false);
    }
    Class<?> c = e.getClass();
    boolean element = c == GetArrayItem.class || c == GetMapValue.class
        || c == ElementAt.class && e.children().head().dataType() instanceof ArrayType;
    if (!element && c != GetStructField.class && c != GetArrayStructFields.class) {
      return null;
    }
    Place from = place(e.children().head());
    if (from == null) {
      return null;
    }
    if (c == GetStructField.class) {
      return new Place(from.part.child(((GetStructField) e).ordinal()), false);
    }
    if (c == GetArrayStructFields.class) {
      Part struct = from.inArray ? from.part : from.part.child(ELEMENT);
      return new Place(struct.child(((GetArrayStructFields) e).ordinal()), true);
    }
    add(e.children().apply(1)); // the index or key
    return new Place(from.inArray ? from.part : from.part.child(ELEMENT), false);
  }

  /** A part of a column, or an array of such parts, one from each element of an array. */
  private static final class Place {
    final Part part;
    final boolean inArray;

    Place(Part part, boolean inArray) {
      this.part = part;
      this.inArray = inArray;
    }
  }

  /** A column or what is in it: read whole, or as far as its children are, of which those that are not there are not read. */
  private static final class Part {
    private final Map<Integer, Part> children = new HashMap<>();
    private boolean whole;

    Part child(int number) {
      return children.computeIfAbsent(number, n -> new Part());
    }

    DataType typeRead(DataType full) {
      if (whole) {
        return full;
      }
      if (full instanceof StructType) {
        StructField[] fields = ((StructType) full).fields().clone();
        for (int i = 0; i < fields.length; i++) {
          StructField f = fields[i];
          Part part = children.get(i);
          DataType type = part == null ? DataTypes.NullType : part.typeRead(f.dataType());
          if (!type.equals(f.dataType())) {
            fields[i] = new StructField(f.name(), type, true, f.metadata());
          }
        }
        return new StructType(fields);
      }
      if (full instanceof ArrayType) {
        ArrayType array = (ArrayType) full;
        return new ArrayType(child(ELEMENT).typeRead(array.elementType()), array.containsNull());
      }
      if (full instanceof MapType) {
        MapType map = (MapType) full;
        return new MapType(map.keyType(), child(ELEMENT).typeRead(map.valueType()), map.valueContainsNull());
      }
      return full;
    }
  }
}

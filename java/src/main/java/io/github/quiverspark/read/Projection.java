package io.github.quiverspark.read;

import io.github.quiverspark.StoredSchema;
import io.github.quiverspark.pruning.RowConditions;
import io.github.quiverspark.vector.Kind;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import scala.collection.Iterator;
import scala.collection.Seq;

/** Which columns of a cached relation are read, in which order: what the driver ships to the tasks that read. */
public final class Projection implements Serializable {
  private static final long serialVersionUID = 1L;

  private final byte[] schemaJson;
  private final int[] indexes;
  private final DataType[] types;
  /** As {@code Native.newDecoder} takes it. */
  private final byte[] filter;

  private Projection(byte[] schemaJson, int[] indexes, DataType[] types, byte[] filter) {
    this.schemaJson = schemaJson;
    this.indexes = indexes;
    this.types = types;
    this.filter = filter;
  }

  /** Resolves the selected attributes by expression id, the only key that duplicate names and reordering leave intact. */
  public static Projection of(StoredSchema schema, Seq<Attribute> cached, Seq<Attribute> selected) {
    Map<ExprId, Integer> positions = new HashMap<>();
    Iterator<Attribute> c = cached.iterator();
    for (int i = 0; c.hasNext(); i++) {
      positions.putIfAbsent(c.next().exprId(), i);
    }
    int[] indexes = new int[selected.size()];
    DataType[] types = new DataType[indexes.length];
    Iterator<Attribute> s = selected.iterator();
    for (int i = 0; s.hasNext(); i++) {
      Attribute a = s.next();
      Integer at = positions.get(a.exprId());
      if (at == null) {
        throw new IllegalArgumentException("column " + a + " is not among the cached columns " + cached.mkString(", "));
      }
      indexes[i] = at;
      types[i] = Kind.storageType(a.dataType());
    }
    return new Projection(schema.json(), indexes, types, null);
  }

  /** The same columns, of which rows that cannot pass the filter, conjuncts over the cached columns, may be left out. */
  public Projection where(Seq<Expression> filter, Seq<Attribute> cached) {
    return new Projection(schemaJson, indexes, types, RowConditions.of(filter, cached, indexes));
  }

  /** Conditions that rows have to meet, for {@code Native.newDecoder}; null if there are none. Not a copy. */
  byte[] filter() {
    return filter;
  }

  /** UTF-8 of the cached schema's JSON. Not a copy. */
  byte[] schemaJson() {
    return schemaJson;
  }

  /** Index of each projected column within the cached schema. Not a copy. */
  int[] indexes() {
    return indexes;
  }

  /** Storage type of each projected column. Not a copy. */
  DataType[] types() {
    return types;
  }

  /** Whether values taken from rows of the projected columns are copies, as strings, arrays, maps and structs are not. */
  boolean givesCopies() {
    for (DataType t : types) {
      if (!UnsafeRow.isMutable(t)) {
        return false;
      }
    }
    return true;
  }

  /** Number of projected columns. */
  int width() {
    return indexes.length;
  }
}

package io.github.quiverspark.read;

import io.github.quiverspark.StoredSchema;
import io.github.quiverspark.pruning.RowConditions;
import io.github.quiverspark.vector.Kind;
import io.github.quiverspark.vector.VectorBuilder;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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
  private final int[] unread;
  /** As {@code Native.newDecoder} takes it. */
  private final byte[] filter;

  private Projection(byte[] schemaJson, int[] indexes, DataType[] types, int[] unread, byte[] filter) {
    this.schemaJson = schemaJson;
    this.indexes = indexes;
    this.types = types;
    this.unread = unread;
    this.filter = filter;
  }

  /** Resolves the selected attributes by expression id, the only key that duplicate names and reordering leave intact. */
  public static Projection of(StoredSchema schema, Seq<Attribute> cached, Seq<Attribute> selected) {
    return of(schema, cached, selected, null);
  }

  /** The same without the fields that are not among those read; null: all are. */
  public static Projection of(StoredSchema schema, Seq<Attribute> cached, Seq<Attribute> selected, ReadFields fields) {
    Map<ExprId, Integer> positions = new HashMap<>();
    Iterator<Attribute> c = cached.iterator();
    for (int i = 0; c.hasNext(); i++) {
      positions.putIfAbsent(c.next().exprId(), i);
    }
    int[] indexes = new int[selected.size()];
    DataType[] types = new DataType[indexes.length];
    List<Integer> unread = new ArrayList<>();
    int node = 0;
    Iterator<Attribute> s = selected.iterator();
    for (int i = 0; s.hasNext(); i++) {
      Attribute a = s.next();
      Integer at = positions.get(a.exprId());
      if (at == null) {
        throw new IllegalArgumentException("column " + a + " is not among the cached columns " + cached.mkString(", "));
      }
      indexes[i] = at;
      DataType read = fields == null ? a.dataType() : fields.typeOf(a);
      ReadFields.addUnread(a.dataType(), read, node, unread);
      node += VectorBuilder.nodes(a.dataType());
      types[i] = Kind.storageType(read);
    }
    return new Projection(schema.json(), indexes, types, unread.stream().mapToInt(n -> n).toArray(), null);
  }

  /** The same columns, of which rows that cannot pass the filter, conjuncts over the cached columns, may be left out. */
  public Projection where(Seq<Expression> filter, Seq<Attribute> cached) {
    return new Projection(schemaJson, indexes, types, unread, RowConditions.of(filter, cached, indexes));
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

  /** Nodes of fields that are not read, for {@code Native.newDecoder}. Not a copy. */
  int[] unread() {
    return unread;
  }

  /** Storage type of each projected column, with void in the place of fields that are not read. Not a copy. */
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

package io.github.quiverspark.aggregate;

import io.github.quiverspark.read.ReadFields;
import io.github.quiverspark.vector.VectorBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** A cached column, or a field of structs in one. */
final class Leaf {
  private final Attribute column;
  private final List<Integer> path;
  private final Expression expression;

  private Leaf(Attribute column, List<Integer> path, Expression expression) {
    this.column = column;
    this.path = path;
    this.expression = expression;
  }

  /**
   * The leaf that an expression is; null if it is none.
   *
   * @param aliases what a projection below makes of the columns
   */
  static Leaf of(Expression e, Map<ExprId, Expression> aliases) {
    if (e instanceof AttributeReference) {
      Expression made = aliases.get(((AttributeReference) e).exprId());
      return made == null ? new Leaf((Attribute) e, new ArrayList<>(), e) : of(made, aliases);
    }
    if (e.getClass() != GetStructField.class) {
      return null;
    }
    Leaf struct = of(((GetStructField) e).child(), aliases);
    if (struct == null || !(struct.type() instanceof StructType)) {
      return null;
    }
    List<Integer> path = new ArrayList<>(struct.path);
    int ordinal = ((GetStructField) e).ordinal();
    path.add(ordinal);
    return new Leaf(struct.column, path, new GetStructField(struct.expression, ordinal, ((GetStructField) e).name()));
  }

  Attribute column() {
    return column;
  }

  boolean isColumn() {
    return path.isEmpty();
  }

  /** The leaf as an expression over the cached columns. */
  Expression expression() {
    return expression;
  }

  DataType type() {
    return expression.dataType();
  }

  /** Its node, counted within the column as by {@code Native.decodeVectors}, of which only the given fields are read (null: all). */
  int node(ReadFields fields) {
    DataType type = fields == null ? column.dataType() : fields.typeOf(column);
    int node = 0;
    for (int ordinal : path) {
      StructField[] siblings = ((StructType) type).fields();
      node++;
      for (int i = 0; i < ordinal; i++) {
        node += VectorBuilder.nodes(siblings[i].dataType());
      }
      type = siblings[ordinal].dataType();
    }
    return node;
  }
}

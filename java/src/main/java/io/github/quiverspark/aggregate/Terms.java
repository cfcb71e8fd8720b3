package io.github.quiverspark.aggregate;

import io.github.quiverspark.read.ReadFields;
import io.github.quiverspark.vector.VectorBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/** What is added up while decoding, on the driver. Each term has {@link #SIZE} numbers among the totals. */
final class Terms {
  /** Numbers of a total, as {@code Native.decodeTotals} has them: values, sum or its low half, its high half, excess. */
  static final int SIZE = 4;

  /** What is done with values, by the numbers of {@code Native.decodeTotals}. */
  enum Op {
    COUNT(0), SUM(1), CHECKED_SUM(2), DOUBLE_SUM(3), DECIMAL_SUM(4), LENGTHS(5);

    final int number;

    Op(int number) {
      this.number = number;
    }
  }

  private final Map<ExprId, Attribute> columns = new LinkedHashMap<>();
  private final List<Leaf> leaves = new ArrayList<>();
  private final List<Op> ops = new ArrayList<>();

  /** Index of the term's first number among the totals. */
  int add(Op op, Leaf leaf) {
    columns.putIfAbsent(leaf.column().exprId(), leaf.column());
    leaves.add(leaf);
    ops.add(op);
    return SIZE * (leaves.size() - 1);
  }

  boolean isEmpty() {
    return leaves.isEmpty();
  }

  /** The cached columns to decode, in the order in which nodes are counted. */
  Seq<Attribute> columns() {
    return seq(new ArrayList<>(columns.values()));
  }

  /** What is read of the columns. */
  Seq<Expression> reads() {
    List<Expression> reads = new ArrayList<>();
    for (Leaf leaf : leaves) {
      reads.add(leaf.expression());
    }
    return seq(reads);
  }

  private static <T> Seq<T> seq(List<T> items) {
    return JavaConverters.asScalaIteratorConverter(items.iterator()).asScala().toList();
  }

  /** The terms as {@code Native.decodeTotals} takes them, of columns of which only the given fields are read (null: all). */
  int[] numbers(ReadFields fields) {
    Map<ExprId, Integer> first = new LinkedHashMap<>();
    int node = 0;
    for (Attribute column : columns.values()) {
      first.put(column.exprId(), node);
      node += VectorBuilder.nodes(fields == null ? column.dataType() : fields.typeOf(column));
    }
    int[] numbers = new int[2 * leaves.size()];
    for (int i = 0; i < leaves.size(); i++) {
      Leaf leaf = leaves.get(i);
      numbers[2 * i] = first.get(leaf.column().exprId()) + leaf.node(fields);
      numbers[2 * i + 1] = ops.get(i).number;
    }
    return numbers;
  }
}

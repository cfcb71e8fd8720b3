package io.github.quiverspark.aggregate;

import io.github.quiverspark.CorruptBatchException;
import io.github.quiverspark.pruning.Column;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;

/**
 * A count, minimum or maximum of a cached column, from the statistics of batches.
 *
 * <p>Minima and maxima of types whose bounds are values of the column: not of strings, whose bounds are cut, nor of floats and doubles,
 * whose bounds of zero have a sign of their own.
 */
final class StatisticsPart extends Part {
  private static final long serialVersionUID = 1L;

  enum Kind {
    COUNT, MIN, MAX
  }

  private final Kind kind;
  private final Column column;

  /** Of a column; null: of rows, to be counted. */
  StatisticsPart(Kind kind, Column column) {
    this.kind = kind;
    this.column = column;
  }

  @Override
  int fields() {
    return 1;
  }

  @Override
  Object add(Object value, InternalRow stats, int rows) {
    if (kind == Kind.COUNT) {
      return (value == null ? 0 : (Long) value) + rows - (column == null ? 0 : column.nulls(stats));
    }
    if (!column.hasValue(stats)) {
      return value;
    }
    Object bound = kind == Kind.MIN ? column.lower(stats) : column.upper(stats);
    if (bound == null) {
      throw new CorruptBatchException("the statistics of a batch have values but no bounds");
    }
    return value == null || Column.compare(bound, value) < 0 == (kind == Kind.MIN) ? bound : value;
  }

  @Override
  void write(UnsafeRowWriter writer, int ordinal, Object value, long[] totals) {
    if (kind == Kind.COUNT) {
      writer.write(ordinal, value == null ? 0 : (long) (Long) value);
    } else {
      column.write(value, writer, ordinal);
    }
  }
}

package io.github.quiverspark.aggregate;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;

/** What one aggregate function has in the row of aggregation buffers. */
abstract class Part implements Serializable {
  private static final long serialVersionUID = 1L;

  /** How many fields of the row. */
  abstract int fields();

  /** What the statistics of another batch make of a value; null at first. */
  Object add(Object value, InternalRow stats, int rows) {
    return value;
  }

  /** Writes the fields from ordinal on: of the value that {@link #add} gave last, or of what was added up ({@link Terms}). */
  abstract void write(UnsafeRowWriter writer, int ordinal, Object value, long[] totals);
}

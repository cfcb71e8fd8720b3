package io.github.quiverspark.write;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;

/** A void column: Arrow's null array, which has no buffers. */
final class StagedNulls extends StagedColumn {
  StagedNulls(NativeMemory memory, DataType type) {
    super(memory, type);
  }

  @Override
  int append(ColumnVector v, int from, int count, long budget) {
    length += count;
    return count;
  }

  @Override
  void appendValue(SpecializedGetters from, int ordinal) {
    length++;
  }

  @Override
  void appendNulls(int count) {
    length += count;
  }

  @Override
  long bytes() {
    return 0;
  }

  @Override
  long structBytes() {
    return ArrowStructs.bytes(0, 0);
  }

  @Override
  long export(ArrowStructs out) {
    return out.array(length, length, 0, 0);
  }
}

package io.github.quiverspark.write;

import io.github.quiverspark.vector.QuiverVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.spark.sql.execution.vectorized.OffHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;

/** Copies the null flags of vectors. One loop per common class, so that the call in it is inlined. */
final class NullFlags {
  private NullFlags() {}

  /**
   * Writes one byte a slot, 1 = null.
   *
   * @param at where to write count bytes
   * @return how many slots are null
   */
  static int copy(ColumnVector v, int from, int count, long at) {
    if (v instanceof QuiverVector) {
      return ofQuiver((QuiverVector) v, from, count, at);
    } else if (v instanceof OnHeapColumnVector) {
      return ofOnHeap((OnHeapColumnVector) v, from, count, at);
    } else if (v instanceof OffHeapColumnVector) {
      return ofOffHeap((OffHeapColumnVector) v, from, count, at);
    } else if (v.getClass() == ArrowColumnVector.class) {
      ValueVector arrow = ((ArrowColumnVector) v).getValueVector();
      if (!(arrow instanceof NullVector)) {
        return ofBitmap(arrow.getValidityBuffer().memoryAddress(), from, count, at);
      }
    }
    int n = 0;
    for (int i = 0; i < count; i++) {
      n += put(at + i, v.isNullAt(from + i));
    }
    return n;
  }

  private static int put(long at, boolean isNull) {
    int flag = isNull ? 1 : 0;
    Platform.putByte(null, at, (byte) flag);
    return flag;
  }

  private static int ofQuiver(QuiverVector v, int from, int count, long at) {
    Platform.copyMemory(v.nulls(), Platform.BYTE_ARRAY_OFFSET + (long) v.nullsOffset() + from, null, at, count);
    int n = 0;
    for (int i = 0; i < count; i++) {
      n += Platform.getByte(null, at + i);
    }
    return n;
  }

  private static int ofOnHeap(OnHeapColumnVector v, int from, int count, long at) {
    int n = 0;
    for (int i = 0; i < count; i++) {
      n += put(at + i, v.isNullAt(from + i));
    }
    return n;
  }

  private static int ofOffHeap(OffHeapColumnVector v, int from, int count, long at) {
    int n = 0;
    for (int i = 0; i < count; i++) {
      n += put(at + i, v.isNullAt(from + i));
    }
    return n;
  }

  private static int ofBitmap(long validity, int from, int count, long at) {
    int n = 0;
    for (int i = 0; i < count; i++) {
      int slot = from + i;
      n += put(at + i, (Platform.getByte(null, validity + (slot >> 3)) >> (slot & 7) & 1) == 0);
    }
    return n;
  }
}

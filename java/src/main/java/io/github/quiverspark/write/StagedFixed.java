package io.github.quiverspark.write;

import io.github.quiverspark.vector.FixedWidthVector;
import io.github.quiverspark.vector.Kind;
import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;

/** Values of a fixed width: booleans (staged as bytes, exported as bits), integers and floating point numbers. */
class StagedFixed extends StagedColumn {
  protected final NativeBuffer values;
  private final NativeBuffer bits;

  StagedFixed(NativeMemory memory, DataType type) {
    super(memory, type);
    values = new NativeBuffer(memory);
    bits = new NativeBuffer(memory);
  }

  @Override
  final int append(ColumnVector v, int from, int count, long budget) {
    int first = length;
    int nulls = appendFlags(v, from, count);
    long at = values.extend((long) count * kind.width());
    if (nulls < count && !copyDirectly(v, from, count, at)) {
      if (nulls == 0 || v instanceof WritableColumnVector) {
        copyBulk(v, from, count, at, first);
      } else {
        // Other vectors may throw for a null slot: take the others one by one.
        for (int i = 0; i < count; i++) {
          if (!isNull(first + i)) {
            copyBulk(v, from + i, 1, at + (long) i * kind.width(), first + i);
          }
        }
      }
    }
    return count;
  }

  /** Copies from vectors whose memory has the form wanted here already. */
  private boolean copyDirectly(ColumnVector v, int from, int count, long at) {
    long bytes = (long) count * kind.width();
    if (v.getClass() == kind.vectorClass()) {
      FixedWidthVector f = (FixedWidthVector) v;
      Platform.copyMemory(f.values(), f.valuesBase() + (long) from * kind.width(), null, at, bytes);
      return true;
    }
    if (v.getClass() == ArrowColumnVector.class) {
      ValueVector arrow = ((ArrowColumnVector) v).getValueVector();
      if (arrow instanceof BaseFixedWidthVector && !(arrow instanceof BitVector) && sameForm((BaseFixedWidthVector) arrow)) {
        long source = arrow.getDataBuffer().memoryAddress() + (long) from * kind.width();
        Platform.copyMemory(null, source, null, at, bytes);
        return true;
      }
    }
    return false;
  }

  /** Whether the vector's values are those of this column, bit for bit. */
  boolean sameForm(BaseFixedWidthVector arrow) {
    return arrow.getTypeWidth() == kind.width();
  }

  /** Copies slots, to this address, by the vector's bulk getters; slots that are null may come out as anything. */
  void copyBulk(ColumnVector v, int from, int count, long at, int firstSlot) {
    switch (kind) {
      case BOOLEAN:
        Platform.copyMemory(v.getBooleans(from, count), Platform.BOOLEAN_ARRAY_OFFSET, null, at, count);
        break;
      case BYTE:
        Platform.copyMemory(v.getBytes(from, count), Platform.BYTE_ARRAY_OFFSET, null, at, count);
        break;
      case SHORT:
        Platform.copyMemory(v.getShorts(from, count), Platform.SHORT_ARRAY_OFFSET, null, at, 2L * count);
        break;
      case INT:
        Platform.copyMemory(v.getInts(from, count), Platform.INT_ARRAY_OFFSET, null, at, 4L * count);
        break;
      case LONG:
        Platform.copyMemory(v.getLongs(from, count), Platform.LONG_ARRAY_OFFSET, null, at, 8L * count);
        break;
      case FLOAT:
        Platform.copyMemory(v.getFloats(from, count), Platform.FLOAT_ARRAY_OFFSET, null, at, 4L * count);
        break;
      case DOUBLE:
        Platform.copyMemory(v.getDoubles(from, count), Platform.DOUBLE_ARRAY_OFFSET, null, at, 8L * count);
        break;
      default:
        throw new IllegalStateException("kind " + kind);
    }
  }

  @Override
  final void appendValue(SpecializedGetters from, int ordinal) {
    if (from.isNullAt(ordinal)) {
      appendNulls(1);
      return;
    }
    appendFlags(1, false);
    putValue(from, ordinal, values.extend(kind.width()));
  }

  /** Writes one value that is not null to this address. */
  void putValue(SpecializedGetters from, int ordinal, long at) {
    switch (kind) {
      case BOOLEAN:
        Platform.putByte(null, at, (byte) (from.getBoolean(ordinal) ? 1 : 0));
        break;
      case BYTE:
        Platform.putByte(null, at, from.getByte(ordinal));
        break;
      case SHORT:
        Platform.putShort(null, at, from.getShort(ordinal));
        break;
      case INT:
        Platform.putInt(null, at, from.getInt(ordinal));
        break;
      case LONG:
        Platform.putLong(null, at, from.getLong(ordinal));
        break;
      case FLOAT:
        Platform.putFloat(null, at, from.getFloat(ordinal));
        break;
      case DOUBLE:
        Platform.putDouble(null, at, from.getDouble(ordinal));
        break;
      default:
        throw new IllegalStateException("kind " + kind);
    }
  }

  /** Appends a value of a column of ints. */
  final void appendInt(int value) {
    appendFlags(1, false);
    values.putInt(value);
  }

  /** Appends a value of a column of longs. */
  final void appendLong(long value) {
    appendFlags(1, false);
    values.putLong(value);
  }

  @Override
  final void appendNulls(int count) {
    appendFlags(count, true);
    values.extend((long) count * kind.width());
  }

  @Override
  void truncate(int newLength) {
    super.truncate(newLength);
    values.setSize((long) newLength * kind.width());
  }

  @Override
  void reset(long keepBytes) {
    super.reset(keepBytes);
    values.reset(keepBytes);
    bits.reset(keepBytes);
  }

  @Override
  final long bytes() {
    return values.size();
  }

  @Override
  final long structBytes() {
    return ArrowStructs.bytes(2, 0);
  }

  @Override
  final long export(ArrowStructs out) {
    long array = out.array(length, nullCount(), 2, 0);
    ArrowStructs.setBuffer(array, 0, packValidity());
    if (kind == Kind.BOOLEAN) {
      pack(values, bits, 0);
      ArrowStructs.setBuffer(array, 1, bits.address());
    } else {
      ArrowStructs.setBuffer(array, 1, values.address());
    }
    return array;
  }

  @Override
  public void close() {
    super.close();
    values.close();
    bits.close();
  }
}

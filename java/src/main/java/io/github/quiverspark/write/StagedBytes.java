package io.github.quiverspark.write;

import io.github.quiverspark.vector.Kind;
import io.github.quiverspark.vector.VariableWidthVector;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.execution.vectorized.OffHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** Strings, binary values, geometry and geography. */
final class StagedBytes extends StagedColumn {
  /** Dictionary ids from this one on are looked up each time. */
  private static final int MAX_REMEMBERED = 1 << 16;
  private static final long[] NOTHING = new long[0];

  private final NativeBuffer offsets;
  private final NativeBuffer data;
  /** By dictionary id: the call that met it last, and the slot it was appended to then. */
  private long[] slotOfId = NOTHING;
  private int call;

  StagedBytes(NativeMemory memory, DataType type) {
    super(memory, type);
    offsets = new NativeBuffer(memory);
    data = new NativeBuffer(memory);
  }

  @Override
  int append(ColumnVector v, int from, int count, long budget) {
    if (count == 0) {
      return 0;
    }
    first();
    int before = length;
    int nulls = appendFlags(v, from, count);
    if (nulls == count) {
      repeatOffset(count);
      return count;
    }
    int done = appendSlots(v, from, count, before, budget);
    if (done < count) {
      // Flags were appended for all.
      truncate(before + done);
    }
    return done;
  }

  private int appendSlots(ColumnVector v, int from, int count, int before, long budget) {
    if (v instanceof VariableWidthVector) {
      return appendQuiver((VariableWidthVector) v, from, count, budget);
    }
    if (v.getClass() == ArrowColumnVector.class && kind != Kind.GEO) {
      ValueVector arrow = ((ArrowColumnVector) v).getValueVector();
      if (arrow instanceof BaseVariableWidthVector) {
        return appendArrow((BaseVariableWidthVector) arrow, from, count, budget);
      }
    }
    if (v instanceof WritableColumnVector) {
      WritableColumnVector w = (WritableColumnVector) v;
      return w.hasDictionary() ? appendDictionary(w, from, count, before, budget) : appendWritable(w, from, count, before, budget);
    }
    long limit = limit(budget);
    for (int i = 0; i < count; i++) {
      if (!isNull(before + i)) {
        appendGeneric(v, from + i);
      }
      endSlot();
      if (data.size() > limit) {
        return i + 1;
      }
    }
    return count;
  }

  private void appendGeneric(ColumnVector v, int row) {
    if (kind == Kind.STRING) {
      append(v.getUTF8String(row));
    } else {
      append(kind == Kind.GEO ? Geo.bytes(v, row, type) : v.getBinary(row));
    }
  }

  /** Our own vectors: the bytes of all slots lie side by side. */
  private int appendQuiver(VariableWidthVector v, int from, int count, long budget) {
    int start = v.offset(from);
    int n = 0;
    long shift = data.size() - start;
    do {
      n++;
      offsets.putInt(checkedOffset(v.offset(from + n) + shift, type));
    } while (n < count && v.offset(from + n) - start <= budget);
    data.append(v.data(), v.dataBase() + start, v.offset(from + n) - start);
    return n;
  }

  /** Arrow vectors with int32 offsets. */
  private int appendArrow(BaseVariableWidthVector v, int from, int count, long budget) {
    long source = v.getOffsetBuffer().memoryAddress();
    int start = Platform.getInt(null, source + 4L * from);
    int end = start;
    int n = 0;
    long shift = data.size() - start;
    do {
      n++;
      end = Platform.getInt(null, source + 4L * (from + n));
      offsets.putInt(checkedOffset(end + shift, type));
    } while (n < count && end - start <= budget);
    data.append(null, v.getDataBuffer().memoryAddress() + start, end - start);
    return n;
  }

  /** Spark's vectors: slots that lie side by side, as a reader without dictionary leaves them, are copied at once. */
  private int appendWritable(WritableColumnVector v, int from, int count, int before, long budget) {
    WritableColumnVector bytes = v.getChild(0);
    long limit = limit(budget);
    int runStart = 0;
    int runEnd = 0;
    long end = data.size();
    int n = 0;
    while (n < count && end <= limit) {
      if (!isNull(before + n)) {
        int offset = v.getArrayOffset(from + n);
        int size = v.getArrayLength(from + n);
        if (offset != runEnd) {
          appendRun(bytes, runStart, runEnd - runStart);
          runStart = offset;
        }
        runEnd = offset + size;
        end += size;
      }
      offsets.putInt(checkedOffset(end, type));
      n++;
    }
    appendRun(bytes, runStart, runEnd - runStart);
    return n;
  }

  private void appendRun(WritableColumnVector bytes, int offset, int size) {
    if (size == 0) {
      return;
    }
    if (bytes instanceof OffHeapColumnVector) {
      data.append(null, ((OffHeapColumnVector) bytes).valuesNativeAddress() + offset, size);
    } else {
      ByteBuffer b = bytes.getByteBuffer(offset, size);
      data.append(b.array(), Platform.BYTE_ARRAY_OFFSET + (long) b.arrayOffset() + b.position(), size);
    }
  }

  /**
   * Spark's vectors of dictionary ids: a value met before in this call is copied from its first slot. A dictionary does not change within
   * a vector's batch, but may between calls.
   */
  private int appendDictionary(WritableColumnVector v, int from, int count, int before, long budget) {
    WritableColumnVector ids = v.getDictionaryIds();
    long limit = limit(budget);
    call++;
    for (int i = 0; i < count; i++) {
      if (!isNull(before + i)) {
        int id = ids.getDictId(from + i);
        long known = id < slotOfId.length ? slotOfId[id] : 0;
        if (known >>> 32 == call) {
          appendSlot((int) known);
        } else {
          appendGeneric(v, from + i);
          remember(id, before + i);
        }
      }
      endSlot();
      if (data.size() > limit) {
        return i + 1;
      }
    }
    return count;
  }

  private void appendSlot(int slot) {
    int start = Platform.getInt(null, offsets.address() + 4L * slot);
    int size = Platform.getInt(null, offsets.address() + 4L * slot + 4) - start;
    long at = data.extend(size);
    Platform.copyMemory(null, data.address() + start, null, at, size);
  }

  private void remember(int id, int slot) {
    if (id >= slotOfId.length) {
      if (id >= MAX_REMEMBERED) {
        return;
      }
      slotOfId = Arrays.copyOf(slotOfId, Math.min(Math.max(64, 2 * id), MAX_REMEMBERED));
    }
    slotOfId[id] = (long) call << 32 | slot;
  }

  private void append(UTF8String s) {
    data.append(s.getBaseObject(), s.getBaseOffset(), s.numBytes());
  }

  private void append(byte[] b) {
    data.append(b, Platform.BYTE_ARRAY_OFFSET, b.length);
  }

  @Override
  void appendValue(SpecializedGetters from, int ordinal) {
    if (from.isNullAt(ordinal)) {
      appendNulls(1);
      return;
    }
    first();
    appendFlags(1, false);
    if (kind == Kind.STRING) {
      append(from.getUTF8String(ordinal));
    } else {
      append(kind == Kind.GEO ? Geo.bytes(from, ordinal, type) : from.getBinary(ordinal));
    }
    endSlot();
  }

  /** Appends the bytes of a value that is not null. */
  void appendBytes(byte[] value) {
    first();
    appendFlags(1, false);
    append(value);
    endSlot();
  }

  @Override
  void appendNulls(int count) {
    first();
    appendFlags(count, true);
    repeatOffset(count);
  }

  /** Writes the offset before the first slot. */
  private void first() {
    if (offsets.size() == 0) {
      offsets.putInt(0);
    }
  }

  private void endSlot() {
    offsets.putInt(checkedOffset(data.size(), type));
  }

  private void repeatOffset(int count) {
    for (int i = 0; i < count; i++) {
      endSlot();
    }
  }

  private long limit(long budget) {
    return budget > Long.MAX_VALUE - data.size() ? Long.MAX_VALUE : data.size() + budget;
  }

  @Override
  void truncate(int newLength) {
    super.truncate(newLength);
    if (offsets.size() > 0) {
      data.setSize(Platform.getInt(null, offsets.address() + 4L * newLength));
      offsets.setSize(4L * (newLength + 1L));
    }
  }

  @Override
  void reset(long keepBytes) {
    super.reset(keepBytes);
    offsets.reset(keepBytes);
    data.reset(keepBytes);
  }

  @Override
  long bytes() {
    return offsets.size() + data.size();
  }

  @Override
  long structBytes() {
    return ArrowStructs.bytes(3, 0);
  }

  @Override
  long export(ArrowStructs out) {
    first();
    long array = out.array(length, nullCount(), 3, 0);
    ArrowStructs.setBuffer(array, 0, packValidity());
    ArrowStructs.setBuffer(array, 1, offsets.address());
    ArrowStructs.setBuffer(array, 2, data.address());
    return array;
  }

  @Override
  public void close() {
    super.close();
    offsets.close();
    data.close();
  }
}

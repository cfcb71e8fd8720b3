package io.github.quiverspark.write;

import io.github.quiverspark.vector.Kind;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;

/** Arrays (one child) and maps (a key and a value child, under an "entries" struct when exported). */
final class StagedRanges extends StagedColumn {
  private final NativeBuffer offsets;
  private final StagedColumn[] children;

  StagedRanges(NativeMemory memory, DataType type) {
    super(memory, type);
    offsets = new NativeBuffer(memory);
    if (kind == Kind.MAP) {
      children = new StagedColumn[] {create(memory, ((MapType) type).keyType()), create(memory, ((MapType) type).valueType())};
    } else {
      children = new StagedColumn[] {create(memory, ((ArrayType) type).elementType())};
    }
  }

  @Override
  int append(ColumnVector v, int from, int count, long budget) {
    first();
    int before = length;
    int nulls = appendFlags(v, from, count);
    if (nulls == count) {
      endSlots(count);
      return count;
    }
    RangeSource source = RangeSource.of(v);
    int done = source == null ? appendGeneric(v, from, count, before, budget) : appendRanges(source, from, count, before, budget);
    if (done < count) {
      // Flags were appended for all.
      super.truncate(before + done);
    }
    return done;
  }

  /** Appends slots by runs whose child ranges lie side by side. */
  private int appendRanges(RangeSource source, int from, int count, int before, long budget) {
    long bytesBefore = bytes();
    int n = 0;
    while (n < count && bytes() - bytesBefore <= budget) {
      if (isNull(before + n)) {
        endSlots(1);
        n++;
        continue;
      }
      int start = source.start(from + n);
      int end = start;
      int run = 0;
      do {
        end += source.size(from + n + run);
        run++;
      } while (n + run < count && !isNull(before + n + run) && source.start(from + n + run) == end);
      int done = appendRun(source, from + n, run, start, end - start, budget);
      n += done;
      if (done < run) {
        break;
      }
    }
    return n;
  }

  /**
   * Appends the children of a run of slots, and the slots' offsets: all of them, or those whose children went in whole before the
   * budget was spent, but at least one.
   */
  private int appendRun(RangeSource source, int firstRow, int run, int start, int size, long budget) {
    int childLength = children[0].length();
    int taken = size;
    for (int i = 0; i < children.length; i++) {
      taken = appendAll(children[i], source.child(i), start, taken, budget);
    }
    int rows = 0;
    int complete = 0;
    while (rows < run && complete + source.size(firstRow + rows) <= taken) {
      complete += source.size(firstRow + rows);
      putEnd(childLength + complete);
      rows++;
    }
    if (rows == 0) {
      // Not even the first slot fits: it goes in whatever it takes.
      truncateChildren(childLength);
      int one = source.size(firstRow);
      for (int i = 0; i < children.length; i++) {
        appendAll(children[i], source.child(i), start, one, Long.MAX_VALUE);
      }
      putEnd(childLength + one);
      return 1;
    }
    if (childLength + complete < maxChildLength()) {
      truncateChildren(childLength + complete);
    }
    return rows;
  }

  private static int appendAll(StagedColumn child, ColumnVector v, int from, int count, long budget) {
    return count == 0 ? 0 : child.append(v, from, count, budget);
  }

  private int maxChildLength() {
    int n = 0;
    for (StagedColumn c : children) {
      n = Math.max(n, c.length());
    }
    return n;
  }

  private void truncateChildren(int newLength) {
    for (StagedColumn c : children) {
      c.truncate(newLength);
    }
  }

  private int appendGeneric(ColumnVector v, int from, int count, int before, long budget) {
    long bytesBefore = bytes();
    for (int i = 0; i < count; i++) {
      if (!isNull(before + i)) {
        if (kind == Kind.MAP) {
          appendElements(v.getMap(from + i));
        } else {
          appendElements(children[0], v.getArray(from + i));
        }
      }
      endSlots(1);
      if (bytes() - bytesBefore > budget) {
        return i + 1;
      }
    }
    return count;
  }

  private void appendElements(MapData map) {
    appendElements(children[0], map.keyArray());
    appendElements(children[1], map.valueArray());
  }

  private static void appendElements(StagedColumn child, ArrayData array) {
    int n = array.numElements();
    for (int i = 0; i < n; i++) {
      child.appendValue(array, i);
    }
  }

  @Override
  void appendValue(SpecializedGetters from, int ordinal) {
    if (from.isNullAt(ordinal)) {
      appendNulls(1);
      return;
    }
    first();
    appendFlags(1, false);
    if (kind == Kind.MAP) {
      appendElements(from.getMap(ordinal));
    } else {
      appendElements(children[0], from.getArray(ordinal));
    }
    endSlots(1);
  }

  @Override
  void appendNulls(int count) {
    first();
    appendFlags(count, true);
    endSlots(count);
  }

  /** Writes the offset before the first slot. */
  private void first() {
    if (offsets.size() == 0) {
      offsets.putInt(0);
    }
  }

  /** Ends slots where the children end now. */
  private void endSlots(int count) {
    for (int i = 0; i < count; i++) {
      offsets.putInt(children[0].length());
    }
  }

  private void putEnd(long end) {
    offsets.putInt(checkedOffset(end, type));
  }

  private int childLength() {
    return offsets.size() == 0 ? 0 : Platform.getInt(null, offsets.end() - 4);
  }

  @Override
  void truncate(int newLength) {
    super.truncate(newLength);
    if (offsets.size() > 0) {
      offsets.setSize(4L * (newLength + 1L));
      truncateChildren(childLength());
    }
  }

  @Override
  void reset(long keepBytes) {
    super.reset(keepBytes);
    offsets.reset(keepBytes);
    for (StagedColumn c : children) {
      c.reset(keepBytes);
    }
  }

  @Override
  long bytes() {
    long n = offsets.size();
    for (StagedColumn c : children) {
      n += c.bytes();
    }
    return n;
  }

  @Override
  long structBytes() {
    long n = ArrowStructs.bytes(2, 1);
    if (kind == Kind.MAP) {
      n += ArrowStructs.bytes(1, 2);
    }
    for (StagedColumn c : children) {
      n += c.structBytes();
    }
    return n;
  }

  @Override
  long export(ArrowStructs out) {
    first();
    long array = out.array(length, nullCount(), 2, 1);
    ArrowStructs.setBuffer(array, 0, packValidity());
    ArrowStructs.setBuffer(array, 1, offsets.address());
    if (kind == Kind.MAP) {
      long entries = out.array(childLength(), 0, 1, 2);
      ArrowStructs.setChild(entries, 0, children[0].export(out));
      ArrowStructs.setChild(entries, 1, children[1].export(out));
      ArrowStructs.setChild(array, 0, entries);
    } else {
      ArrowStructs.setChild(array, 0, children[0].export(out));
    }
    return array;
  }

  @Override
  public void close() {
    super.close();
    offsets.close();
    for (StagedColumn c : children) {
      c.close();
    }
  }
}

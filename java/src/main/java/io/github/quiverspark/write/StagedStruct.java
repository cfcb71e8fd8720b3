package io.github.quiverspark.write;

import io.github.quiverspark.vector.Kind;
import io.github.quiverspark.vector.QuiverVector;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.types.CalendarInterval;

/**
 * Structs, calendar intervals (months, days, microseconds) and variants (value, metadata). A null slot is null in all children too:
 * what a vector's children hold below a null is not read.
 */
final class StagedStruct extends StagedColumn {
  private final StagedColumn[] children;

  StagedStruct(NativeMemory memory, DataType type) {
    super(memory, type);
    DataType[] types = childTypes(type, kind);
    children = new StagedColumn[types.length];
    for (int i = 0; i < types.length; i++) {
      children[i] = create(memory, types[i]);
    }
  }

  private static DataType[] childTypes(DataType type, Kind kind) {
    switch (kind) {
      case INTERVAL:
        return new DataType[] {DataTypes.IntegerType, DataTypes.IntegerType, DataTypes.LongType};
      case VARIANT:
        return new DataType[] {DataTypes.BinaryType, DataTypes.BinaryType};
      default:
        StructField[] fields = ((StructType) type).fields();
        DataType[] types = new DataType[fields.length];
        for (int i = 0; i < fields.length; i++) {
          types[i] = fields[i].dataType();
        }
        return types;
    }
  }

  @Override
  int append(ColumnVector v, int from, int count, long budget) {
    int before = length;
    int nulls = appendFlags(v, from, count);
    if (nulls == count) {
      appendNullsToChildren(count);
      return count;
    }
    boolean hasChildren = kind != Kind.INTERVAL || v instanceof WritableColumnVector || v instanceof QuiverVector
        || v instanceof ConstantColumnVector;
    long bytesBefore = bytes();
    int n = 0;
    while (n < count && bytes() - bytesBefore <= budget) {
      boolean isNull = isNull(before + n);
      int run = 1;
      while (n + run < count && isNull(before + n + run) == isNull) {
        run++;
      }
      if (isNull) {
        appendNullsToChildren(run);
      } else if (hasChildren) {
        int done = appendRun(v, from + n, run, budget, before + n);
        if (done < run) {
          n += done;
          break;
        }
      } else {
        for (int i = 0; i < run; i++) {
          appendInterval(v.getInterval(from + n + i));
        }
      }
      n += run;
    }
    if (n < count) {
      // Flags were appended for all.
      super.truncate(before + n);
    }
    return n;
  }

  /** Appends slots without nulls of their own to all children: as many as the child that stops first. */
  private int appendRun(ColumnVector v, int from, int run, long budget, int childLength) {
    int done = run;
    for (int i = 0; i < children.length; i++) {
      done = children[i].append(v.getChild(i), from, done, budget);
    }
    if (done < run) {
      for (StagedColumn c : children) {
        c.truncate(childLength + done);
      }
    }
    return done;
  }

  private void appendNullsToChildren(int count) {
    for (StagedColumn c : children) {
      c.appendNulls(count);
    }
  }

  private void appendInterval(CalendarInterval value) {
    ((StagedFixed) children[0]).appendInt(value.months);
    ((StagedFixed) children[1]).appendInt(value.days);
    ((StagedFixed) children[2]).appendLong(value.microseconds);
  }

  @Override
  void appendValue(SpecializedGetters from, int ordinal) {
    if (from.isNullAt(ordinal)) {
      appendNulls(1);
      return;
    }
    appendFlags(1, false);
    switch (kind) {
      case INTERVAL:
        appendInterval(from.getInterval(ordinal));
        break;
      case VARIANT:
        byte[][] parts = Variants.parts(from, ordinal);
        ((StagedBytes) children[0]).appendBytes(parts[0]);
        ((StagedBytes) children[1]).appendBytes(parts[1]);
        break;
      default:
        InternalRow row = from.getStruct(ordinal, children.length);
        for (int i = 0; i < children.length; i++) {
          children[i].appendValue(row, i);
        }
    }
  }

  @Override
  void appendNulls(int count) {
    appendFlags(count, true);
    appendNullsToChildren(count);
  }

  @Override
  void truncate(int newLength) {
    super.truncate(newLength);
    for (StagedColumn c : children) {
      c.truncate(newLength);
    }
  }

  @Override
  void reset(long keepBytes) {
    super.reset(keepBytes);
    for (StagedColumn c : children) {
      c.reset(keepBytes);
    }
  }

  @Override
  long bytes() {
    long n = 0;
    for (StagedColumn c : children) {
      n += c.bytes();
    }
    return n;
  }

  @Override
  long structBytes() {
    long n = ArrowStructs.bytes(1, children.length);
    for (StagedColumn c : children) {
      n += c.structBytes();
    }
    return n;
  }

  @Override
  long export(ArrowStructs out) {
    long array = out.array(length, nullCount(), 1, children.length);
    ArrowStructs.setBuffer(array, 0, packValidity());
    for (int i = 0; i < children.length; i++) {
      ArrowStructs.setChild(array, i, children[i].export(out));
    }
    return array;
  }

  @Override
  public void close() {
    super.close();
    for (StagedColumn c : children) {
      c.close();
    }
  }
}

package io.github.quiverspark.vector;

import io.github.quiverspark.CorruptBatchException;
import io.github.quiverspark.vector.QuiverVector.Slots;
import java.util.Arrays;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Builds the vectors of a projection from what {@code Native.decodeVectors} left in its layout and buffer arrays. Nodes are numbered
 * in pre-order as documented there. Lengths are checked against the arrays, so that vectors cannot read outside of them.
 */
public final class VectorBuilder {
  /** Entries of the layout array before those of node 0. */
  public static final int LAYOUT_HEADER = 4;
  /** Entries of the layout array per node: length, null count, then offset and length of three buffers. */
  public static final int LAYOUT_PER_NODE = 8;
  /** Entries of the buffers array per node. */
  public static final int BUFFERS_PER_NODE = 3;

  private static final int NULLS = 0;
  private static final int FIRST = 1;
  private static final int SECOND = 2;

  private static final byte[] EMPTY = new byte[0];
  private static final byte[] ZERO_OFFSET = new byte[4];
  private static volatile byte[] allNull = new byte[0];

  private final long[] layout;
  private final byte[][] buffers;
  private int node;

  private VectorBuilder(long[] layout, byte[][] buffers) {
    this.layout = layout;
    this.buffers = buffers;
  }

  /** Arrow field nodes that a column of the type has, itself included. */
  public static int nodes(DataType type) {
    DataType t = Kind.storageType(type);
    switch (Kind.of(t)) {
      case ARRAY:
        return 1 + nodes(((ArrayType) t).elementType());
      case MAP:
        return 2 + nodes(((MapType) t).keyType()) + nodes(((MapType) t).valueType());
      case STRUCT:
        int n = 1;
        for (StructField f : ((StructType) t).fields()) {
          n += nodes(f.dataType());
        }
        return n;
      case INTERVAL:
        return 4;
      case VARIANT:
        return 3;
      default:
        return 1;
    }
  }

  /**
   * The {@code spare} argument of {@code Native.decodeVectors} for readers that are done with a batch's vectors when they take the next:
   * an array may be used again if no value that was taken from the vector can point into it. Strings point to their bytes (binary
   * values are copies), arrays, maps and structs to all that is below them.
   */
  public static byte[][] reusable(DataType[] types) {
    int nodes = 0;
    for (DataType type : types) {
      nodes += nodes(type);
    }
    byte[][] spare = new byte[BUFFERS_PER_NODE * nodes][];
    int node = 0;
    for (DataType type : types) {
      Kind kind = Kind.of(type);
      if (kind.width() > 0 || kind == Kind.STRING || kind == Kind.BINARY) {
        spare[BUFFERS_PER_NODE * node + NULLS] = EMPTY;
        spare[BUFFERS_PER_NODE * node + FIRST] = EMPTY;
        spare[BUFFERS_PER_NODE * node + SECOND] = kind == Kind.STRING ? null : EMPTY;
      }
      node += nodes(type);
    }
    return spare;
  }

  /**
   * The vectors of all projected columns.
   *
   * @param types the projected columns' types
   * @param rows slots every column must have
   * @param layout as filled by {@code Native.decodeVectors}
   * @param buffers as filled by {@code Native.decodeVectors}
   * @throws CorruptBatchException if a length does not add up
   */
  public static QuiverVector[] build(DataType[] types, int rows, long[] layout, byte[][] buffers) {
    VectorBuilder b = new VectorBuilder(layout, buffers);
    QuiverVector[] out = new QuiverVector[types.length];
    for (int i = 0; i < types.length; i++) {
      out[i] = b.column(types[i], rows);
    }
    return out;
  }

  private QuiverVector column(DataType type, int length) {
    DataType t = Kind.storageType(type);
    Kind kind = Kind.of(t);
    int k = node++;
    Slots slots = slots(k, kind, length);
    switch (kind) {
      case NULL:
        return new NullVector(t, slots);
      case STRING:
        return new StringVector(t, slots, array(k, FIRST), offsets(k, length), array(k, SECOND), data(k, length));
      case BINARY:
      case GEO:
        return new BinaryVector(t, slots, array(k, FIRST), offsets(k, length), array(k, SECOND), data(k, length));
      case ARRAY: {
        int offsetsAt = offsets(k, length);
        QuiverVector element = column(((ArrayType) t).elementType(), lastOffset(k, length));
        return new ArrayVector(t, slots, array(k, FIRST), offsetsAt, element);
      }
      case MAP: {
        int offsetsAt = offsets(k, length);
        int entries = lastOffset(k, length);
        checkLength(node++, entries);
        QuiverVector keys = column(((MapType) t).keyType(), entries);
        QuiverVector values = column(((MapType) t).valueType(), entries);
        return new MapVector(t, slots, array(k, FIRST), offsetsAt, keys, values);
      }
      case STRUCT: {
        StructField[] fields = ((StructType) t).fields();
        QuiverVector[] children = new QuiverVector[fields.length];
        for (int i = 0; i < fields.length; i++) {
          children[i] = column(fields[i].dataType(), length);
        }
        return new StructVector(t, slots, children);
      }
      case INTERVAL:
        return new IntervalVector(t, slots, new QuiverVector[] {
            column(DataTypes.IntegerType, length), column(DataTypes.IntegerType, length), column(DataTypes.LongType, length)});
      case VARIANT:
        return new VariantVector(t, slots, new QuiverVector[] {
            column(DataTypes.BinaryType, length), column(DataTypes.BinaryType, length)});
      default:
        return fixedWidth(t, kind, slots, k);
    }
  }

  private QuiverVector fixedWidth(DataType t, Kind kind, Slots slots, int k) {
    int at = buffer(k, FIRST, (long) slots.length * kind.width());
    byte[] values = array(k, FIRST);
    switch (kind) {
      case BOOLEAN:
        return new BooleanVector(t, slots, values, at);
      case BYTE:
        return new ByteVector(t, slots, values, at);
      case SHORT:
        return new ShortVector(t, slots, values, at);
      case INT:
        return new IntVector(t, slots, values, at);
      case LONG:
        return new LongVector(t, slots, values, at);
      case FLOAT:
        return new FloatVector(t, slots, values, at);
      case DOUBLE:
        return new DoubleVector(t, slots, values, at);
      case DECIMAL:
        return new DecimalVector(t, slots, values, at);
      default:
        throw new IllegalStateException("kind " + kind);
    }
  }

  private Slots slots(int k, Kind kind, int length) {
    checkLength(k, length);
    if (kind == Kind.NULL) {
      return new Slots(length, length, allNull(length), 0);
    }
    long nulls = entry(k, 1);
    if (nulls < 0 || nulls > length) {
      throw corrupt(k, nulls + " nulls in " + length + " slots");
    }
    if (nulls == 0) {
      return new Slots(length, 0, null, 0);
    }
    int at = buffer(k, NULLS, length);
    return new Slots(length, (int) nulls, array(k, NULLS), at);
  }

  /** A shared array of ones, at least so long. */
  private static byte[] allNull(int length) {
    byte[] shared = allNull;
    if (shared.length < length) {
      shared = new byte[Math.max(length, 16384)];
      Arrays.fill(shared, (byte) 1);
      allNull = shared;
    }
    return shared;
  }

  private void checkLength(int k, int length) {
    if (entry(k, 0) != length) {
      throw corrupt(k, entry(k, 0) + " slots, expected " + length);
    }
  }

  private int offsets(int k, int length) {
    if (length == 0 && entry(k, 3 + 2 * FIRST) == 0) {
      // Arrow lets an array without slots leave out its one offset.
      buffers[BUFFERS_PER_NODE * k + FIRST] = ZERO_OFFSET;
      layout[LAYOUT_HEADER + LAYOUT_PER_NODE * k + 2 + 2 * FIRST] = 0;
      return 0;
    }
    return buffer(k, FIRST, 4L * (length + 1L));
  }

  private int lastOffset(int k, int length) {
    return readInt(array(k, FIRST), (int) entry(k, 2 + 2 * FIRST) + 4 * length);
  }

  private int data(int k, int length) {
    return buffer(k, SECOND, lastOffset(k, length));
  }

  private static int readInt(byte[] a, int at) {
    return (a[at] & 0xff) | (a[at + 1] & 0xff) << 8 | (a[at + 2] & 0xff) << 16 | a[at + 3] << 24;
  }

  private long entry(int k, int i) {
    return layout[LAYOUT_HEADER + LAYOUT_PER_NODE * k + i];
  }

  private byte[] array(int k, int which) {
    byte[] a = buffers[BUFFERS_PER_NODE * k + which];
    return a == null ? EMPTY : a;
  }

  /** Where a buffer starts within its array, once it is known to have the bytes needed. */
  private int buffer(int k, int which, long needed) {
    long at = entry(k, 2 + 2 * which);
    long have = entry(k, 3 + 2 * which);
    int arrayLength = array(k, which).length;
    if (needed < 0 || have < needed || at < 0 || have > arrayLength - at) {
      throw corrupt(k, "buffer " + which + " needs " + needed + " bytes, has " + have + " at " + at + " of an array of " + arrayLength);
    }
    return (int) at;
  }

  private static CorruptBatchException corrupt(int k, String what) {
    return new CorruptBatchException("decoded batch, node " + k + ": " + what);
  }
}

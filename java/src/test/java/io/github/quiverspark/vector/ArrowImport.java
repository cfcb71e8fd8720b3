package io.github.quiverspark.vector;

import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;

/**
 * Reads a struct array of the Arrow C Data Interface into the layout that the native decoder hands to {@link VectorBuilder}. A second,
 * independent reading of the interface's specification, for tests: what is staged must come back as it was.
 */
public final class ArrowImport {
  private final long[] layout;
  private final byte[][] buffers;
  private int node;

  private ArrowImport(int nodes) {
    layout = new long[VectorBuilder.LAYOUT_HEADER + VectorBuilder.LAYOUT_PER_NODE * nodes];
    buffers = new byte[VectorBuilder.BUFFERS_PER_NODE * nodes][];
  }

  /** The children of the struct array at this address as vectors. */
  public static QuiverVector[] vectors(long array, DataType[] types) {
    int nodes = 0;
    for (DataType t : types) {
      nodes += VectorBuilder.nodes(t);
    }
    ArrowImport in = new ArrowImport(nodes);
    check(array, 1, types.length);
    long rows = Platform.getLong(null, array);
    for (int i = 0; i < types.length; i++) {
      in.column(child(array, i), types[i]);
    }
    return VectorBuilder.build(types, (int) rows, in.layout, in.buffers);
  }

  private void column(long a, DataType type) {
    DataType t = Kind.storageType(type);
    Kind kind = Kind.of(t);
    int k = node++;
    int n = (int) Platform.getLong(null, a);
    long nulls = Platform.getLong(null, a + 8);
    int at = VectorBuilder.LAYOUT_HEADER + VectorBuilder.LAYOUT_PER_NODE * k;
    layout[at] = n;
    layout[at + 1] = nulls;
    switch (kind) {
      case NULL:
        check(a, 0, 0);
        return;
      case STRING:
      case BINARY:
      case GEO:
        check(a, 3, 0);
        nulls(k, a, n, nulls);
        put(k, 1, bytes(buffer(a, 1), 4L * (n + 1)));
        put(k, 2, bytes(buffer(a, 2), Platform.getInt(null, buffer(a, 1) + 4L * n)));
        return;
      case ARRAY:
        check(a, 2, 1);
        nulls(k, a, n, nulls);
        put(k, 1, bytes(buffer(a, 1), 4L * (n + 1)));
        column(child(a, 0), ((ArrayType) t).elementType());
        return;
      case MAP:
        check(a, 2, 1);
        nulls(k, a, n, nulls);
        put(k, 1, bytes(buffer(a, 1), 4L * (n + 1)));
        column(child(a, 0), new StructType().add("key", ((MapType) t).keyType()).add("value", ((MapType) t).valueType()));
        return;
      case STRUCT:
      case INTERVAL:
      case VARIANT:
        DataType[] children = children(t, kind);
        check(a, 1, children.length);
        nulls(k, a, n, nulls);
        for (int i = 0; i < children.length; i++) {
          column(child(a, i), children[i]);
        }
        return;
      default:
        check(a, 2, 0);
        nulls(k, a, n, nulls);
        put(k, 1, kind == Kind.BOOLEAN ? bits(buffer(a, 1), n, 0) : bytes(buffer(a, 1), (long) n * kind.width()));
    }
  }

  private static DataType[] children(DataType t, Kind kind) {
    if (kind == Kind.INTERVAL) {
      return new DataType[] {DataTypes.IntegerType, DataTypes.IntegerType, DataTypes.LongType};
    } else if (kind == Kind.VARIANT) {
      return new DataType[] {DataTypes.BinaryType, DataTypes.BinaryType};
    }
    StructField[] fields = ((StructType) t).fields();
    DataType[] types = new DataType[fields.length];
    for (int i = 0; i < types.length; i++) {
      types[i] = fields[i].dataType();
    }
    return types;
  }

  private void nulls(int k, long a, int n, long nulls) {
    long validity = buffer(a, 0);
    if ((validity == 0) != (nulls == 0)) {
      throw new AssertionError(nulls + " nulls, validity at " + validity);
    }
    if (validity != 0) {
      byte[] flags = bits(validity, n, 1);
      int counted = 0;
      for (byte f : flags) {
        counted += f;
      }
      if (counted != nulls) {
        throw new AssertionError(nulls + " nulls, validity says " + counted);
      }
      put(k, 0, flags);
    }
  }

  private void put(int k, int which, byte[] bytes) {
    buffers[VectorBuilder.BUFFERS_PER_NODE * k + which] = bytes;
    layout[VectorBuilder.LAYOUT_HEADER + VectorBuilder.LAYOUT_PER_NODE * k + 3 + 2 * which] = bytes.length;
  }

  private static byte[] bits(long address, int n, int flip) {
    byte[] out = new byte[n];
    for (int i = 0; i < n; i++) {
      out[i] = (byte) (Platform.getByte(null, address + i / 8) >> (i % 8) & 1 ^ flip);
    }
    return out;
  }

  private static byte[] bytes(long address, long n) {
    byte[] out = new byte[(int) n];
    Platform.copyMemory(null, address, out, Platform.BYTE_ARRAY_OFFSET, n);
    return out;
  }

  private static void check(long a, long buffers, long children) {
    if (Platform.getLong(null, a + 16) != 0 || Platform.getLong(null, a + 24) != buffers
        || Platform.getLong(null, a + 32) != children || Platform.getLong(null, a + 56) != 0 || Platform.getLong(null, a + 64) == 0) {
      throw new AssertionError("ArrowArray has offset " + Platform.getLong(null, a + 16) + ", " + Platform.getLong(null, a + 24)
          + " buffers, " + Platform.getLong(null, a + 32) + " children");
    }
  }

  private static long buffer(long a, int i) {
    return Platform.getLong(null, Platform.getLong(null, a + 40) + 8L * i);
  }

  private static long child(long a, int i) {
    return Platform.getLong(null, Platform.getLong(null, a + 48) + 8L * i);
  }
}

package io.github.quiverspark.vector;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.CorruptBatchException;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Vectors over arrays laid out by hand. That they agree with Spark on every type is tested with the staging of columns. */
class VectorBuilderTest {
  /** Layout and buffers of some nodes, filled in order. */
  private static final class Decoded {
    private final long[] layout;
    private final byte[][] buffers;
    private int node = -1;

    Decoded(int nodes) {
      layout = new long[VectorBuilder.LAYOUT_HEADER + VectorBuilder.LAYOUT_PER_NODE * nodes];
      buffers = new byte[VectorBuilder.BUFFERS_PER_NODE * nodes][];
    }

    Decoded node(int length, int nulls) {
      node++;
      layout[at(0)] = length;
      layout[at(1)] = nulls;
      return this;
    }

    Decoded buffer(int which, byte[] array, int offset, int length) {
      buffers[VectorBuilder.BUFFERS_PER_NODE * node + which] = array;
      layout[at(2 + 2 * which)] = offset;
      layout[at(3 + 2 * which)] = length;
      return this;
    }

    Decoded buffer(int which, byte... array) {
      return buffer(which, array, 0, array.length);
    }

    private int at(int i) {
      return VectorBuilder.LAYOUT_HEADER + VectorBuilder.LAYOUT_PER_NODE * node + i;
    }

    QuiverVector build(DataType type, int rows) {
      return VectorBuilder.build(new DataType[] {type}, rows, layout, buffers)[0];
    }
  }

  private static byte[] ints(int... values) {
    ByteBuffer b = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int v : values) {
      b.putInt(v);
    }
    return b.array();
  }

  @Test
  void longsInTheMiddleOfASegment() {
    byte[] segment = new byte[64];
    ByteBuffer b = ByteBuffer.wrap(segment).order(ByteOrder.LITTLE_ENDIAN);
    b.putLong(16, 7).putLong(24, Long.MIN_VALUE).putLong(32, -1);
    QuiverVector v = new Decoded(1).node(3, 1).buffer(0, new byte[] {9, 0, 1, 0}, 1, 3).buffer(1, segment, 16, 24)
        .build(DataTypes.TimestampType, 3);
    assertEquals(7, v.getLong(0));
    assertTrue(v.isNullAt(1));
    assertEquals(-1, v.getLong(2));
    assertArrayEquals(new long[] {Long.MIN_VALUE, -1}, v.getLongs(1, 2));
    assertTrue(v.hasNull());
    assertEquals(1, v.numNulls());
    v.close();
    v.closeIfFreeable();
    assertEquals(7, v.getLong(0), "closing frees nothing");
  }

  @Test
  void stringsPointIntoTheArray() {
    byte[] data = "xxabcd".getBytes();
    QuiverVector v = new Decoded(1).node(3, 0).buffer(1, ints(0, 2, 2, 4)).buffer(2, data, 2, 4).build(DataTypes.StringType, 3);
    assertFalse(v.hasNull());
    UTF8String s = v.getUTF8String(2);
    assertEquals("cd", s.toString());
    assertSame(data, s.getBaseObject());
    assertEquals("", v.getUTF8String(1).toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
      "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"})
  void wideDecimals(String unscaled) {
    BigInteger value = new BigInteger(unscaled);
    byte[] le = new byte[16];
    for (int i = 0; i < 16; i++) {
      le[i] = value.shiftRight(8 * i).byteValue();
    }
    QuiverVector v = new Decoded(1).node(1, 0).buffer(1, le).build(DataTypes.createDecimalType(38, 5), 1);
    assertEquals(Decimal.apply(new BigDecimal(value, 5), 38, 5), v.getDecimal(0, 38, 5));
    if (value.bitLength() < 60) {
      assertEquals(Decimal.createUnsafe(value.longValue(), 18, 5), v.getDecimal(0, 18, 5));
    }
  }

  @Test
  void mapsSkipTheEntriesNode() {
    Decoded d = new Decoded(4).node(2, 0).buffer(1, ints(0, 1, 3)).node(3, 0).node(3, 0).buffer(1, ints(5, 6, 7))
        .node(3, 2).buffer(0, (byte) 1, (byte) 0, (byte) 1).buffer(1, (byte) 1, (byte) 1, (byte) 0);
    QuiverVector v = d.build(DataTypes.createMapType(DataTypes.DateType, DataTypes.BooleanType), 2);
    assertEquals(2, v.getMap(1).numElements());
    assertEquals(7, v.getMap(1).keyArray().getInt(1));
    assertTrue(v.getMap(1).valueArray().getBoolean(0));
    assertTrue(v.getMap(1).valueArray().isNullAt(1));
    assertEquals(3, v.getChild(0).length());
  }

  @Test
  void emptyListsMayLackOffsets() {
    QuiverVector v = new Decoded(2).node(0, 0).node(0, 0).buffer(1).build(DataTypes.createArrayType(DataTypes.LongType), 0);
    assertEquals(0, v.length());
    assertEquals(0, ((ArrayVector) v).offset(0));
  }

  @Test
  void voidIsNullEverywhere() {
    QuiverVector v = new Decoded(1).node(20_000, 20_000).build(DataTypes.NullType, 20_000);
    assertTrue(v.isNullAt(0) && v.isNullAt(19_999));
    assertEquals(20_000, v.numNulls());
    assertNull(v.getStruct(3));
  }

  @Test
  void lengthsThatDoNotAddUp() {
    DataType string = DataTypes.StringType;
    assertThrows(CorruptBatchException.class, () -> new Decoded(1).node(2, 0).buffer(1, new byte[15]).build(DataTypes.LongType, 2));
    assertThrows(CorruptBatchException.class, () -> new Decoded(1).node(3, 0).buffer(1, new byte[16]).build(DataTypes.LongType, 2));
    assertThrows(CorruptBatchException.class,
        () -> new Decoded(1).node(2, 0).buffer(1, new byte[20], 8, 16).build(DataTypes.LongType, 2));
    assertThrows(CorruptBatchException.class, () -> new Decoded(1).node(2, 3).buffer(1, new byte[16]).build(DataTypes.LongType, 2));
    assertThrows(CorruptBatchException.class,
        () -> new Decoded(1).node(2, 1).buffer(0, new byte[1]).buffer(1, new byte[16]).build(DataTypes.LongType, 2));
    assertThrows(CorruptBatchException.class,
        () -> new Decoded(1).node(2, 0).buffer(1, ints(0, 2, 5)).buffer(2, new byte[4]).build(string, 2));
    assertThrows(CorruptBatchException.class,
        () -> new Decoded(1).node(2, 0).buffer(1, ints(0, 2, -1)).buffer(2, new byte[4]).build(string, 2));
    assertThrows(CorruptBatchException.class,
        () -> new Decoded(2).node(1, 0).buffer(1, ints(0, 2)).node(1, 0).buffer(1, new byte[8])
            .build(DataTypes.createArrayType(DataTypes.LongType), 1));
  }

  @Test
  void wrongGetterNamesTheType() {
    QuiverVector v = new Decoded(1).node(1, 0).buffer(1, new byte[8]).build(DataTypes.LongType, 1);
    String message = assertThrows(UnsupportedOperationException.class, () -> v.getInt(0)).getMessage();
    assertTrue(message.contains("bigint") && message.contains("int"), message);
  }

  /** Generated code casts to these classes by name: Janino must see them, and a final class makes the call monomorphic. */
  @ParameterizedTest
  @EnumSource(Kind.class)
  void vectorClassesArePublicAndFinal(Kind kind) {
    int modifiers = kind.vectorClass().getModifiers();
    assertTrue(Modifier.isPublic(modifiers) && Modifier.isFinal(modifiers));
  }
}

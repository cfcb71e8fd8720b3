package io.github.quiverspark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.util.SizeEstimator;
import org.junit.jupiter.api.Test;

class QuiverCachedBatchTest {
  private static final int MAGIC_AT = 0;
  private static final int VERSION_AT = 4;
  private static final int ROWS_AT = 8;
  private static final int HEADER_LENGTH_AT = 24;

  private static QuiverCachedBatch batch(int... segmentLengths) {
    DataType[] types = new DataType[5];
    Arrays.fill(types, 0, 2, DataTypes.LongType);
    Arrays.fill(types, 2, 4, DataTypes.IntegerType);
    types[4] = DataTypes.LongType;
    byte[] stats = UnsafeProjection.create(types).apply(new GenericInternalRow(new Object[] {-5L, 7L, 1, 42, 336L})).copy().getBytes();
    Random random = new Random(1);
    byte[][] segments = new byte[segmentLengths.length][];
    for (int i = 0; i < segments.length; i++) {
      segments[i] = new byte[segmentLengths[i]];
      random.nextBytes(segments[i]);
    }
    return new QuiverCachedBatch(42, 1, 336, new byte[] {-1, -1, -1, -1, 8, 0, 0, 0}, stats, segments);
  }

  private static void assertSame(QuiverCachedBatch a, QuiverCachedBatch b) {
    assertEquals(a.numRows(), b.numRows());
    assertEquals(a.numColumns(), b.numColumns());
    assertEquals(a.sizeInBytes(), b.sizeInBytes());
    assertArrayEquals(a.header(), b.header());
    assertArrayEquals(a.statsBytes(), b.statsBytes());
    assertEquals(a.segments().length, b.segments().length);
    for (int i = 0; i < a.segments().length; i++) {
      assertArrayEquals(a.segments()[i], b.segments()[i]);
    }
  }

  private static byte[] javaBytes(Object o) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ObjectOutputStream o2 = new ObjectOutputStream(out)) {
      o2.writeObject(o);
    }
    return out.toByteArray();
  }

  private static QuiverCachedBatch javaRead(byte[] bytes) throws Exception {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return (QuiverCachedBatch) in.readObject();
    }
  }

  /** The wire form alone. */
  private static byte[] wire(QuiverCachedBatch b) {
    Output out = new Output(1024, -1);
    b.write(new Kryo(), out);
    return out.toBytes();
  }

  private static QuiverCachedBatch unwire(byte[] bytes) {
    QuiverCachedBatch b = new QuiverCachedBatch();
    b.read(new Kryo(), new Input(bytes));
    return b;
  }

  @Test
  void statsAreARow() {
    var stats = batch(3).stats();
    assertEquals(5, stats.numFields());
    assertEquals(-5L, stats.getLong(0));
    assertEquals(7L, stats.getLong(1));
    assertEquals(1, stats.getInt(2));
    assertEquals(42, stats.getInt(3));
    assertEquals(336L, stats.getLong(4));
  }

  @Test
  void javaSerialization() throws Exception {
    for (QuiverCachedBatch b : new QuiverCachedBatch[] {batch(), batch(0), batch(10, 0, 3_000_000, 5)}) {
      assertSame(b, javaRead(javaBytes(b)));
    }
  }

  @Test
  void kryo() {
    KryoSerializer serializer = new KryoSerializer(new SparkConf(false));
    var instance = serializer.newInstance();
    scala.reflect.ClassTag<QuiverCachedBatch> tag = scala.reflect.ClassTag$.MODULE$.apply(QuiverCachedBatch.class);
    for (QuiverCachedBatch b : new QuiverCachedBatch[] {batch(), batch(10, 0, 3_000_000, 5)}) {
      ByteBuffer bytes = instance.serialize(b, tag);
      assertSame(b, instance.deserialize(bytes, tag));
    }
  }

  @Test
  void payloadAndHeapSize() {
    QuiverCachedBatch b = batch(10, 0, 1001);
    assertEquals(8 + 1011, b.payloadBytes());
    long arrays = SizeEstimator.estimate(b.header()) + SizeEstimator.estimate(b.statsBytes()) + SizeEstimator.estimate(b.segments());
    long self = b.estimatedSize() - arrays;
    assertTrue(self >= 32 && self <= 64, "object itself: " + self);
    assertEquals(b.estimatedSize(), SizeEstimator.estimate(b));
  }

  @Test
  void anotherVersionIsNamed() {
    byte[] wire = wire(batch(5));
    ByteBuffer.wrap(wire).putInt(VERSION_AT, 9);
    String message = assertThrows(CorruptBatchException.class, () -> unwire(wire)).getMessage();
    assertTrue(message.contains("version 9") && message.contains("reads 1"), message);
  }

  @Test
  void wrongMagic() {
    byte[] wire = wire(batch(5));
    ByteBuffer.wrap(wire).putInt(MAGIC_AT, 0xCAFEBABE);
    String message = assertThrows(CorruptBatchException.class, () -> unwire(wire)).getMessage();
    assertTrue(message.contains("0xcafebabe"), message);
  }

  @Test
  void everyTruncationIsAnError() throws Exception {
    byte[] wire = wire(batch(5, 9));
    for (int n = 0; n < wire.length; n++) {
      byte[] cut = Arrays.copyOf(wire, n);
      assertThrows(CorruptBatchException.class, () -> unwire(cut), "cut at " + n);
    }
    assertSame(batch(5, 9), unwire(wire));
  }

  /** Wrong lengths are told, or fail as truncation; none of them allocates what it announces. */
  @Test
  void wrongLengths() {
    byte[] wire = wire(batch(5, 9));
    for (int at = ROWS_AT; at + 4 <= wire.length; at++) {
      for (int value : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, QuiverCachedBatch.MAX_SEGMENT_BYTES}) {
        byte[] bad = wire.clone();
        ByteBuffer.wrap(bad).putInt(at, value);
        try {
          unwire(bad);
        } catch (CorruptBatchException expected) {
          // Told by name.
        }
      }
    }
    ByteBuffer.wrap(wire).putInt(HEADER_LENGTH_AT, -3);
    String message = assertThrows(CorruptBatchException.class, () -> unwire(wire)).getMessage();
    assertTrue(message.contains("header length of -3"), message);
  }
}

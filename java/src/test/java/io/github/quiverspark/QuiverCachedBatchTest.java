package io.github.quiverspark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;
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
  private static final int LAST_AT = 16;
  private static final int HEADER_LENGTH_AT = 28;

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
    byte[] header = {-1, -1, -1, -1, 8, 0, 0, 0};
    return new QuiverCachedBatch(42, 1, true, 336, header, stats, checksums(42, 1, 336, header, stats, segments), segments);
  }

  /** As docs/storage-format.md says, by the JDK's CRC32C. */
  private static byte[] checksums(long rows, long columns, long size, byte[] header, byte[] stats, byte[][] segments) {
    ByteBuffer sums = ByteBuffer.allocate(4 + 4 * segments.length).order(ByteOrder.LITTLE_ENDIAN).position(4);
    for (byte[] s : segments) {
      sums.putInt(crc(s));
    }
    ByteBuffer numbers = ByteBuffer.allocate(48).order(ByteOrder.LITTLE_ENDIAN);
    for (long n : new long[] {rows, columns, size, header.length, stats.length, segments.length}) {
      numbers.putLong(n);
    }
    byte[] table = Arrays.copyOfRange(sums.array(), 4, sums.capacity());
    return sums.putInt(0, crc(numbers.array(), header, stats, table)).array();
  }

  private static int crc(byte[]... parts) {
    CRC32C crc = new CRC32C();
    for (byte[] part : parts) {
      crc.update(part);
    }
    return (int) crc.getValue();
  }

  private static void assertSame(QuiverCachedBatch a, QuiverCachedBatch b) {
    assertEquals(a.numRows(), b.numRows());
    assertEquals(a.numColumns(), b.numColumns());
    assertEquals(a.isLast(), b.isLast());
    assertEquals(a.sizeInBytes(), b.sizeInBytes());
    assertArrayEquals(a.header(), b.header());
    assertArrayEquals(a.statsBytes(), b.statsBytes());
    assertArrayEquals(a.checksums(), b.checksums());
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
    long arrays = SizeEstimator.estimate(b.header()) + SizeEstimator.estimate(b.checksums()) + SizeEstimator.estimate(b.statsBytes())
        + SizeEstimator.estimate(b.segments());
    long self = b.estimatedSize() - arrays;
    assertTrue(self >= 32 && self <= 64, "object itself: " + self);
    assertEquals(b.estimatedSize(), SizeEstimator.estimate(b));
  }

  /** Whatever bit is flipped before the segments, no such batch comes out. */
  @Test
  void everyFlippedBitOfTheHeadIsFound() {
    QuiverCachedBatch good = batch(5, 9);
    byte[] wire = wire(good);
    int head = wire.length - (4 + 5) - (4 + 9);
    for (int bit = 0; bit < 8 * head; bit++) {
      byte[] bad = wire.clone();
      bad[bit / 8] ^= (byte) (1 << bit % 8);
      if (bit / 8 == LAST_AT + 3 && bit % 8 == 0) {
        // the mark itself: without it the partition has no end, which the reader of the partition notices
        assertFalse(unwire(bad).isLast());
      } else {
        assertThrows(CorruptBatchException.class, () -> unwire(bad), "bit " + bit);
      }
    }
  }

  /** Segments are to be checked once after the batch was read back, and never where it was encoded. */
  @Test
  void whatIsToVerify() {
    QuiverCachedBatch fresh = batch(5);
    assertFalse(fresh.mustVerify(new int[] {0}));
    fresh.verified(new int[] {0});
    QuiverCachedBatch back = unwire(wire(fresh));
    assertFalse(back.mustVerify(new int[0]));
    assertTrue(back.mustVerify(new int[] {0}));
    back.verified(new int[] {0});
    assertFalse(back.mustVerify(new int[] {0}));
    assertEquals(back.estimatedSize(), fresh.estimatedSize() + SizeEstimator.estimate(new boolean[1]));
    assertTrue(unwire(wire(back)).mustVerify(new int[] {0}));
  }

  @Test
  void anotherVersionIsNamed() {
    byte[] wire = wire(batch(5));
    ByteBuffer.wrap(wire).putInt(VERSION_AT, 9);
    String message = assertThrows(CorruptBatchException.class, () -> unwire(wire)).getMessage();
    assertTrue(message.contains("version 9") && message.contains("reads 2"), message);
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

  @Test
  void aBlockIsNamedWithWhatIsWrong() {
    assertEquals("block rdd_1_2: cut", CorruptBatchException.of("block rdd_1_2", new EOFException("cut")).getMessage());
    assertEquals("block rdd_1_2: java.io.EOFException", CorruptBatchException.of("block rdd_1_2", new EOFException()).getMessage());
  }
}

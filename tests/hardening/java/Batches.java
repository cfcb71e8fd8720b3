import io.github.quiverspark.nativelib.Native;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.unsafe.Platform;

/**
 * Rows (long, string, double) as UnsafeRow bytes, encoded and decoded through the native methods alone. What comes back must be the
 * bytes that went in: Spark's row format has one form for each row.
 */
final class Batches implements AutoCloseable {
  static final String[] CODECS = {"pack", "zstd", "lz4", "none"};
  static final byte[] SCHEMA = schema("a", "b", "c");

  private static final int COLUMNS = 3;

  private final long encoder;
  private final long decoder;

  Batches(String codec) {
    encoder = Native.newEncoder(SCHEMA, "codec=" + codec);
    decoder = Native.newDecoder(SCHEMA, new int[] {0, 1, 2}, null, null);
  }

  /** JSON of a struct of long, string and double with these names. */
  static byte[] schema(String... names) {
    String[] types = {"long", "string", "double"};
    StringBuilder json = new StringBuilder("{\"type\":\"struct\",\"fields\":[");
    for (int i = 0; i < names.length; i++) {
      json.append(i == 0 ? "" : ",").append("{\"name\":\"").append(names[i]).append("\",\"type\":\"").append(types[i])
          .append("\",\"nullable\":true,\"metadata\":{}}");
    }
    return json.append("]}").toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Rows of a batch: bytes behind each other and the end of each. */
  record Rows(byte[] bytes, long[] ends) {
    static Rows random(Random random, int n) {
      ByteBuffer buffer = ByteBuffer.allocate(n * 128).order(ByteOrder.LITTLE_ENDIAN);
      long[] ends = new long[n];
      int range = 1 + random.nextInt(1000);
      for (int i = 0; i < n; i++) {
        long nulls = random.nextInt(8) == 0 ? random.nextInt(8) : 0;
        byte[] text = ("value " + random.nextInt(range) + "x".repeat(random.nextInt(40))).getBytes(StandardCharsets.UTF_8);
        buffer.putLong(nulls);
        buffer.putLong((nulls & 1) != 0 ? 0 : random.nextInt(range) * 1000L);
        buffer.putLong((nulls & 2) != 0 ? 0 : 32L << 32 | text.length);
        buffer.putDouble((nulls & 4) != 0 ? 0 : random.nextInt(100_000) / 100.0);
        if ((nulls & 2) == 0) {
          buffer.put(text);
          buffer.put(new byte[-text.length & 7]);
        }
        ends[i] = buffer.position();
      }
      return new Rows(Arrays.copyOf(buffer.array(), buffer.position()), ends);
    }
  }

  /** Header, statistics, checksums, segments. */
  byte[][] encode(Rows rows) {
    long size = Math.max(8, rows.bytes.length);
    long data = Native.allocate(size);
    long ends = Native.allocate(8L * rows.ends.length);
    try {
      Platform.copyMemory(rows.bytes, Platform.BYTE_ARRAY_OFFSET, null, data, rows.bytes.length);
      Platform.copyMemory(rows.ends, Platform.LONG_ARRAY_OFFSET, null, ends, 8L * rows.ends.length);
      return Native.encodeRows(encoder, data, rows.bytes.length, ends, rows.ends.length, new long[2]);
    } finally {
      Native.free(data, size);
      Native.free(ends, 8L * rows.ends.length);
    }
  }

  /** The segments of what {@link #encode} returns. */
  static byte[][] segments(byte[][] batch) {
    return Arrays.copyOfRange(batch, 3, batch.length);
  }

  /** All rows of a batch behind each other. */
  byte[] decode(byte[][] batch) {
    Native.decodeRows(decoder, batch[0], segments(batch), batch[2], new long[4]);
    byte[] all = new byte[0];
    int[] ends = new int[501];
    for (byte[] block; (block = Native.nextRows(decoder, ends, 1 << 16, null)) != null;) {
      int at = all.length;
      all = Arrays.copyOf(all, at + block.length);
      System.arraycopy(block, 0, all, at, block.length);
    }
    return all;
  }

  /** The first column, read as a vector, agrees with the rows. */
  boolean vectorAgrees(byte[][] batch, Rows rows) {
    long[] layout = new long[4 + 8 * COLUMNS];
    byte[][] buffers = new byte[3 * COLUMNS][];
    Native.decodeVectors(decoder, batch[0], segments(batch), null, layout, buffers, null);
    ByteBuffer row = ByteBuffer.wrap(rows.bytes).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer values = ByteBuffer.wrap(buffers[1]).order(ByteOrder.LITTLE_ENDIAN);
    if (layout[0] != rows.ends.length) {
      return false;
    }
    for (int i = 0; i < rows.ends.length; i++) {
      int start = i == 0 ? 0 : (int) rows.ends[i - 1];
      boolean isNull = (row.getLong(start) & 1) != 0;
      if (isNull != (buffers[0] != null && buffers[0][(int) layout[6] + i] != 0)) {
        return false;
      }
      if (!isNull && values.getLong((int) layout[8] + 8 * i) != row.getLong(start + 8)) {
        return false;
      }
    }
    return true;
  }

  /** Encodes and decodes one random batch in both ways; whether all came back. */
  boolean roundTrip(Random random) {
    Rows rows = Rows.random(random, 1 + random.nextInt(1500));
    byte[][] batch = encode(rows);
    return Arrays.equals(rows.bytes, decode(batch)) && vectorAgrees(batch, rows);
  }

  @Override
  public void close() {
    Native.close(encoder);
    Native.close(decoder);
  }
}

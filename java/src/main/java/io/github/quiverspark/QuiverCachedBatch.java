package io.github.quiverspark;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoSerializable;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.nativelib.NativeLoader;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.columnar.SimpleMetricsCachedBatch;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.KnownSizeEstimation;
import org.apache.spark.util.SizeEstimator;

/**
 * A batch of rows as Spark's block manager keeps it: an Arrow IPC record batch message, cut into its header and one or more
 * {@code byte[]} segments per top-level column, and the statistics row that prunes it. Immutable by convention: readers hand out
 * vectors that point into the segments.
 *
 * <p>The wire form, the same for Java serialization and Kryo, big-endian:
 * <pre>
 *   int  magic 'QVCB'      int  wire version        int  rows            int  columns         int last (0, 1)
 *   long decoded size
 *   int  header length     header bytes             int  stats length    stats bytes         int  checksums length   checksums
 *   int  segment count     for each segment: int length, bytes
 * </pre>
 *
 * <p>A batch that was read back from its wire form is checked by its checksums: all but the segments at once, segments when a column of
 * theirs is first decoded.
 */
public final class QuiverCachedBatch implements SimpleMetricsCachedBatch, KnownSizeEstimation, Externalizable, KryoSerializable {
  private static final long serialVersionUID = 1L;

  /** Version of the wire form that this class writes and reads. */
  public static final int WIRE_VERSION = 2;
  /** No segment is longer: the encoder splits a longer column. */
  public static final int MAX_SEGMENT_BYTES = 16 << 20;

  private static final int MAGIC = 0x51564342;
  /** Header and statistics grow with the number of columns only; more than this is a wrong length. */
  private static final int MAX_HEADER_BYTES = 256 << 20;
  /** Arrays up to this length are allocated at once when read; longer ones grow with the bytes that really come. */
  private static final int TRUSTED_LENGTH = 1 << 20;

  private int numRows;
  private int numColumns;
  private boolean last;
  private long sizeInBytes;
  private byte[] header;
  private byte[] stats;
  private byte[] checksums;
  private byte[][] segments;
  /** Per column, whether its segments have yet to be checked; null where the batch never left the heap. Races do no harm. */
  private boolean[] unverified;

  /** For deserialization only. */
  public QuiverCachedBatch() {}

  /**
   * @param numRows rows of the batch
   * @param numColumns top-level columns; {@code stats} has five fields for each
   * @param last whether it is the last batch of its partition
   * @param sizeInBytes decoded size as Spark's column statistics count it
   * @param header encapsulated Arrow message without its body
   * @param stats bytes of the statistics UnsafeRow
   * @param checksums of the rest and of each segment, as the encoder made them
   * @param segments the message body, cut
   */
  public QuiverCachedBatch(
      int numRows, int numColumns, boolean last, long sizeInBytes, byte[] header, byte[] stats, byte[] checksums, byte[][] segments) {
    this.numRows = numRows;
    this.numColumns = numColumns;
    this.last = last;
    this.sizeInBytes = sizeInBytes;
    this.header = Objects.requireNonNull(header, "header");
    this.stats = Objects.requireNonNull(stats, "stats");
    this.checksums = Objects.requireNonNull(checksums, "checksums");
    this.segments = Objects.requireNonNull(segments, "segments");
  }

  @Override
  public int numRows() {
    return numRows;
  }

  /** Number of top-level columns. */
  public int numColumns() {
    return numColumns;
  }

  /** Whether this is the last batch of its partition; each partition has one, if need be a batch without rows. */
  public boolean isLast() {
    return last;
  }

  /** The decoded size, as Spark's column statistics count it; the same for every codec. */
  @Override
  public long sizeInBytes() {
    return sizeInBytes;
  }

  /** The encapsulated Arrow message without its body; not a copy. */
  public byte[] header() {
    return header;
  }

  /** The message body in pieces; not a copy. */
  public byte[][] segments() {
    return segments;
  }

  /** The bytes of the statistics row; not a copy. */
  public byte[] statsBytes() {
    return stats;
  }

  /** CRC32C of all but the segments, then of each segment; only the native library reads them. Not a copy. */
  public byte[] checksums() {
    return checksums;
  }

  /** Whether one of these columns has not been decoded with a check since the batch came back to the heap. */
  public boolean mustVerify(int[] columns) {
    if (unverified != null) {
      for (int c : columns) {
        if (unverified[c]) {
          return true;
        }
      }
    }
    return false;
  }

  /** Notes that these columns have been decoded, with a check where one was due. */
  public void verified(int[] columns) {
    if (unverified != null) {
      for (int c : columns) {
        unverified[c] = false;
      }
    }
  }

  /** Five fields per column: lower bound, upper bound, null count, count, size in bytes. A fresh row over shared bytes. */
  @Override
  public InternalRow stats() {
    UnsafeRow row = new UnsafeRow(5 * numColumns);
    row.pointTo(stats, Platform.BYTE_ARRAY_OFFSET, stats.length);
    return row;
  }

  /** Bytes of header and segments: what the batch takes but for its statistics and array headers. */
  public long payloadBytes() {
    long n = header.length;
    for (byte[] s : segments) {
      n += s.length;
    }
    return n;
  }

  /** Heap bytes of this object and its arrays, headers and padding included. */
  @Override
  public long estimatedSize() {
    long n = HeapSizes.BATCH + HeapSizes.ofBytes(header.length) + HeapSizes.ofBytes(stats.length)
        + HeapSizes.ofBytes(checksums.length) + (unverified == null ? 0 : HeapSizes.ofBytes(unverified.length))
        + HeapSizes.ofReferences(segments.length);
    for (byte[] s : segments) {
      n += HeapSizes.ofBytes(s.length);
    }
    return n;
  }

  @Override
  public String toString() {
    return "QuiverCachedBatch(" + numRows + " rows, " + numColumns + " columns, " + payloadBytes() + " bytes)";
  }

  // ---- wire form

  @Override
  public void writeExternal(ObjectOutput out) throws IOException {
    writeTo(out);
  }

  @Override
  public void readExternal(ObjectInput in) throws IOException {
    readFrom(in);
  }

  @Override
  public void write(Kryo kryo, Output output) {
    try {
      DataOutputStream out = new DataOutputStream(output);
      writeTo(out);
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void read(Kryo kryo, Input input) {
    try {
      readFrom(new DataInputStream(input));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void writeTo(DataOutput out) throws IOException {
    out.writeInt(MAGIC);
    out.writeInt(WIRE_VERSION);
    out.writeInt(numRows);
    out.writeInt(numColumns);
    out.writeInt(last ? 1 : 0);
    out.writeLong(sizeInBytes);
    writeBytes(out, header);
    writeBytes(out, stats);
    writeBytes(out, checksums);
    out.writeInt(segments.length);
    for (byte[] s : segments) {
      writeBytes(out, s);
    }
  }

  private static void writeBytes(DataOutput out, byte[] bytes) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private void readFrom(DataInput in) throws IOException {
    try {
      int magic = in.readInt();
      if (magic != MAGIC) {
        throw new CorruptBatchException(String.format("not a Quiver batch: it starts with 0x%08x", magic));
      }
      int version = in.readInt();
      if (version != WIRE_VERSION) {
        throw new CorruptBatchException("batch has wire version " + version + ", this version of Quiver reads " + WIRE_VERSION
            + "; driver and executors must use the same Quiver version");
      }
      numRows = checked("row count", in.readInt(), Integer.MAX_VALUE);
      numColumns = checked("column count", in.readInt(), Integer.MAX_VALUE / 5);
      last = checked("last mark", in.readInt(), 1) == 1;
      sizeInBytes = in.readLong();
      if (sizeInBytes < 0) {
        throw new CorruptBatchException("batch has a decoded size of " + sizeInBytes);
      }
      header = readBytes(in, "header", MAX_HEADER_BYTES);
      stats = readBytes(in, "statistics", MAX_HEADER_BYTES);
      checksums = readBytes(in, "checksums", MAX_HEADER_BYTES);
      checkStats();
      int count = checked("segment count", in.readInt(), Integer.MAX_VALUE);
      NativeLoader.load();
      Native.checkHead(numRows, numColumns, sizeInBytes, header, stats, count, checksums);
      // The list grows with the segments that really come, not by the announced count.
      List<byte[]> read = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        read.add(readBytes(in, "segment " + i, MAX_SEGMENT_BYTES));
      }
      segments = read.toArray(new byte[0][]);
      unverified = new boolean[numColumns];
      Arrays.fill(unverified, true);
    } catch (EOFException e) {
      throw new CorruptBatchException("batch is truncated", e);
    }
  }

  /** Later reads of the statistics go through {@code Unsafe}: the fixed part must be there. */
  private void checkStats() {
    long fields = 5L * numColumns;
    long fixed = (fields + 63) / 64 * 8 + fields * 8;
    if (stats.length < fixed) {
      throw new CorruptBatchException("statistics of " + numColumns + " columns have " + stats.length
          + " bytes, at least " + fixed + " expected");
    }
  }

  private static int checked(String what, int value, int limit) {
    if (value < 0 || value > limit) {
      throw new CorruptBatchException("batch has a " + what + " of " + value + ", allowed are 0 to " + limit);
    }
    return value;
  }

  private static byte[] readBytes(DataInput in, String what, int limit) throws IOException {
    int length = checked(what + " length", in.readInt(), limit);
    byte[] bytes = new byte[Math.min(length, TRUSTED_LENGTH)];
    in.readFully(bytes);
    while (bytes.length < length) {
      int have = bytes.length;
      bytes = Arrays.copyOf(bytes, (int) Math.min(length, 2L * have));
      in.readFully(bytes, have, bytes.length - have);
    }
    return bytes;
  }

  /** Sizes of heap objects in this JVM, found by asking Spark's own estimator once. */
  private static final class HeapSizes {
    private static final int SAMPLE = 128;
    private static final long ARRAY_HEADER = SizeEstimator.estimate(new byte[0]);
    private static final long REFERENCE =
        (SizeEstimator.estimate(new Object[SAMPLE]) - SizeEstimator.estimate(new Object[0])) / SAMPLE;
    private static final long OBJECT_HEADER = SizeEstimator.estimate(new Object());
    // The header may end in four bytes that fields use (compressed class pointers); counting it whole errs by eight at most.
    private static final long BATCH = round(OBJECT_HEADER + 2 * Integer.BYTES + 1 + Long.BYTES + 5 * REFERENCE);

    private static long ofBytes(int length) {
      return round(ARRAY_HEADER + length);
    }

    private static long ofReferences(int length) {
      return round(ARRAY_HEADER + REFERENCE * length);
    }

    private static long round(long bytes) {
      return (bytes + 7) & ~7L;
    }
  }
}

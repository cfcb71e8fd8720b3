package io.github.quiverspark.write;

import io.github.quiverspark.QuiverException;
import io.github.quiverspark.vector.Kind;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;

/**
 * One Arrow array under construction in native memory, fed from column vectors of any kind. Nulls are kept as one byte a slot and
 * packed at the end; the values of null slots are undefined.
 */
abstract class StagedColumn implements AutoCloseable {
  /** Byte-wise 1s: booleans are packed eight at a time. */
  private static final long ONES = 0x0101010101010101L;

  protected final NativeMemory memory;
  protected final DataType type;
  protected final Kind kind;
  /** Either empty, when no slot was null so far, or one byte for each slot. */
  private final NativeBuffer nulls;
  private final NativeBuffer validity;
  protected int length;
  private int nullCount;

  StagedColumn(NativeMemory memory, DataType type) {
    this.memory = memory;
    this.type = type;
    this.kind = Kind.of(type);
    this.nulls = new NativeBuffer(memory);
    this.validity = new NativeBuffer(memory);
  }

  /** An empty column of a storage type. */
  static StagedColumn create(NativeMemory memory, DataType type) {
    DataType t = Kind.storageType(type);
    switch (Kind.of(t)) {
      case NULL:
        return new StagedNulls(memory, t);
      case STRING:
      case BINARY:
      case GEO:
        return new StagedBytes(memory, t);
      case ARRAY:
      case MAP:
        return new StagedRanges(memory, t);
      case STRUCT:
      case INTERVAL:
      case VARIANT:
        return new StagedStruct(memory, t);
      case DECIMAL:
        return new StagedDecimals(memory, t);
      default:
        return new StagedFixed(memory, t);
    }
  }

  /** Slots so far. */
  final int length() {
    return length;
  }

  /** Null slots so far. */
  final int nullCount() {
    return nullCount;
  }

  /**
   * Appends slots of a vector. Stops early, after the slot that did it, once more than budget bytes were appended.
   *
   * @return the number of slots appended: count, or fewer, but at least 1 if count is
   */
  abstract int append(ColumnVector v, int from, int count, long budget);

  /** Appends one value, null or not, of a row or array. */
  abstract void appendValue(SpecializedGetters from, int ordinal);

  /** Appends slots that are null. */
  abstract void appendNulls(int count);

  /** Drops all slots from this one on. */
  void truncate(int newLength) {
    if (nulls.size() > 0) {
      for (int i = newLength; i < length; i++) {
        nullCount -= Platform.getByte(null, nulls.address() + i);
      }
      nulls.setSize(newLength);
    }
    length = newLength;
  }

  /** Empties the column; buffers larger than keepBytes are given back. */
  void reset(long keepBytes) {
    nulls.reset(keepBytes);
    validity.reset(keepBytes);
    length = 0;
    nullCount = 0;
  }

  /** Bytes staged so far, children included. */
  abstract long bytes();

  /** Bytes that the ArrowArray structs of the column take, children included. */
  abstract long structBytes();

  /** Makes the column's ArrowArray and those of its children; the buffers stay the column's. Answers the struct's address. */
  abstract long export(ArrowStructs out);

  @Override
  public void close() {
    nulls.close();
    validity.close();
  }

  /** Address of the packed validity, or 0 where no slot is null. */
  final long packValidity() {
    if (nullCount == 0) {
      return 0;
    }
    pack(nulls, validity, ONES);
    return validity.address();
  }

  /** Packs one byte a slot (0 or 1), xor the flip pattern, into a bitmap. */
  static void pack(NativeBuffer bytes, NativeBuffer bits, long flip) {
    int n = Math.toIntExact(bytes.size());
    bits.setSize((n + 7) / 8);
    long from = bytes.address();
    long to = bits.address();
    int whole = n >> 3;
    for (int i = 0; i < whole; i++) {
      long eight = (Platform.getLong(null, from + 8L * i) ^ flip) & ONES;
      // The multiplication moves byte k's bit to bit 56 + k.
      Platform.putByte(null, to + i, (byte) (eight * 0x0102040810204080L >>> 56));
    }
    if ((n & 7) != 0) {
      int last = 0;
      for (int i = whole << 3; i < n; i++) {
        last |= ((Platform.getByte(null, from + i) ^ (int) flip) & 1) << (i & 7);
      }
      Platform.putByte(null, to + whole, (byte) last);
    }
  }

  /** Appends the null flags of slots of a vector and answers how many are null. */
  final int appendFlags(ColumnVector v, int from, int count) {
    if (!v.hasNull()) {
      appendFlags(count, false);
      return 0;
    }
    int n = NullFlags.copy(v, from, count, flags(count));
    length += count;
    nullCount += n;
    return n;
  }

  /** Appends equal null flags. */
  final void appendFlags(int count, boolean isNull) {
    if (isNull) {
      Platform.setMemory(null, flags(count), count, (byte) 1);
      nullCount += count;
    } else if (nulls.size() > 0) {
      nulls.fill(0, count);
    }
    length += count;
  }

  /** Whether a slot is null. */
  final boolean isNull(int slot) {
    return nulls.size() > 0 && Platform.getByte(null, nulls.address() + slot) != 0;
  }

  /** Room for flags of count more slots, with those of all earlier slots in place. */
  private long flags(int count) {
    if (nulls.size() == 0) {
      nulls.fill(0, length);
    }
    return nulls.extend(count);
  }

  /** Offsets of Arrow are int32. */
  static int checkedOffset(long offset, DataType type) {
    if (offset > Integer.MAX_VALUE) {
      throw new QuiverException("a batch has more than 2 GiB of " + type.catalogString()
          + " values in one column; lower spark.quiver.batch.maxBytes, or the size of single values");
    }
    return (int) offset;
  }
}

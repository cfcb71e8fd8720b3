package io.github.quiverspark.nativelib;

/**
 * The native methods of libquiver, one per function of the C ABI ({@code jni/quiver.h}). No method may be called
 * before {@link NativeLoader#load} has returned.
 *
 * <p>Every failure is thrown as a {@link io.github.quiverspark.QuiverException} (or its subclass
 * {@link io.github.quiverspark.CorruptBatchException} where stored bytes are wrong, or
 * {@link IllegalArgumentException} for a wrong option); the next call works again.
 *
 * <p>Handles are positive integers. A handle is used by one thread at a time; a call with a closed handle throws
 * {@link IllegalStateException}. Addresses are native addresses in the sense of {@code Unsafe}.
 */
public final class Native {
  /** The ABI this class was written for; {@link #abiVersion} must answer the same. */
  public static final int ABI_VERSION = 6;

  private Native() {}

  /** ABI number of the loaded library. */
  public static native int abiVersion();

  /** "version build-id toolchain" of the loaded library. */
  public static native String version();

  /** Process-wide settings, {@code key=value} lines: {@code threads} (task threads), {@code memory.limit} (bytes, 0 = none). */
  public static native void configure(String options);

  /** Bytes of native memory in use by encoders, decoders, staged input and exported batches. */
  public static native long nativeBytes();

  /** Zeroed, counted native memory, 64-byte aligned. Throws when the native memory limit would be exceeded. */
  public static native long allocate(long bytes);

  /** Grows memory of {@link #allocate}, keeping its content (oldBytes of it); the old address is invalid afterwards. */
  public static native long reallocate(long address, long oldBytes, long newBytes);

  /** Frees memory of {@link #allocate} or {@link #reallocate} of the given size; address 0 is ignored. */
  public static native void free(long address, long bytes);

  /**
   * Whether batches of this schema can be stored.
   *
   * @param schemaJson UTF-8 of {@code StructType.json()}
   * @return null if so, otherwise the reason, naming column and type
   */
  public static native String unsupportedReason(byte[] schemaJson);

  /** Throws {@link IllegalArgumentException}, listing the right values, if encoder options are wrong. */
  public static native void checkOptions(String options);

  /**
   * An encoder for batches of one schema.
   *
   * @param options {@code key=value} lines: {@code codec} (pack, zstd, lz4, none), {@code zstd.level} (1 to 22)
   */
  public static native long newEncoder(byte[] schemaJson, String options);

  /**
   * Encodes n UnsafeRows.
   *
   * @param rows address of the concatenated row bytes, rowsLength bytes
   * @param ends address of n longs: the end offset of each row within rows
   * @param info receives [0] row count, [1] decoded size in bytes as Spark's column statistics count it
   * @return [0] message header, [1] statistics row (UnsafeRow bytes), [2] checksums, [3 …] segments
   */
  public static native byte[][] encodeRows(long encoder, long rows, long rowsLength, long ends, int n, long[] info);

  /**
   * Encodes a struct array of the Arrow C Data Interface whose children are the columns. The array is consumed:
   * its release callback has been called when this returns or throws.
   *
   * @param array address of an ArrowArray
   * @param schema address of its ArrowSchema (consumed too), or 0 where the array has exactly the encoder's Arrow types
   */
  public static native byte[][] encodeColumns(long encoder, long array, long schema, long[] info);

  /** Address of a C function that serves as release callback of ArrowArrays whose memory the caller keeps. */
  public static native long noopRelease();

  /**
   * Throws {@link io.github.quiverspark.CorruptBatchException} unless all of a batch but its segments is as it was encoded.
   *
   * @param size decoded size
   * @param segments number of segments
   */
  public static native void checkHead(
      long rows, long columns, long size, byte[] header, byte[] stats, long segments, byte[] checksums);

  /**
   * A decoder that reads some columns of batches of one schema.
   *
   * @param projection column indexes, in output order; an index may occur more than once
   * @param unread null, or nodes that are left out, rising: fields of structs, also below arrays and maps. Nodes are counted as by
   *     {@link #decodeVectors}. Such a field is decoded as if its type were void: one node, all null
   * @param filter null, or conditions that rows have to meet, in ASCII ({@code filter.Parse} in {@code native/filter} has the syntax;
   *     columns are counted within the projection). Rows that do not meet them may be left out, but need not be. Arrow columns are not
   *     filtered
   */
  public static native long newDecoder(byte[] schemaJson, int[] projection, int[] unread, byte[] filter);

  /**
   * Decodes the projected columns for heap-backed vectors.
   *
   * <p>Nodes are counted in pre-order over the projected columns, exactly as Arrow's field nodes: list has its element
   * below it, map an "entries" struct with key and value below, calendar interval has months, days and microseconds,
   * variant has value and metadata.
   *
   * @param header message header of the batch
   * @param segments all segments of the batch; only those of projected columns are touched
   * @param checksums the batch's checksums, by which the segments of projected columns are checked; null: not checked
   * @param layout receives [0] row count, [1] stored bytes read, [2] decode time in ns, [3] rows kept, and for node k from
   *     4 + 8*k: length, null count, then offset and length in bytes, within the array in {@code buffers}, of
   *     nulls (one byte a slot, 1 = null), first and second buffer
   * @param buffers receives for node k at 3*k, 3*k+1, 3*k+2: nulls (null where no slot is null), first buffer (values,
   *     booleans as one byte a slot, or int32 offsets), second buffer (bytes of strings and binary), or null.
   *     An array is fresh, one of {@code segments} where the stored bytes can be read in place, or one of {@code spare}
   * @param spare null, or indexed as {@code buffers}: an array that is written over if it is long enough; if not, a longer one takes its
   *     place. Where there is none, the buffer gets a fresh array
   */
  public static native void decodeVectors(
      long decoder, byte[] header, byte[][] segments, byte[] checksums, long[] layout, byte[][] buffers, byte[][] spare);

  /**
   * Decodes the projected columns of a batch, to be read by {@link #nextRows}; what an earlier call left is dropped.
   *
   * @param checksums as for {@link #decodeVectors}
   * @param layout receives [0] row count, [1] stored bytes read, [2] decode time in ns, [3] rows that the filter has left
   */
  public static native void decodeRows(long decoder, byte[] header, byte[][] segments, byte[] checksums, long[] layout);

  /**
   * Decodes the projected columns and adds up values that are not null; a filter is left aside. Where it throws, nothing has been added.
   *
   * @param checksums as for {@link #decodeVectors}
   * @param terms for each sum a node, counted as by {@link #decodeVectors}, which is a column or a field of structs, and what to do:
   *     0 count, 1 add integers or decimals of up to 18 digits, 2 the same unless it overflows, 3 add as doubles in the order of rows,
   *     4 add decimals in 128 bits, 5 add lengths of strings (characters) or binary (bytes)
   * @param totals for each sum four numbers, which are added to: values; sum, its low half, or the bits of a double; its high half, or, of
   *     2, 1 once it has overflowed; the value with which 2 would overflow, and has stayed as it was
   * @param layout as for {@link #decodeRows}
   */
  public static native void decodeTotals(
      long decoder, byte[] header, byte[][] segments, byte[] checksums, int[] terms, long[] totals, long[] layout);

  /**
   * The next block of rows as UnsafeRow bytes of the projected schema, or null after the last row.
   *
   * @param ends receives [0] the number of rows k of the block (at most ends.length - 1), [1 … k] their end offsets
   * @param targetBytes the block closes once it has this many bytes (a longer row makes a block of its own)
   * @param spare null, or an array that the block is written to if it fits
   * @return spare or a fresh array; the block begins at its start
   */
  public static native byte[] nextRows(long decoder, int[] ends, int targetBytes, byte[] spare);

  /**
   * Decodes the projected columns into the Arrow C Data Interface, for native consumers. The structs are overwritten;
   * the consumer must call the release callback of both, which frees the native memory, at any time and on any thread.
   *
   * @param checksums as for {@link #decodeVectors}
   * @param array address of an ArrowArray (80 bytes, zeroed)
   * @param schema address of an ArrowSchema (72 bytes, zeroed), or 0
   */
  public static native void decodeArrow(
      long decoder, byte[] header, byte[][] segments, byte[] checksums, long array, long schema);

  /** Closes an encoder or decoder and frees its native memory. Closing again does nothing. */
  public static native void close(long handle);
}

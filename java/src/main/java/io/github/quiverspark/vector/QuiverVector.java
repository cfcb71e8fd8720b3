package io.github.quiverspark.vector;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A read-only column vector over {@code byte[]}s that the garbage collector owns: closing does nothing, and values taken from it
 * (strings, arrays, rows) stay valid for ever. One final subclass per physical kind, so that generated code that names the class is
 * monomorphic.
 *
 * <p>Row ids are checked by assertions only; they must be below {@link #length}.
 */
public abstract class QuiverVector extends ColumnVector {
  /** One byte a slot, 1 = null; null where no slot is null. */
  private final byte[] nulls;
  private final int nullsOffset;
  private final int nullCount;
  protected final int length;

  QuiverVector(DataType type, Slots slots) {
    super(type);
    this.nulls = slots.nulls;
    this.nullsOffset = slots.nullsOffset;
    this.nullCount = slots.nullCount;
    this.length = slots.length;
  }

  /** Number of slots. */
  public final int length() {
    return length;
  }

  /** The null flags, one byte a slot from {@link #nullsOffset} on, or null where no slot is null. Not a copy. */
  public final byte[] nulls() {
    return nulls;
  }

  /** Index of slot 0 within {@link #nulls}. */
  public final int nullsOffset() {
    return nullsOffset;
  }

  @Override
  public final boolean hasNull() {
    return nullCount > 0;
  }

  @Override
  public final int numNulls() {
    return nullCount;
  }

  @Override
  public final boolean isNullAt(int rowId) {
    assert inBounds(rowId);
    return nulls != null && nulls[nullsOffset + rowId] != 0;
  }

  /** Does nothing: the arrays belong to the garbage collector. */
  @Override
  public final void close() {}

  final boolean inBounds(int rowId) {
    return rowId >= 0 && rowId < length;
  }

  final boolean inBounds(int rowId, int count) {
    return rowId >= 0 && count >= 0 && rowId <= length - count;
  }

  private UnsupportedOperationException wrongType(String asked) {
    return new UnsupportedOperationException("a vector of " + type.catalogString() + " has no " + asked + " values");
  }

  @Override
  public boolean getBoolean(int rowId) {
    throw wrongType("boolean");
  }

  @Override
  public byte getByte(int rowId) {
    throw wrongType("byte");
  }

  @Override
  public short getShort(int rowId) {
    throw wrongType("short");
  }

  @Override
  public int getInt(int rowId) {
    throw wrongType("int");
  }

  @Override
  public long getLong(int rowId) {
    throw wrongType("long");
  }

  @Override
  public float getFloat(int rowId) {
    throw wrongType("float");
  }

  @Override
  public double getDouble(int rowId) {
    throw wrongType("double");
  }

  @Override
  public ColumnarArray getArray(int rowId) {
    throw wrongType("array");
  }

  @Override
  public ColumnarMap getMap(int rowId) {
    throw wrongType("map");
  }

  @Override
  public Decimal getDecimal(int rowId, int precision, int scale) {
    throw wrongType("decimal");
  }

  @Override
  public UTF8String getUTF8String(int rowId) {
    throw wrongType("string");
  }

  @Override
  public byte[] getBinary(int rowId) {
    throw wrongType("binary");
  }

  @Override
  public QuiverVector getChild(int ordinal) {
    throw wrongType("child");
  }

  /** Slot count and null flags of a vector. */
  static final class Slots {
    final int length;
    final int nullCount;
    final byte[] nulls;
    final int nullsOffset;

    Slots(int length, int nullCount, byte[] nulls, int nullsOffset) {
      this.length = length;
      this.nullCount = nullCount;
      this.nulls = nulls;
      this.nullsOffset = nullsOffset;
    }
  }
}

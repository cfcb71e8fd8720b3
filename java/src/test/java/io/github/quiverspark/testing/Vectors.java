package io.github.quiverspark.testing;

import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.RowToColumnConverter;
import org.apache.spark.sql.execution.arrow.ArrowWriter;
import org.apache.spark.sql.execution.vectorized.OffHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;

/** Rows as columnar batches of the vectors that Spark and others make. */
public final class Vectors {
  private Vectors() {}

  /** Ways to hold rows in vectors. */
  public enum Form {
    ON_HEAP, OFF_HEAP, ARROW, FOREIGN
  }

  public static ColumnarBatch batch(Form form, StructType schema, List<InternalRow> rows) {
    switch (form) {
      case ON_HEAP:
        return writable(OnHeapColumnVector.allocateColumns(Math.max(rows.size(), 1), schema), schema, rows);
      case OFF_HEAP:
        return writable(OffHeapColumnVector.allocateColumns(Math.max(rows.size(), 1), schema), schema, rows);
      case ARROW:
        return arrow(schema, rows);
      default:
        ColumnarBatch inner = batch(Form.ON_HEAP, schema, rows);
        ColumnVector[] wrapped = new ColumnVector[inner.numCols()];
        for (int i = 0; i < wrapped.length; i++) {
          wrapped[i] = new ForeignVector(inner.column(i));
        }
        return new ColumnarBatch(wrapped, rows.size());
    }
  }

  private static ColumnarBatch writable(WritableColumnVector[] vectors, StructType schema, List<InternalRow> rows) {
    // Spark's converter does not know void, whose vectors need no values.
    StructType known = new StructType();
    List<Integer> ordinals = new ArrayList<>();
    for (int i = 0; i < vectors.length; i++) {
      if (!(schema.fields()[i].dataType() instanceof NullType)) {
        known = known.add(schema.fields()[i]);
        ordinals.add(i);
      }
    }
    WritableColumnVector[] targets = new WritableColumnVector[ordinals.size()];
    for (int i = 0; i < targets.length; i++) {
      targets[i] = vectors[ordinals.get(i)];
    }
    RowToColumnConverter converter = new RowToColumnConverter(known);
    for (InternalRow r : rows) {
      Object[] values = new Object[targets.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = r.get(ordinals.get(i), known.fields()[i].dataType());
      }
      converter.convert(new GenericInternalRow(values), targets);
    }
    return new ColumnarBatch(vectors, rows.size());
  }

  private static ColumnarBatch arrow(StructType schema, List<InternalRow> rows) {
    ArrowWriter writer = ArrowWriter.create(schema, "UTC", true, false);
    rows.forEach(writer::write);
    writer.finish();
    VectorSchemaRoot root = writer.root();
    List<ColumnVector> out = new ArrayList<>();
    for (FieldVector v : root.getFieldVectors()) {
      out.add(new ArrowColumnVector(v));
    }
    return new ColumnarBatch(out.toArray(new ColumnVector[0]), rows.size());
  }

  /** The rows of a batch; they share one object. */
  public static Iterable<InternalRow> rows(ColumnarBatch batch) {
    return batch::rowIterator;
  }

  /** A vector of a class nobody knows, which throws when a null slot is read, as Arrow's do. */
  private static final class ForeignVector extends ColumnVector {
    private final ColumnVector inner;

    ForeignVector(ColumnVector inner) {
      super(inner.dataType());
      this.inner = inner;
    }

    private int notNull(int row) {
      if (inner.isNullAt(row)) {
        throw new IllegalStateException("slot " + row + " is null");
      }
      return row;
    }

    @Override
    public void close() {
      inner.close();
    }

    @Override
    public boolean hasNull() {
      return inner.hasNull();
    }

    @Override
    public int numNulls() {
      return inner.numNulls();
    }

    @Override
    public boolean isNullAt(int row) {
      return inner.isNullAt(row);
    }

    @Override
    public boolean getBoolean(int row) {
      return inner.getBoolean(notNull(row));
    }

    @Override
    public byte getByte(int row) {
      return inner.getByte(notNull(row));
    }

    @Override
    public short getShort(int row) {
      return inner.getShort(notNull(row));
    }

    @Override
    public int getInt(int row) {
      return inner.getInt(notNull(row));
    }

    @Override
    public long getLong(int row) {
      return inner.getLong(notNull(row));
    }

    @Override
    public float getFloat(int row) {
      return inner.getFloat(notNull(row));
    }

    @Override
    public double getDouble(int row) {
      return inner.getDouble(notNull(row));
    }

    @Override
    public ColumnarArray getArray(int row) {
      return inner.getArray(notNull(row));
    }

    @Override
    public ColumnarMap getMap(int row) {
      return inner.getMap(notNull(row));
    }

    @Override
    public Decimal getDecimal(int row, int precision, int scale) {
      return inner.getDecimal(notNull(row), precision, scale);
    }

    @Override
    public UTF8String getUTF8String(int row) {
      return inner.getUTF8String(notNull(row));
    }

    @Override
    public byte[] getBinary(int row) {
      return inner.getBinary(notNull(row));
    }

    @Override
    public CalendarInterval getInterval(int row) {
      return inner.getInterval(notNull(row));
    }

    @Override
    public ColumnVector getChild(int ordinal) {
      return new ForeignVector(inner.getChild(ordinal));
    }
  }
}

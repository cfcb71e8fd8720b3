package io.github.quiverspark.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.testing.RandomRows;
import io.github.quiverspark.testing.Schemas;
import io.github.quiverspark.testing.Values;
import io.github.quiverspark.testing.Vectors;
import io.github.quiverspark.testing.Vectors.Form;
import io.github.quiverspark.vector.ArrowImport;
import io.github.quiverspark.vector.QuiverVector;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.vectorized.ColumnVectorUtils;
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector;
import org.apache.spark.sql.execution.vectorized.Dictionary;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What goes in as vectors of any kind must be in the exported Arrow arrays, as Spark itself reads the vectors. */
class StagedBatchTest {
  private static final long RELEASE = 1;

  private final TestMemory memory = new TestMemory();

  @AfterEach
  void nothingLeaks() {
    assertEquals(0, memory.inUse());
  }

  /** Stages all rows in batches of the given limits and reads each export back. */
  private List<ColumnarBatch> stage(StructType schema, List<ColumnarBatch> input, int maxRows, long maxBytes) {
    DataType[] types = Schemas.types(schema);
    List<ColumnarBatch> out = new ArrayList<>();
    try (StagedBatch staged = new StagedBatch(memory, types, maxRows, maxBytes);
        ArrowStructs structs = new ArrowStructs(memory, RELEASE)) {
      for (ColumnarBatch b : input) {
        for (int at = 0; at < b.numRows();) {
          at += staged.append(b, at);
          if (staged.isFull()) {
            out.add(flush(staged, structs, types));
          }
        }
      }
      if (staged.rows() > 0) {
        out.add(flush(staged, structs, types));
      }
    }
    return out;
  }

  private static ColumnarBatch flush(StagedBatch staged, ArrowStructs structs, DataType[] types) {
    QuiverVector[] vectors = ArrowImport.vectors(staged.export(structs), types);
    int rows = staged.rows();
    staged.reset();
    return new ColumnarBatch(vectors, rows);
  }

  private static void assertSameRows(StructType schema, List<List<Object>> expected, List<ColumnarBatch> actual) {
    List<List<Object>> got = new ArrayList<>();
    for (ColumnarBatch b : actual) {
      got.addAll(Values.of(schema, Vectors.rows(b)));
    }
    assertEquals(expected.size(), got.size());
    for (int i = 0; i < got.size(); i++) {
      assertEquals(expected.get(i), got.get(i), "row " + i);
    }
  }

  private void roundTrip(Form form, StructType schema, double nulls, int rows, int maxRows, long maxBytes) {
    List<InternalRow> data = new RandomRows(rows, nulls).rows(schema, rows);
    ColumnarBatch in = Vectors.batch(form, schema, data);
    List<List<Object>> expected = Values.of(schema, data);
    List<ColumnarBatch> out = stage(schema, List.of(in), maxRows, maxBytes);
    assertSameRows(schema, expected, out);
    assertSameRows(schema, expected, stage(schema, out, maxRows / 2 + 1, maxBytes));
    in.close();
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void everyTypeFromEveryVector(Form form) {
    for (double nulls : new double[] {0, 0.2, 1}) {
      roundTrip(form, Schemas.common(), nulls, 500, 1 << 20, 1 << 30);
    }
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void cutByRowsAndBytes(Form form) {
    roundTrip(form, Schemas.common(), 0.3, 400, 90, 1 << 30);
    roundTrip(form, Schemas.common(), 0.3, 400, 1 << 20, 10_000);
    roundTrip(form, Schemas.common(), 0.1, 300, 7, 500);
    roundTrip(form, Schemas.common(), 0, 50, 1, 1);
  }

  @ParameterizedTest
  @EnumSource(value = Form.class, names = {"ON_HEAP", "OFF_HEAP", "FOREIGN"})
  void typesOfSparkVectorsOnly(Form form) {
    for (double nulls : new double[] {0, 0.4, 1}) {
      roundTrip(form, Schemas.sparkOnly(), nulls, 333, 100, 1 << 30);
    }
  }

  @Test
  void smallBatchesMerge() {
    StructType schema = Schemas.common();
    RandomRows random = new RandomRows(3, 0.2);
    List<ColumnarBatch> in = new ArrayList<>();
    List<List<Object>> expected = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      List<InternalRow> rows = random.rows(schema, i % 13);
      expected.addAll(Values.of(schema, rows));
      in.add(Vectors.batch(i % 2 == 0 ? Form.ON_HEAP : Form.ARROW, schema, rows));
    }
    List<ColumnarBatch> out = stage(schema, in, 100, 1 << 30);
    for (int i = 0; i + 1 < out.size(); i++) {
      assertEquals(100, out.get(i).numRows());
    }
    assertSameRows(schema, expected, out);
    in.forEach(ColumnarBatch::close);
  }

  /** Batches stay near their size in bytes, however suddenly values grow, and memory of a huge one is given back. */
  @ParameterizedTest
  @CsvSource({"string", "binary", "array<string>", "'map<int,string>'", "'struct<i:int,s:string>'",
      "'array<struct<a:array<binary>,b:int>>'"})
  void hugeValuesDoNotOvershoot(String type) {
    StructType schema = Schemas.of("bigint", type);
    List<InternalRow> data = new RandomRows(5, 0).rows(schema, 2000);
    data.addAll(new RandomRows(6, 0, 100_000).rows(schema, 60));
    data.addAll(new RandomRows(7, 0).rows(schema, 2000));
    long limit = 1 << 19;
    for (Form form : Form.values()) {
      ColumnarBatch in = Vectors.batch(form, schema, data);
      List<ColumnarBatch> out = stage(schema, List.of(in), 1000, limit);
      assertSameRows(schema, Values.of(schema, data), out);
      for (ColumnarBatch b : out) {
        long bytes = Values.size(Values.of(schema, Vectors.rows(b)));
        assertTrue(b.numRows() == 1 || bytes < 5 * limit / 2, form + ": " + b.numRows() + " rows, " + bytes + " bytes");
      }
      in.close();
    }
  }

  @Test
  void constantVectors() {
    StructType schema = Schemas.of("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(7,2)",
        "decimal(18,3)", "decimal(38,10)", "string", "binary", "date", "timestamp", "interval", "string", "void");
    InternalRow constant = new GenericInternalRow(new Object[] {true, (byte) 1, (short) 2, 3, 4L, 5f, 6d, Decimal.apply("7.25")
        .toPrecision(7, 2, Decimal.ROUND_HALF_UP(), false, null), Decimal.apply("8.125").toPrecision(18, 3, Decimal.ROUND_HALF_UP(),
        false, null), Decimal.apply("12345678901234567890.5").toPrecision(38, 10, Decimal.ROUND_HALF_UP(), false, null),
        UTF8String.fromString("partition"), new byte[] {1, 2}, 19000, 1L << 50, new CalendarInterval(1, 2, 3), null, null});
    ColumnVector[] vectors = new ColumnVector[schema.length()];
    List<InternalRow> expected = new ArrayList<>();
    for (int i = 0; i < vectors.length; i++) {
      ConstantColumnVector v = new ConstantColumnVector(500, schema.fields()[i].dataType());
      ColumnVectorUtils.populate(v, constant, i);
      vectors[i] = v;
    }
    for (int i = 0; i < 500; i++) {
      expected.add(constant);
    }
    List<ColumnarBatch> out = stage(schema, List.of(new ColumnarBatch(vectors, 500)), 199, 1 << 30);
    assertEquals(3, out.size());
    assertSameRows(schema, Values.of(schema, expected), out);
  }

  @Test
  void constantArraysAndMaps() {
    StructType schema = Schemas.of("array<string>", "map<int,string>");
    InternalRow row = new RandomRows(11, 0).rows(schema, 3).get(2);
    ColumnarBatch one = Vectors.batch(Form.ON_HEAP, schema, List.of(row));
    ConstantColumnVector array = new ConstantColumnVector(9, schema.fields()[0].dataType());
    array.setArray(one.column(0).getArray(0));
    ConstantColumnVector map = new ConstantColumnVector(9, schema.fields()[1].dataType());
    map.setMap(one.column(1).getMap(0));
    List<ColumnarBatch> out = stage(schema, List.of(new ColumnarBatch(new ColumnVector[] {array, map}, 9)), 5, 1 << 30);
    assertSameRows(schema, Values.of(schema, Collections.nCopies(9, row)), out);
  }

  @Test
  void dictionaryVectors() {
    int rows = 300;
    StructType schema = Schemas.of("int", "bigint", "float", "double", "string", "decimal(7,2)", "decimal(18,2)", "decimal(30,2)");
    WritableColumnVector[] vectors = OnHeapColumnVector.allocateColumns(rows, schema);
    for (WritableColumnVector v : vectors) {
      WritableColumnVector ids = v.reserveDictionaryIds(rows);
      v.setDictionary(new TenValues());
      for (int i = 0; i < rows; i++) {
        ids.putInt(i, i * 7 % 10);
        if (i % 11 == 3) {
          v.putNull(i);
        }
      }
    }
    ColumnarBatch in = new ColumnarBatch(vectors, rows);
    List<List<Object>> expected = Values.of(schema, Vectors.rows(in));
    assertSameRows(schema, expected, stage(schema, List.of(in), 128, 1 << 30));
    in.close();
  }

  @Test
  void columnsMissingFromTheFile() {
    StructType schema = Schemas.common();
    WritableColumnVector[] vectors = OnHeapColumnVector.allocateColumns(1, schema);
    List<InternalRow> expected = new ArrayList<>();
    for (WritableColumnVector v : vectors) {
      v.setMissing();
    }
    for (int i = 0; i < 50; i++) {
      expected.add(new GenericInternalRow(schema.length()));
    }
    assertSameRows(schema, Values.of(schema, expected), stage(schema, List.of(new ColumnarBatch(vectors, 50)), 20, 1 << 30));
  }

  @Test
  void noColumns() {
    List<ColumnarBatch> out = stage(new StructType(), List.of(new ColumnarBatch(new ColumnVector[0], 25)), 10, 1 << 20);
    assertEquals(List.of(10, 10, 5), List.of(out.get(0).numRows(), out.get(1).numRows(), out.get(2).numRows()));
  }

  @Test
  void decimalsAreRescaled() {
    // Spark reads a decimal as the vector has it; a foreign one may bring another scale.
    try (StagedColumn column = StagedColumn.create(memory, DataTypes.createDecimalType(10, 3))) {
      column.appendValue(new GenericInternalRow(new Object[] {Decimal.apply("1.5")}), 0);
      DataType[] types = {DataTypes.createDecimalType(10, 3)};
      try (ArrowStructs structs = new ArrowStructs(memory, RELEASE)) {
        structs.begin(ArrowStructs.bytes(1, 1) + column.structBytes());
        long root = structs.array(1, 0, 1, 1);
        ArrowStructs.setChild(root, 0, column.export(structs));
        assertEquals("1.500", ArrowImport.vectors(root, types)[0].getDecimal(0, 10, 3).toString());
      }
    }
  }

  private static final class TenValues implements Dictionary {
    @Override
    public int decodeToInt(int id) {
      return id * 1001;
    }

    @Override
    public long decodeToLong(int id) {
      return id * 1_000_000_007L;
    }

    @Override
    public float decodeToFloat(int id) {
      return id / 3f;
    }

    @Override
    public double decodeToDouble(int id) {
      return id / 7d;
    }

    @Override
    public byte[] decodeToBinary(int id) {
      return ("v" + id * id).getBytes();
    }
  }
}

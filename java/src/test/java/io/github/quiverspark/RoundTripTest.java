package io.github.quiverspark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.read.Block;
import io.github.quiverspark.read.ColumnarReader;
import io.github.quiverspark.read.Projection;
import io.github.quiverspark.read.ReadObserver;
import io.github.quiverspark.read.RowReader;
import io.github.quiverspark.testing.NativeTest;
import io.github.quiverspark.testing.RandomRows;
import io.github.quiverspark.testing.Schemas;
import io.github.quiverspark.testing.Values;
import io.github.quiverspark.testing.Vectors;
import io.github.quiverspark.testing.Vectors.Form;
import io.github.quiverspark.write.ColumnarBatchWriter;
import io.github.quiverspark.write.RowBatchWriter;
import io.github.quiverspark.write.WriteSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Writers and readers over the native library, without a SparkContext. */
class RoundTripTest extends NativeTest {
  private static final String BATCH_SIZE = "spark.sql.inMemoryColumnarStorage.batchSize";
  private static final String MAX_BYTES = "spark.quiver.batch.maxBytes";
  private static final String CODEC = "spark.quiver.compression.codec";

  private final SQLConf conf = new SQLConf();

  private static Seq<Attribute> attributes(StructType schema) {
    List<Attribute> out = new ArrayList<>();
    for (StructField f : schema.fields()) {
      out.add(new AttributeReference(f.name(), f.dataType(), f.nullable(), f.metadata(), NamedExpression$.MODULE$.newExprId(),
          CollectionConverters.asScala(Collections.<String>emptyList()).toSeq()));
    }
    return CollectionConverters.asScala(out).toSeq();
  }

  private static <T> Iterator<T> scala(List<T> list) {
    return CollectionConverters.asScala(list.iterator());
  }

  private static <T> List<T> drain(Iterator<T> it) {
    List<T> out = new ArrayList<>();
    while (it.hasNext()) {
      out.add(it.next());
    }
    assertFalse(it.hasNext());
    return out;
  }

  private List<CachedBatch> writeRows(Seq<Attribute> columns, List<InternalRow> rows) {
    WriteSpec spec = WriteSpec.of(StoredSchema.of(columns), columns, conf);
    return drain(new RowBatchWriter(spec, scala(rows)));
  }

  private List<CachedBatch> writeBatches(Seq<Attribute> columns, List<ColumnarBatch> batches) {
    WriteSpec spec = WriteSpec.of(StoredSchema.of(columns), columns, conf);
    return drain(new ColumnarBatchWriter(spec, scala(batches)));
  }

  private static Projection projection(Seq<Attribute> columns, int... indexes) {
    List<Attribute> selected = new ArrayList<>();
    for (int i : indexes) {
      selected.add(columns.apply(i));
    }
    return Projection.of(StoredSchema.of(columns), columns, CollectionConverters.asScala(selected).toSeq());
  }

  private static Projection all(Seq<Attribute> columns) {
    return Projection.of(StoredSchema.of(columns), columns, columns);
  }

  private static List<List<Object>> readRows(StructType schema, Projection p, List<CachedBatch> batches) {
    List<List<Object>> out = new ArrayList<>();
    Iterator<InternalRow> it = new RowReader(p, scala(batches), Block.NONE, ReadObserver.NONE);
    while (it.hasNext()) {
      InternalRow row = it.next();
      assertTrue(row instanceof UnsafeRow);
      // The row must survive the question for the next one.
      it.hasNext();
      out.addAll(Values.of(schema, List.of(row)));
    }
    return out;
  }

  private static List<List<Object>> readColumns(StructType schema, Projection p, List<CachedBatch> batches) {
    List<ColumnarBatch> read = drain(new ColumnarReader(p, scala(batches), Block.NONE, ReadObserver.NONE, false));
    List<List<Object>> out = new ArrayList<>();
    // Looked at only now: vectors of all batches are valid at once.
    for (ColumnarBatch b : read) {
      out.addAll(Values.of(schema, Vectors.rows(b)));
    }
    assertEquals(out, readReused(schema, p, batches));
    return out;
  }

  /** Batch after batch, as generated code reads them; values are taken from a batch while it is there and looked at in the end. */
  private static List<List<Object>> readReused(StructType schema, Projection p, List<CachedBatch> batches) {
    List<InternalRow> kept = new ArrayList<>();
    Iterator<ColumnarBatch> it = new ColumnarReader(p, scala(batches), Block.NONE, ReadObserver.NONE, true);
    while (it.hasNext()) {
      for (InternalRow row : Vectors.rows(it.next())) {
        Object[] values = new Object[schema.length()];
        for (int i = 0; i < values.length; i++) {
          values[i] = InternalRow.getAccessor(schema.fields()[i].dataType(), true).apply(row, i);
        }
        kept.add(new GenericInternalRow(values));
      }
    }
    return Values.of(schema, kept);
  }

  private static List<List<Object>> pick(List<List<Object>> rows, int... indexes) {
    List<List<Object>> out = new ArrayList<>();
    for (List<Object> r : rows) {
      List<Object> picked = new ArrayList<>();
      for (int i : indexes) {
        picked.add(r.get(i));
      }
      out.add(picked);
    }
    return out;
  }

  private static StructType everything() {
    StructType t = Schemas.common();
    for (StructField f : Schemas.of("interval", "variant", "array<interval>", "struct<v:variant,i:interval>", "time(6)").fields()) {
      t = t.add(f);
    }
    return t;
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "lz4", "zstd", "pack"})
  void everyTypeThroughRows(String codec) {
    conf.setConfString(CODEC, codec);
    conf.setConfString(BATCH_SIZE, "300");
    StructType schema = everything();
    Seq<Attribute> columns = attributes(schema);
    for (double nulls : new double[] {0, 0.25, 1}) {
      List<InternalRow> rows = new RandomRows(1, nulls).rows(schema, 1000);
      List<List<Object>> expected = Values.of(schema, rows);
      List<CachedBatch> batches = writeRows(columns, rows);
      assertEquals(4, batches.size());
      assertEquals(1000, batches.stream().mapToInt(CachedBatch::numRows).sum());
      assertEquals(expected, readRows(schema, all(columns), batches));
      assertEquals(expected, readColumns(schema, all(columns), batches));
    }
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void everyVectorThroughColumns(Form form) {
    conf.setConfString(BATCH_SIZE, "300");
    StructType schema = Schemas.common();
    Seq<Attribute> columns = attributes(schema);
    for (double nulls : new double[] {0, 0.25, 1}) {
      List<InternalRow> rows = new RandomRows(2, nulls).rows(schema, 700);
      List<List<Object>> expected = Values.of(schema, rows);
      ColumnarBatch in = Vectors.batch(form, schema, rows);
      List<CachedBatch> batches = writeBatches(columns, List.of(in));
      assertEquals(expected, readRows(schema, all(columns), batches));
      // A cache of the cache.
      List<ColumnarBatch> read = drain(new ColumnarReader(all(columns), scala(batches), Block.NONE, ReadObserver.NONE, false));
      List<CachedBatch> again = writeBatches(columns, read);
      assertEquals(expected, readColumns(schema, all(columns), again));
      in.close();
    }
  }

  /** The same rows have the same statistics, decoded size and bounds by whichever path they came. */
  @Test
  void rowsAndColumnsAgreeOnStatistics() {
    StructType schema = Schemas.common();
    Seq<Attribute> columns = attributes(schema);
    List<InternalRow> rows = new RandomRows(4, 0.2).rows(schema, 500);
    ColumnarBatch in = Vectors.batch(Form.ON_HEAP, schema, rows);
    QuiverCachedBatch a = (QuiverCachedBatch) writeRows(columns, rows).get(0);
    QuiverCachedBatch b = (QuiverCachedBatch) writeBatches(columns, List.of(in)).get(0);
    assertEquals(a.sizeInBytes(), b.sizeInBytes());
    assertEquals(a.stats(), b.stats());
    in.close();
  }

  @Test
  void projections() {
    StructType schema = everything();
    Seq<Attribute> columns = attributes(schema);
    List<InternalRow> rows = new RandomRows(5, 0.2).rows(schema, 400);
    List<List<Object>> expected = Values.of(schema, rows);
    conf.setConfString(BATCH_SIZE, "150");
    List<CachedBatch> batches = writeRows(columns, rows);
    Random random = new Random(6);
    for (int round = 0; round < 20; round++) {
      int[] indexes = new int[random.nextInt(5)];
      StructType out = new StructType();
      for (int i = 0; i < indexes.length; i++) {
        indexes[i] = random.nextInt(schema.length());
        out = out.add(schema.fields()[indexes[i]]);
      }
      Projection p = projection(columns, indexes);
      assertEquals(pick(expected, indexes), readRows(out, p, batches), Arrays.toString(indexes));
      assertEquals(pick(expected, indexes), readColumns(out, p, batches), Arrays.toString(indexes));
    }
  }

  @Test
  void aColumnThatIsNotCachedIsNamed() {
    Seq<Attribute> columns = attributes(Schemas.of("int"));
    Seq<Attribute> others = attributes(Schemas.of("int"));
    String message = assertThrows(IllegalArgumentException.class,
        () -> Projection.of(StoredSchema.of(columns), columns, others)).getMessage();
    assertTrue(message.contains("c0#"), message);
  }

  /** Rows without projected columns come from the row count: not even a broken payload is looked at. */
  @Test
  void countTouchesNoPayload() {
    Seq<Attribute> columns = attributes(Schemas.of("int", "string"));
    CachedBatch broken = new QuiverCachedBatch(12_345, 2, true, 9, new byte[] {1}, new byte[100], new byte[8], new byte[][] {{2}});
    long[] bytes = {-1};
    ReadObserver observer = (batch, rows, stored, nanos) -> bytes[0] = stored;
    assertEquals(12_345, drain(new RowReader(projection(columns), scala(List.of(broken)), Block.NONE, observer)).size());
    assertEquals(0, bytes[0]);
    ColumnarReader columnar = new ColumnarReader(projection(columns), scala(List.of(broken)), Block.NONE, observer, false);
    assertEquals(12_345, drain(columnar).get(0).numRows());
  }

  @Test
  void aProjectionReadsItsSegmentsOnly() {
    conf.setConfString(CODEC, "none");
    StructType schema = Schemas.of("int", "string");
    Seq<Attribute> columns = attributes(schema);
    List<CachedBatch> batches = writeRows(columns, new RandomRows(7, 0, 200).rows(schema, 1000));
    long[] stored = new long[1];
    ReadObserver observer = (batch, rows, bytes, nanos) -> stored[0] += bytes;
    drain(new ColumnarReader(projection(columns, 0), scala(batches), Block.NONE, observer, false));
    assertEquals(4000, stored[0]);
    stored[0] = 0;
    drain(new RowReader(projection(columns, 0), scala(batches), Block.NONE, observer));
    assertEquals(4000, stored[0]);
  }

  /** The producer's vectors may be reused from batch to batch: each batch is released when it has been copied, and not before. */
  @Test
  void inputBatchesAreReleasedOnceCopied() {
    conf.setConfString(BATCH_SIZE, "70");
    StructType schema = Schemas.of("bigint", "string", "array<int>");
    Seq<Attribute> columns = attributes(schema);
    List<InternalRow> rows = new RandomRows(16, 0.1).rows(schema, 500);
    int[] released = {0};
    Iterator<ColumnarBatch> input = new AbstractIterator<>() {
      private int made;

      @Override
      public boolean hasNext() {
        assertEquals(made, released[0], "asked for more while a batch is in use");
        return made < 5;
      }

      @Override
      public ColumnarBatch next() {
        ColumnarBatch b = Vectors.batch(Form.OFF_HEAP, schema, rows.subList(100 * made, 100 * made + 100));
        ColumnVector[] vectors = new ColumnVector[b.numCols()];
        for (int i = 0; i < vectors.length; i++) {
          vectors[i] = b.column(i);
        }
        made++;
        return new ColumnarBatch(vectors, b.numRows()) {
          @Override
          public void closeIfFreeable() {
            released[0]++;
            // A producer that reuses its memory: what is read later is wrong.
            for (ColumnVector v : vectors) {
              ((WritableColumnVector) v).reset();
              v.close();
            }
          }
        };
      }
    };
    Iterator<CachedBatch> writer = new ColumnarBatchWriter(WriteSpec.of(StoredSchema.of(columns), columns, conf), input);
    List<CachedBatch> batches = new ArrayList<>();
    while (writer.hasNext() && writer.hasNext()) {
      batches.add(writer.next());
    }
    assertEquals(5, released[0]);
    assertEquals(8, batches.size());
    assertEquals(Values.of(schema, rows), readRows(schema, all(columns), batches));
  }

  @Test
  void noColumns() {
    Seq<Attribute> columns = attributes(new StructType());
    List<CachedBatch> fromRows = writeRows(columns, new RandomRows(1, 0).rows(new StructType(), 25));
    List<CachedBatch> fromBatches = writeBatches(columns, List.of(new ColumnarBatch(new ColumnVector[0], 25)));
    for (List<CachedBatch> batches : List.of(fromRows, fromBatches)) {
      assertEquals(25, batches.get(0).numRows());
      assertEquals(25, drain(new RowReader(all(columns), scala(batches), Block.NONE, ReadObserver.NONE)).size());
      assertEquals(0, ((QuiverCachedBatch) batches.get(0)).stats().numFields());
    }
  }

  @Test
  void batchesOfZeroRowsAreSkipped() {
    Seq<Attribute> columns = attributes(Schemas.of("int"));
    CachedBatch none = new QuiverCachedBatch(0, 1, true, 0, new byte[0], new byte[100], new byte[4], new byte[0][]);
    List<CachedBatch> batches = new ArrayList<>(List.of(none, none));
    batches.addAll(writeRows(columns, new RandomRows(1, 0).rows(Schemas.of("int"), 3)));
    batches.add(none);
    assertEquals(3, drain(new RowReader(all(columns), scala(batches), Block.NONE, ReadObserver.NONE)).size());
    assertEquals(1, drain(new ColumnarReader(all(columns), scala(batches), Block.NONE, ReadObserver.NONE, false)).size());
  }

  @Test
  void batchesAreCutByBytes() {
    StructType schema = Schemas.of("int", "string");
    Seq<Attribute> columns = attributes(schema);
    List<InternalRow> rows = new RandomRows(8, 0, 40).rows(schema, 300);
    rows.addAll(new RandomRows(9, 0, 400_000).rows(schema, 20));
    rows.addAll(new RandomRows(10, 0, 40).rows(schema, 300));
    conf.setConfString(MAX_BYTES, "100000");
    List<CachedBatch> batches = writeRows(columns, rows);
    assertTrue(batches.size() > 15);
    for (CachedBatch b : batches) {
      assertTrue(b.numRows() == 1 || b.sizeInBytes() <= 100_000, b + " " + b.sizeInBytes());
    }
    assertEquals(Values.of(schema, rows), readRows(schema, all(columns), batches));
    conf.setConfString(MAX_BYTES, "1");
    assertEquals(rows.size(), writeRows(columns, rows).size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1"})
  void impossibleBatchSizes(String size) {
    conf.setConfString(BATCH_SIZE, size);
    Seq<Attribute> columns = attributes(Schemas.of("int"));
    String message = assertThrows(IllegalArgumentException.class, () -> writeRows(columns, List.of())).getMessage();
    assertTrue(message.contains(BATCH_SIZE) && message.contains(size), message);
  }

  @Test
  void batchSizeOne() {
    conf.setConfString(BATCH_SIZE, "1");
    StructType schema = Schemas.common();
    Seq<Attribute> columns = attributes(schema);
    List<InternalRow> rows = new RandomRows(12, 0.3).rows(schema, 40);
    List<CachedBatch> batches = writeRows(columns, rows);
    assertEquals(40, batches.size());
    assertEquals(Values.of(schema, rows), readColumns(schema, all(columns), batches));
  }

  /** Strings outlive their batch, their iterator and the closing of both. */
  @Test
  void stringsStayValid() {
    conf.setConfString(BATCH_SIZE, "100");
    StructType schema = Schemas.of("string");
    Seq<Attribute> columns = attributes(schema);
    List<InternalRow> rows = new RandomRows(13, 0).rows(schema, 2000);
    List<CachedBatch> batches = writeRows(columns, rows);
    List<UTF8String> fromRows = new ArrayList<>();
    List<UTF8String> fromColumns = new ArrayList<>();
    Iterator<InternalRow> r = new RowReader(all(columns), scala(batches), Block.NONE, ReadObserver.NONE);
    while (r.hasNext()) {
      fromRows.add(r.next().getUTF8String(0));
    }
    for (ColumnarBatch b : drain(new ColumnarReader(all(columns), scala(batches), Block.NONE, ReadObserver.NONE, false))) {
      for (int i = 0; i < b.numRows(); i++) {
        fromColumns.add(b.column(0).getUTF8String(i));
      }
      b.closeIfFreeable();
      b.close();
    }
    for (int i = 0; i < rows.size(); i++) {
      assertEquals(rows.get(i).getUTF8String(0), fromRows.get(i));
      assertEquals(rows.get(i).getUTF8String(0), fromColumns.get(i));
    }
  }

  private static void assertOnlyTheLastIsLast(List<CachedBatch> batches, int... rows) {
    assertEquals(rows.length, batches.size());
    for (int i = 0; i < rows.length; i++) {
      assertEquals(rows[i], batches.get(i).numRows());
      assertEquals(i == rows.length - 1, ((QuiverCachedBatch) batches.get(i)).isLast());
    }
  }

  /** By the mark of the last batch a reader knows that it has seen all; a partition without rows has a batch for the mark only. */
  @Test
  void theLastBatchIsMarked() {
    conf.setConfString(BATCH_SIZE, "100");
    StructType schema = Schemas.of("int");
    Seq<Attribute> columns = attributes(schema);
    assertOnlyTheLastIsLast(writeRows(columns, List.of()), 0);
    assertEquals(0, writeRows(columns, List.of()).get(0).sizeInBytes());
    assertOnlyTheLastIsLast(writeRows(columns, new RandomRows(1, 0).rows(schema, 99)), 99);
    assertOnlyTheLastIsLast(writeRows(columns, new RandomRows(1, 0).rows(schema, 200)), 100, 100);
    assertOnlyTheLastIsLast(writeRows(columns, new RandomRows(1, 0).rows(schema, 201)), 100, 100, 1);
    ColumnarBatch empty = Vectors.batch(Form.ON_HEAP, schema, List.of());
    ColumnarBatch full = Vectors.batch(Form.ON_HEAP, schema, new RandomRows(1, 0).rows(schema, 100));
    assertOnlyTheLastIsLast(writeBatches(columns, List.of()), 0);
    assertOnlyTheLastIsLast(writeBatches(columns, List.of(empty, full, empty)), 100);
    assertOnlyTheLastIsLast(writeBatches(columns, List.of(full, empty, full)), 100, 100);
  }

  @Test
  void aPartitionThatEndsEarlyIsAnError() {
    conf.setConfString(BATCH_SIZE, "100");
    StructType schema = Schemas.of("int");
    List<CachedBatch> batches = writeRows(attributes(schema), new RandomRows(1, 0).rows(schema, 250));
    assertEquals(3, drain(new WholePartition(scala(batches))).size());
    for (int kept = 0; kept < 3; kept++) {
      Iterator<CachedBatch> cut = new WholePartition(scala(batches.subList(0, kept)));
      for (int i = 0; i < kept; i++) {
        cut.next();
      }
      assertThrows(CorruptBatchException.class, cut::hasNext);
    }
  }

  @Test
  void somethingElseInAPartitionIsAnError() {
    conf.setConfString(BATCH_SIZE, "100");
    StructType schema = Schemas.of("int");
    List<CachedBatch> batches = writeRows(attributes(schema), new RandomRows(1, 0).rows(schema, 250));
    for (Object other : new Object[] {null, 1}) {
      // in place of the last batch, as Kryo reads damaged bytes
      List<Object> damaged = new ArrayList<>(batches.subList(0, 2));
      damaged.add(other);
      @SuppressWarnings("unchecked")
      Iterator<CachedBatch> read = new WholePartition((Iterator<CachedBatch>) (Iterator<?>) scala(damaged));
      read.next();
      read.next();
      assertThrows(CorruptBatchException.class, read::next);
    }
  }

  @Test
  void brokenPayloadIsAnErrorThatNamesIt() {
    StructType schema = Schemas.common();
    Seq<Attribute> columns = attributes(schema);
    QuiverCachedBatch good = (QuiverCachedBatch) writeRows(columns, new RandomRows(14, 0.2).rows(schema, 200)).get(0);
    byte[][] cut = good.segments().clone();
    cut[10] = Arrays.copyOf(cut[10], cut[10].length / 2);
    QuiverCachedBatch truncated = new QuiverCachedBatch(
        good.numRows(), good.numColumns(), true, good.sizeInBytes(), good.header(), good.statsBytes(), good.checksums(), cut);
    QuiverCachedBatch wrongRows = new QuiverCachedBatch(good.numRows() + 1, good.numColumns(), true, good.sizeInBytes(), good.header(),
        good.statsBytes(), good.checksums(), good.segments());
    for (QuiverCachedBatch bad : List.of(truncated, wrongRows)) {
      RowReader rows = new RowReader(all(columns), scala(List.of(bad)), Block.NONE, ReadObserver.NONE);
      assertThrows(CorruptBatchException.class, rows::hasNext);
      ColumnarReader batches = new ColumnarReader(all(columns), scala(List.of(bad)), Block.NONE, ReadObserver.NONE, false);
      assertThrows(CorruptBatchException.class, batches::next);
      closeByExhaustion(rows, batches);
    }
  }

  /** Without a task, a reader is closed when it is exhausted. */
  private static void closeByExhaustion(Iterator<?>... readers) {
    for (Iterator<?> r : readers) {
      while (r.hasNext()) {
        try {
          r.next();
        } catch (CorruptBatchException e) {
          // Asked for again, which must not crash either.
        }
      }
    }
  }

  @Test
  void aForeignBatchIsAnErrorThatNamesIt() {
    Seq<Attribute> columns = attributes(Schemas.of("int"));
    CachedBatch foreign = new CachedBatch() {
      @Override
      public int numRows() {
        return 1;
      }

      @Override
      public long sizeInBytes() {
        return 1;
      }
    };
    String message = assertThrows(IllegalStateException.class,
        () -> new RowReader(all(columns), scala(List.of(foreign)), Block.NONE, ReadObserver.NONE).hasNext()).getMessage();
    assertTrue(message.contains(foreign.getClass().getName()), message);
  }

  @Test
  void unsafeRowsAreReused() {
    Seq<Attribute> columns = attributes(Schemas.of("int"));
    List<CachedBatch> batches = writeRows(columns, new RandomRows(15, 0).rows(Schemas.of("int"), 3));
    RowReader reader = new RowReader(all(columns), scala(batches), Block.NONE, ReadObserver.NONE);
    InternalRow first = reader.next();
    assertSame(first, reader.next());
    drain(reader);
    assertNull(StoredSchema.of(columns).unsupportedReason());
  }
}

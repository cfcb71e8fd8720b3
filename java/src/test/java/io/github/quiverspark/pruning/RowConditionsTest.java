package io.github.quiverspark.pruning;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.StoredSchema;
import io.github.quiverspark.pruning.TestRelation.Batch;
import io.github.quiverspark.read.Block;
import io.github.quiverspark.read.ColumnarReader;
import io.github.quiverspark.read.Projection;
import io.github.quiverspark.read.ReadObserver;
import io.github.quiverspark.read.RowReader;
import io.github.quiverspark.testing.NativeTest;
import io.github.quiverspark.write.RowBatchWriter;
import io.github.quiverspark.write.WriteSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.junit.jupiter.api.Test;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Rows are left out while batches are decoded, but none that satisfies the query's filter, by Spark's own evaluation of it. */
class RowConditionsTest extends NativeTest {
  private static final int ROWS = 60;

  private static Iterator<CachedBatch> encoded(Seq<Attribute> columns, Batch batch, String codec) {
    SQLConf conf = new SQLConf();
    conf.setConfString("spark.quiver.compression.codec", codec);
    WriteSpec spec = WriteSpec.of(StoredSchema.of(columns), columns, conf);
    List<CachedBatch> batches = new ArrayList<>();
    Iterator<CachedBatch> it = new RowBatchWriter(spec, CollectionConverters.asScala(batch.data().iterator()));
    while (it.hasNext()) {
      batches.add(it.next());
    }
    return CollectionConverters.asScala(batches.iterator());
  }

  private static List<UnsafeRow> unsafe(Seq<Attribute> columns, Iterable<InternalRow> rows) {
    DataType[] types = new DataType[columns.size()];
    for (int i = 0; i < types.length; i++) {
      types[i] = columns.apply(i).dataType();
    }
    UnsafeProjection projection = UnsafeProjection.create(types);
    List<UnsafeRow> out = new ArrayList<>();
    rows.forEach(row -> out.add(projection.apply(row).copy()));
    return out;
  }

  private static List<UnsafeRow> byRows(Projection projection, Iterator<CachedBatch> batches, ReadObserver observer) {
    List<UnsafeRow> out = new ArrayList<>();
    Iterator<InternalRow> it = new RowReader(projection, batches, Block.NONE, observer);
    while (it.hasNext()) {
      out.add(((UnsafeRow) it.next()).copy());
    }
    return out;
  }

  private static List<UnsafeRow> byColumns(Seq<Attribute> columns, Projection projection, Iterator<CachedBatch> batches) {
    List<UnsafeRow> out = new ArrayList<>();
    Iterator<ColumnarBatch> it = new ColumnarReader(projection, batches, Block.NONE, ReadObserver.NONE, true);
    while (it.hasNext()) {
      java.util.Iterator<InternalRow> rows = it.next().rowIterator();
      out.addAll(unsafe(columns, () -> rows));
    }
    return out;
  }

  @Test
  void noMatchingRowIsLost() {
    String[] codecs = {"pack", "none", "lz4", "zstd"};
    Map<String, Integer> droppedByKind = new TreeMap<>();
    int dropped = 0;
    int judged = 0;
    for (long seed = 0; seed < 40; seed++) {
      Random random = new Random(seed);
      TestRelation relation = TestRelation.random(random);
      Seq<Attribute> columns = TestRelation.seq(relation.attributes());
      RandomPredicates predicates = new RandomPredicates(relation, random);
      for (int i = 0; i < 50; i++) {
        Batch batch = relation.wideBatch(random, ROWS);
        Expression predicate = predicates.next(random.nextInt(3));
        List<Integer> matching;
        try {
          matching = batch.matching(predicate);
        } catch (RuntimeException overflow) {
          continue; // in ANSI mode the query itself fails
        }
        Projection projection = Projection.of(StoredSchema.of(columns), columns, columns)
            .where(TestRelation.seq(List.of(predicate)), columns);
        String codec = codecs[i % codecs.length];
        int[] left = new int[1];
        List<UnsafeRow> read = byRows(projection, encoded(columns, batch, codec), (b, rows, bytes, nanos) -> left[0] += rows);
        String what = "seed " + seed + ", " + codec + ": " + predicate + " over " + batch.rows();
        assertEquals(read.size(), left[0], what);
        assertEquals(read, byColumns(columns, projection, encoded(columns, batch, codec)), what);
        List<UnsafeRow> all = unsafe(columns, batch.data());
        assertSubsequence(read, all, what);
        List<UnsafeRow> wanted = new ArrayList<>();
        matching.forEach(row -> wanted.add(all.get(row)));
        assertSubsequence(wanted, read, what);
        judged += ROWS;
        dropped += ROWS - read.size();
        droppedByKind.merge(predicates.kindOf(predicate), ROWS - read.size(), Integer::sum);
      }
    }
    assertTrue(dropped > judged / 5, "left out only " + dropped + " of " + judged);
    for (String kind : List.of("EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual", "In",
        "InSet", "IsNull", "StartsWith", "Like", "And", "Not")) {
      assertTrue(droppedByKind.getOrDefault(kind, 0) > 0, kind + " never left a row out");
    }
  }

  private static void assertSubsequence(List<UnsafeRow> part, List<UnsafeRow> whole, String what) {
    int at = 0;
    for (UnsafeRow row : part) {
      while (at < whole.size() && !whole.get(at).equals(row)) {
        at++;
      }
      assertTrue(at++ < whole.size(), what);
    }
  }
}

package io.github.quiverspark.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.StoredSchema;
import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.task.Ahead;
import io.github.quiverspark.testing.NativeTest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.collection.AbstractIterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Rows encoded by the thread that stages them and by another, which must make the same batches. */
class RowBatchWriterTest extends NativeTest {
  private static final int BATCH_ROWS = 100;

  private final SQLConf conf = new SQLConf();
  private final Seq<Attribute> columns = CollectionConverters.asScala(List.of(column("id", DataTypes.LongType),
      column("text", DataTypes.StringType))).toSeq();

  private static Attribute column(String name, DataType type) {
    return new AttributeReference(name, type, true, Metadata.empty(), NamedExpression$.MODULE$.newExprId(),
        CollectionConverters.asScala(Collections.<String>emptyList()).toSeq());
  }

  /** Rows of an input that throws once it has given some. */
  private static final class Rows extends AbstractIterator<InternalRow> {
    private final int count;
    private final RuntimeException atEnd;
    private int given;

    Rows(int count, RuntimeException atEnd) {
      this.count = count;
      this.atEnd = atEnd;
    }

    @Override
    public boolean hasNext() {
      if (given == count && atEnd != null) {
        throw atEnd;
      }
      return given < count;
    }

    @Override
    public InternalRow next() {
      long n = given++;
      return new GenericInternalRow(new Object[] {n % 7 == 3 ? null : n * n, UTF8String.fromString("row " + n)});
    }
  }

  private RowBatchWriter writer(Rows rows) {
    conf.setConfString("spark.sql.inMemoryColumnarStorage.batchSize", String.valueOf(BATCH_ROWS));
    return new RowBatchWriter(WriteSpec.of(StoredSchema.of(columns), columns, conf), rows);
  }

  private List<QuiverCachedBatch> write(int rows) {
    List<QuiverCachedBatch> batches = new ArrayList<>();
    RowBatchWriter writer = writer(new Rows(rows, null));
    while (writer.hasNext()) {
      batches.add((QuiverCachedBatch) writer.next());
    }
    return batches;
  }

  /** Another thread may encode: of two slots this thread's task has one. */
  private static void idleSlot() {
    Ahead.configure(2);
    Ahead.taskStarted();
  }

  @AfterEach
  void off() {
    Ahead.configure(0);
    TaskContext$.MODULE$.unset();
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "1, 0", "100, 0", "101, 2", "1000, 10", "1234, 13"})
  void batchesAreThoseThatTheTaskItselfWouldMake(int rows, int ahead) {
    List<QuiverCachedBatch> own = write(rows);
    idleSlot();
    long before = Ahead.taken();
    List<QuiverCachedBatch> byOthers = write(rows);
    assertEquals(ahead, Ahead.taken() - before);
    assertEquals(Math.max(1, (rows + BATCH_ROWS - 1) / BATCH_ROWS), byOthers.size());
    assertEquals(own.size(), byOthers.size());
    for (int i = 0; i < own.size(); i++) {
      QuiverCachedBatch expected = own.get(i);
      QuiverCachedBatch batch = byOthers.get(i);
      assertEquals(expected.numRows(), batch.numRows());
      assertEquals(i == own.size() - 1, batch.isLast());
      assertArrayEquals(expected.header(), batch.header());
      assertArrayEquals(expected.segments(), batch.segments());
      assertArrayEquals(expected.checksums(), batch.checksums());
    }
  }

  @Test
  void offByItsSetting() {
    idleSlot();
    long before = Ahead.taken();
    conf.setConfString("spark.quiver.write.ahead.enabled", "false");
    assertEquals(10, write(1000).size());
    assertEquals(0, Ahead.taken() - before);
  }

  @Test
  void whatTheInputThrowsComesAfterTheBatchBefore() {
    RuntimeException thrown = new IllegalArgumentException("of the input");
    for (boolean idle : new boolean[] {false, true}) {
      if (idle) {
        idleSlot();
      }
      TaskContextImpl task = TaskContext$.MODULE$.empty();
      TaskContext$.MODULE$.setTaskContext(task);
      RowBatchWriter writer = writer(new Rows(250, thrown));
      assertEquals(BATCH_ROWS, writer.next().numRows());
      assertEquals(BATCH_ROWS, writer.next().numRows());
      assertTrue(writer.hasNext());
      assertSame(thrown, assertThrows(IllegalArgumentException.class, writer::next));
      task.markTaskCompleted(scala.Option.empty());
    }
  }

  @Test
  void theEndOfTheTaskWaitsForTheBatchOnTheWay() {
    idleSlot();
    for (int i = 0; i < 20; i++) {
      TaskContextImpl task = TaskContext$.MODULE$.empty();
      TaskContext$.MODULE$.setTaskContext(task);
      RowBatchWriter writer = writer(new Rows(1000, null));
      assertFalse(((QuiverCachedBatch) writer.next()).isLast());
      assertTrue(Native.nativeBytes() > 0);
      task.markTaskCompleted(scala.Option.empty());
      assertEquals(0, Native.nativeBytes());
      assertThrows(IllegalStateException.class, writer::next);
    }
  }
}

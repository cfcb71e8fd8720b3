package io.github.quiverspark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.columnar.DefaultCachedBatch;
import org.junit.jupiter.api.Test;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** What docs/architecture.md says of Kryo without our registrator. */
class KryoCheckTest {
  private final SerializerInstance kryo =
      new KryoSerializer(new SparkConf(false).set("spark.kryo.registrationRequired", "true")).newInstance();

  private static <T> ClassTag<T> tag(Class<T> c) {
    return ClassTag$.MODULE$.apply(c);
  }

  private static UnsafeRow stats() {
    UnsafeRow row = new UnsafeRow(5);
    row.pointTo(new byte[48], 48);
    return row;
  }

  @Test
  void anUnregisteredClassIsRefusedHoweverItIsWritten() {
    QuiverCachedBatch batch = new QuiverCachedBatch(0, 1, true, 0, new byte[8], stats().getBytes(), new byte[4], new byte[0][]);
    String message = assertThrows(IllegalArgumentException.class, () -> kryo.serialize(batch, tag(QuiverCachedBatch.class))).getMessage();
    assertTrue(message.contains("not registered") && message.contains("QuiverCachedBatch"), message);
  }

  @Test
  void sparksOwnBatchWouldCarryOurs() {
    byte[][] parts = {{1, 2}, {}, {3}};
    ByteBuffer bytes = kryo.serialize(new DefaultCachedBatch(7, parts, stats()), tag(DefaultCachedBatch.class));
    DefaultCachedBatch back = kryo.deserialize(bytes, tag(DefaultCachedBatch.class));
    assertEquals(7, back.numRows());
    assertArrayEquals(parts, back.buffers());
    assertEquals(stats(), back.stats());
  }
}

package io.github.quiverspark.harness;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.types.StructType;

/** What a query returns, as digests that are cheap to compare and as text for the report of a difference. */
public final class Rows {
  private Rows() {}

  /**
   * One entry for each partition: rows, a hash of the rows in their order, the sum of the rows' hashes (whatever their order), and a hash
   * of the rows' UnsafeRow bytes (operators hash and compare those).
   */
  public static long[][] digests(Dataset<Row> query) {
    StructType schema = query.schema();
    return run(query, () -> query.queryExecution().toRdd().toJavaRDD()
        .mapPartitions(rows -> Collections.singletonList(digest(rows, schema)).iterator()).collect()).toArray(new long[0][]);
  }

  /** A hash of each row, in the order of the result. */
  public static long[] hashes(Dataset<Row> query) {
    StructType schema = query.schema();
    return run(query, () -> query.queryExecution().toRdd().toJavaRDD().mapPartitions(rows -> {
      List<Long> hashes = new ArrayList<>();
      while (rows.hasNext()) {
        hashes.add(digest(Collections.singletonList(rows.next()).iterator(), schema)[2]);
      }
      return hashes.iterator();
    }).collect()).stream().mapToLong(Long::longValue).toArray();
  }

  /** At most limit rows of each partition as text, with the number of the partition. */
  public static String[] texts(Dataset<Row> query, int limit) {
    StructType schema = query.schema();
    return run(query, () -> query.queryExecution().toRdd().toJavaRDD().mapPartitionsWithIndex((index, rows) -> {
      List<String> texts = new ArrayList<>();
      while (rows.hasNext() && texts.size() < limit) {
        InternalRow row = rows.next();
        StringBuilder b = new StringBuilder("partition ").append(index).append(": ");
        for (int i = 0; i < schema.length(); i++) {
          b.append(i > 0 ? " | " : "").append(Canon.text(row, i, schema.fields()[i].dataType()));
        }
        texts.add(b.toString());
      }
      return texts.iterator();
    }, false).collect()).toArray(new String[0]);
  }

  /** As an action of the Dataset would: with an execution id, so that tasks see the session's settings and the plan gets its metrics. */
  private static <T> T run(Dataset<Row> query, scala.Function0<T> body) {
    return SQLExecution$.MODULE$.withNewExecutionId(query.queryExecution(), scala.Option.empty(), body);
  }

  private static long[] digest(Iterator<InternalRow> rows, StructType schema) throws IOException {
    ByteArrayOutputStream buffer = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(buffer);
    long n = 0;
    long ordered = 17;
    long unordered = 0;
    long bytes = 17;
    while (rows.hasNext()) {
      InternalRow row = rows.next();
      buffer.reset();
      Canon.struct(out, row, schema);
      long h = hash(buffer.toByteArray());
      ordered = mix(ordered * 31 + h);
      unordered += h;
      if (row instanceof UnsafeRow) {
        bytes = mix(bytes * 31 + hash(((UnsafeRow) row).getBytes()));
      }
      n++;
    }
    return new long[] {n, ordered, unordered, bytes};
  }

  private static long hash(byte[] b) {
    long h = 0xcbf29ce484222325L;
    for (byte x : b) {
      h = (h ^ (x & 0xff)) * 0x100000001b3L;
    }
    return mix(h);
  }

  /** The finalizer of MurmurHash3: without it sums of FNV hashes would collide for similar rows. */
  private static long mix(long h) {
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL;
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L;
    return h ^ (h >>> 33);
  }
}

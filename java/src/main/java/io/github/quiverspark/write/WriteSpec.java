package io.github.quiverspark.write;

import io.github.quiverspark.StoredSchema;
import io.github.quiverspark.conf.QuiverSettings;
import io.github.quiverspark.vector.Kind;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import scala.collection.Iterator;
import scala.collection.Seq;

/** How a relation is cached: what the driver ships to the tasks that write. Settings are read here, on the driver, and nowhere else. */
public final class WriteSpec implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String BATCH_SIZE = "spark.sql.inMemoryColumnarStorage.batchSize";

  private final byte[] schemaJson;
  private final DataType[] types;
  private final String encoderOptions;
  private final int batchRows;
  private final long batchBytes;
  private final boolean encodesAhead;

  private WriteSpec(
      byte[] schemaJson, DataType[] types, String encoderOptions, int batchRows, long batchBytes, boolean encodesAhead) {
    this.schemaJson = schemaJson;
    this.types = types;
    this.encoderOptions = encoderOptions;
    this.batchRows = batchRows;
    this.batchBytes = batchBytes;
    this.encodesAhead = encodesAhead;
  }

  /**
   * Reads the settings for a relation of these columns.
   *
   * @throws IllegalArgumentException if a setting has a value that no batch can be made with
   */
  public static WriteSpec of(StoredSchema schema, Seq<Attribute> columns, SQLConf conf) {
    int rows = conf.columnBatchSize();
    if (rows < 1) {
      throw new IllegalArgumentException(BATCH_SIZE + " is " + rows + ", but a batch must have at least 1 row");
    }
    DataType[] types = new DataType[columns.size()];
    Iterator<Attribute> it = columns.iterator();
    for (int i = 0; it.hasNext(); i++) {
      types[i] = Kind.storageType(it.next().dataType());
    }
    return new WriteSpec(schema.json(), types, QuiverSettings.encoderOptions(conf), rows, QuiverSettings.batchMaxBytes(conf),
        QuiverSettings.encodesAhead(conf));
  }

  /** UTF-8 of the schema's JSON. Not a copy. */
  byte[] schemaJson() {
    return schemaJson;
  }

  /** Storage type of each column. Not a copy. */
  DataType[] types() {
    return types;
  }

  /** Options for {@code Native.newEncoder}. */
  String encoderOptions() {
    return encoderOptions;
  }

  /** Rows at which a batch is closed. */
  int batchRows() {
    return batchRows;
  }

  /** Bytes of input at which a batch is closed. */
  long batchBytes() {
    return batchBytes;
  }

  /** Whether another thread may encode a batch while the task takes the rows of the next. */
  boolean encodesAhead() {
    return encodesAhead;
  }
}

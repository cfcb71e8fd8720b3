package io.github.quiverspark.write;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** The columns of a batch under construction, cut by rows and bytes. */
final class StagedBatch implements AutoCloseable {
  /** First chunk of rows; small, because nothing is known about the size of values yet. */
  private static final int FIRST_CHUNK = 64;
  private static final int MAX_CHUNK = 4096;
  /** A chunk aims at this fraction of a batch. */
  private static final int CHUNKS_PER_BATCH = 8;
  /** How far a batch may go over its bytes, as a fraction of them, before rows are taken back. */
  private static final int TOLERANCE = 8;

  private final StagedColumn[] columns;
  private final int maxRows;
  private final long maxBytes;
  private int rows;
  private int chunk = FIRST_CHUNK;
  private boolean full;

  StagedBatch(NativeMemory memory, DataType[] types, int maxRows, long maxBytes) {
    this.maxRows = maxRows;
    this.maxBytes = maxBytes;
    columns = new StagedColumn[types.length];
    for (int i = 0; i < types.length; i++) {
      columns[i] = StagedColumn.create(memory, types[i]);
    }
  }

  int rows() {
    return rows;
  }

  /** Whether the batch is to be encoded before more is appended. */
  boolean isFull() {
    return full || rows >= maxRows;
  }

  /** Bytes staged so far. */
  long bytes() {
    long n = 0;
    for (StagedColumn c : columns) {
      n += c.bytes();
    }
    return n;
  }

  /**
   * Appends rows from a batch, from this row on, until the staged batch is full or the input is used up.
   *
   * @return the number of rows appended, at least 1 where this one was empty
   */
  int append(ColumnarBatch in, int from) {
    int left = in.numRows() - from;
    int done = 0;
    while (done < left && !isFull()) {
      done += appendChunk(in, from + done, left - done);
    }
    return done;
  }

  private int appendChunk(ColumnarBatch in, int from, int left) {
    long before = bytes();
    long room = Math.max(maxBytes - before, 1);
    int want = Math.min(Math.min(left, maxRows - rows), chunk);
    int got = want;
    for (int i = 0; i < columns.length; i++) {
      got = columns[i].append(in.column(i), from, got, room);
    }
    if (got < want) {
      truncate(rows + got);
    }
    long grown = bytes() - before;
    int kept = got;
    if (grown > room + maxBytes / TOLERANCE) {
      // Too much even so: keep what fits by the average, and a single row whatever it takes.
      kept = (int) Math.max(got * ((double) room / grown), rows == 0 ? 1 : 0);
      truncate(rows + kept);
      full = true;
    }
    rows += kept;
    full |= bytes() >= maxBytes;
    long perRow = Math.max(grown / got, 1);
    long fitting = Math.min(maxBytes / CHUNKS_PER_BATCH / perRow, MAX_CHUNK);
    chunk = (int) Math.max(Math.min(fitting, 4L * chunk), 1);
    return kept;
  }

  private void truncate(int newRows) {
    for (StagedColumn c : columns) {
      c.truncate(newRows);
    }
  }

  /** Makes the ArrowArray of the struct that has the columns as children; valid until the batch is appended to or reset. */
  long export(ArrowStructs out) {
    long bytes = ArrowStructs.bytes(1, columns.length);
    for (StagedColumn c : columns) {
      bytes += c.structBytes();
    }
    out.begin(bytes);
    long array = out.array(rows, 0, 1, columns.length);
    for (int i = 0; i < columns.length; i++) {
      ArrowStructs.setChild(array, i, columns[i].export(out));
    }
    return array;
  }

  /** Empties the batch; its memory is kept for the next, but for what an unusually large one left. */
  void reset() {
    for (StagedColumn c : columns) {
      c.reset(2 * maxBytes);
    }
    rows = 0;
    full = false;
  }

  @Override
  public void close() {
    for (StagedColumn c : columns) {
      c.close();
    }
  }
}

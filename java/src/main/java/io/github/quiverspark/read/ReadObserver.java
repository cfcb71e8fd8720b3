package io.github.quiverspark.read;

import io.github.quiverspark.QuiverCachedBatch;
import java.io.Serializable;

/** Told about each batch that a reader has decoded, for metrics. Called on the thread that reads. */
public interface ReadObserver extends Serializable {
  /** Does nothing. */
  ReadObserver NONE = (batch, rows, storedBytes, decodeNanos) -> { };

  /**
   * @param batch the batch
   * @param rows rows that it had, less those that a filter has left out
   * @param storedBytes bytes of its segments that were read, 0 where only the row count was needed
   * @param decodeNanos time spent decoding
   */
  void batchRead(QuiverCachedBatch batch, int rows, long storedBytes, long decodeNanos);
}

package io.github.quiverspark.read;

import java.io.Serializable;

/** Told about each batch that a reader has decoded, for metrics. Called on the thread that reads. */
public interface ReadObserver extends Serializable {
  /** Does nothing. */
  ReadObserver NONE = (rows, storedBytes, decodeNanos) -> { };

  /**
   * @param rows rows of the batch
   * @param storedBytes bytes of the stored batch that were read, 0 where only the row count was needed
   * @param decodeNanos time spent decoding
   */
  void batchRead(int rows, long storedBytes, long decodeNanos);
}

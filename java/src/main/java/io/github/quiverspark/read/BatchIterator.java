package io.github.quiverspark.read;

import io.github.quiverspark.QuiverCachedBatch;
import org.apache.spark.sql.columnar.CachedBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** What both readers share: the input, the decoder, and the walk over batches that have rows. */
abstract class BatchIterator<T> extends AbstractIterator<T> {
  protected final Projection projection;
  protected final BatchDecoder decoder;
  private final Iterator<CachedBatch> input;
  protected final Block block;

  BatchIterator(Projection projection, Iterator<CachedBatch> input, Block block, ReadObserver observer, boolean reuse) {
    this.projection = projection;
    this.input = input;
    this.block = block;
    this.decoder = new BatchDecoder(projection, block, observer, reuse);
  }

  /** The next batch that has rows, or null; at the end the decoder is closed. */
  protected final QuiverCachedBatch nextBatch() {
    decoder.checkInterrupted();
    while (block.reading(input::hasNext)) {
      QuiverCachedBatch batch = block.next(input);
      if (batch.numRows() > 0) {
        return batch;
      }
    }
    decoder.close();
    return null;
  }
}

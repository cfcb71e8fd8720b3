package io.github.quiverspark.read;

import io.github.quiverspark.QuiverCachedBatch;

/** Adds up projected columns of batches, see {@code Native.decodeTotals}. */
public final class TotalsReader implements AutoCloseable {
  private final BatchDecoder decoder;
  private final int[] terms;
  private final long[] totals;

  /** Reads batches of the block; {@code observer} is told of each. Without terms nothing is decoded. */
  public TotalsReader(Projection projection, int[] terms, Block block, ReadObserver observer) {
    this.decoder = new BatchDecoder(projection, block, observer, false);
    this.terms = terms;
    this.totals = new long[2 * terms.length];
  }

  /** Adds a batch. */
  public void add(QuiverCachedBatch batch) {
    if (terms.length == 0 || batch.numRows() == 0) {
      decoder.countOnly(batch);
    } else {
      decoder.addTotals(batch, terms, totals);
    }
  }

  /** What was added up, four numbers for each term. Not a copy. */
  public long[] totals() {
    return totals;
  }

  @Override
  public void close() {
    decoder.close();
  }
}

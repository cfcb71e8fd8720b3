package io.github.quiverspark.write;

import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.task.TaskResource;
import java.util.NoSuchElementException;
import org.apache.spark.sql.columnar.CachedBatch;
import scala.collection.AbstractIterator;

/** What both writers share: the encoder, and the walk to the partition's last batch, of which there is always one. */
abstract class BatchWriter extends AbstractIterator<CachedBatch> {
  protected final WriteSpec spec;
  private final Memory memory;
  private boolean done;

  BatchWriter(WriteSpec spec) {
    this.spec = spec;
    this.memory = new Memory(new BatchEncoder(spec));
  }

  /** Stages the rows of the next batch, none only at the end of the input, and encodes them. The library is available. */
  abstract QuiverCachedBatch encodeNext(BatchEncoder encoder);

  /** Frees the memory that rows are staged in. Called once, when nothing is being staged. */
  abstract void releaseStaged();

  @Override
  public final boolean hasNext() {
    if (done) {
      memory.close();
    }
    return !done;
  }

  @Override
  public final CachedBatch next() {
    if (!hasNext()) {
      throw new NoSuchElementException("no more batches");
    }
    memory.checkInterrupted();
    QuiverCachedBatch batch = memory.nextBatch();
    done = batch.isLast();
    return batch;
  }

  /** The native memory of the writer, freed at the end of input or task. */
  private final class Memory extends TaskResource {
    private final BatchEncoder encoder;

    private Memory(BatchEncoder encoder) {
      this.encoder = encoder;
    }

    private QuiverCachedBatch nextBatch() {
      enter();
      try {
        encoder.load();
        return encodeNext(encoder);
      } finally {
        exit();
      }
    }

    @Override
    protected void release() {
      releaseStaged();
      encoder.close();
    }
  }
}

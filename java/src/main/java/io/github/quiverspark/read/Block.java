package io.github.quiverspark.read;

import io.github.quiverspark.CorruptBatchException;
import io.github.quiverspark.QuiverCachedBatch;
import io.github.quiverspark.write.RowBatchWriter;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.function.Supplier;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.storage.RDDBlockId;
import scala.collection.Iterator;

/** The block of the block manager that a reader's batches come from, for messages. */
public final class Block {
  /** Where the batches do not come from a block. */
  public static final Block NONE = new Block("batches without a block");

  private static final String WRITERS = RowBatchWriter.class.getPackage().getName() + ".";

  private final String name;

  private Block(String name) {
    this.name = name;
  }

  /** A partition of the cached RDD with this id. */
  public static Block of(int rdd, int partition) {
    return new Block("block " + new RDDBlockId(rdd, partition).name());
  }

  /** The exception to throw instead of e, which says that stored bytes are wrong: one that names the block. */
  CorruptBatchException named(Exception e) {
    return CorruptBatchException.of(name, e);
  }

  /** Asks Spark's iterator for a batch, or for the iterator itself; what goes wrong with stored bytes names the block. */
  public <T> T reading(Supplier<T> input) {
    try {
      return input.get();
    } catch (CorruptBatchException e) {
      // of a relation below, where it names a block
      throw e.namesBlock() ? e : named(e);
    } catch (Exception e) {
      // Scala code throws checked exceptions undeclared
      if (isOfStoredStream(e)) {
        throw named(e);
      }
      throw e;
    }
  }

  /** The next batch of a relation that Quiver has cached. */
  public QuiverCachedBatch next(Iterator<CachedBatch> batches) {
    CachedBatch batch = reading(batches::next);
    if (!(batch instanceof QuiverCachedBatch)) {
      throw new IllegalStateException(
          this + ": a relation that Quiver has cached holds " + (batch == null ? "null" : "a " + batch.getClass().getName()));
    }
    return (QuiverCachedBatch) batch;
  }

  /**
   * Whether e comes from reading this block's stored stream, where damage is an exception of Java's object streams, of Kryo, or of anything
   * that either of them or the decompression below calls; not from computing batches that are not stored, whose input may be another block
   * and fail in the same way. Kryo also makes nulls and objects of other classes of damaged bytes, which Spark's scan, where it does not
   * prune, takes for batches before they come here.
   */
  private static boolean isOfStoredStream(Exception e) {
    if (e instanceof InterruptedIOException || e instanceof ClosedByInterruptException) {
      return false;
    }
    boolean deserializing = false;
    int cachedRdds = 0;
    for (StackTraceElement frame : e.getStackTrace()) {
      String in = frame.getClassName();
      if (in.startsWith(WRITERS)) {
        return false;
      }
      if (in.equals(Block.class.getName())) {
        break;
      }
      deserializing |= in.startsWith("org.apache.spark.serializer.");
      // two where a block that the cached plan reads is being opened
      cachedRdds += in.equals(RDD.class.getName()) && frame.getMethodName().equals("getOrCompute") ? 1 : 0;
    }
    boolean noBatch = cachedRdds == 0 && (e instanceof NullPointerException || e instanceof ClassCastException);
    return noBatch || deserializing && cachedRdds <= 1;
  }

  @Override
  public String toString() {
    return name;
  }
}

package io.github.quiverspark.read;

import com.esotericsoftware.kryo.KryoException;
import io.github.quiverspark.CorruptBatchException;
import io.github.quiverspark.write.RowBatchWriter;
import java.io.InterruptedIOException;
import java.io.ObjectStreamException;
import java.nio.channels.ClosedByInterruptException;
import java.util.function.Supplier;
import org.apache.spark.Dependency;
import org.apache.spark.OneToOneDependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import scala.collection.Seq;

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

  /** Id of the cached RDD whose batches, perhaps pruned, this RDD has. On the driver. */
  public static int cachedRdd(RDD<?> batches) {
    RDD<?> rdd = batches;
    while (rdd.getStorageLevel().equals(StorageLevel.NONE())) {
      Seq<? extends Dependency<?>> dependencies = rdd.dependencies();
      if (dependencies.size() != 1 || !(dependencies.head() instanceof OneToOneDependency)) {
        return batches.id();
      }
      rdd = dependencies.head().rdd();
    }
    return rdd.id();
  }

  /**
   * The exception to throw instead of e: one that names the block, if e says that stored bytes are wrong and names none, as one does that
   * comes from a relation below; otherwise e.
   */
  RuntimeException named(RuntimeException e) {
    boolean named = e instanceof CorruptBatchException && ((CorruptBatchException) e).namesBlock();
    return !named && (e instanceof CorruptBatchException || e instanceof KryoException) ? broken(e) : e;
  }

  /** Asks Spark's iterator for a batch, or for the iterator itself; what goes wrong with stored bytes names the block. */
  public <T> T reading(Supplier<T> input) {
    try {
      return input.get();
    } catch (RuntimeException e) {
      throw isOfStoredStream(e) ? broken(e) : named(e);
    } catch (Exception e) {
      // Scala code throws checked exceptions undeclared: here of Java's object streams, and of the compression below them
      if (e instanceof ObjectStreamException || e instanceof ClassNotFoundException || isOfStoredStream(e)) {
        throw broken(e);
      }
      throw e;
    }
  }

  /**
   * Whether e comes from reading this block's stored stream (compressed blocks have checksums of their own, and fail with a plain
   * IOException; Kryo meets damage as an index out of bounds, too), not from computing batches that are not stored, whose input may be
   * another block and fail in the same way.
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
    return deserializing && cachedRdds <= 1;
  }

  private CorruptBatchException broken(Exception e) {
    return CorruptBatchException.of(name, e);
  }

  @Override
  public String toString() {
    return name;
  }
}

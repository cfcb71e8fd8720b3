package io.github.quiverspark;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.serializer.KryoSerializer;

/**
 * Whether Kryo would take cached batches. With {@code spark.kryo.registrationRequired} it fails on the first one that leaves the heap if
 * its class is unknown: late, in a task, and with a message about internals.
 */
final class KryoCheck {
  private KryoCheck() {}

  /** Why Kryo would refuse our batches, with what to do about it; null if it would not, or is not used. */
  static String reasonAgainst(SparkConf conf) {
    if (!conf.get("spark.serializer", "").equals(KryoSerializer.class.getName())
        || !conf.getBoolean("spark.kryo.registrationRequired", false)) {
      return null;
    }
    // Kryo itself is asked, because there are several ways to register: our registrator, classesToRegister, a registrator of the user's
    if (new KryoSerializer(conf).newKryo().getClassResolver().getRegistration(QuiverCachedBatch.class) != null) {
      return null;
    }
    return "spark.kryo.registrationRequired is true and Quiver's classes are not registered (set spark.kryo.registrator="
        + QuiverKryoRegistrator.class.getName() + ", next to registrators of your own, separated by commas)";
  }

  /** Throws {@link QuiverException} when a relation is about to be cached whose batches Kryo would refuse. On the driver. */
  static void check() {
    SparkEnv env = SparkEnv.get();
    String reason = env == null ? null : reasonAgainst(env.conf());
    if (reason != null) {
      throw new QuiverException("a relation cannot be cached by Quiver: " + reason);
    }
  }
}

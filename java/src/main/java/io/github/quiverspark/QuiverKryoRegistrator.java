package io.github.quiverspark;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.serializer.KryoRegistrator;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Registers with Kryo what cached batches are made of: {@code spark.kryo.registrator=io.github.quiverspark.QuiverKryoRegistrator}.
 * Needed only with {@code spark.kryo.registrationRequired=true}, and helpful (smaller blocks on disk) whenever Kryo is used.
 *
 * <p>Spark's own cached batch and the values of its statistics are registered too, since relations that Quiver cannot store are kept by
 * Spark's serializer. Not every version of Spark registers them.
 */
public final class QuiverKryoRegistrator implements KryoRegistrator {
  /** Spark's classes by name: not every version has each of them. The order is part of the wire format. */
  private static final String[] SPARK_CLASSES = {
    "org.apache.spark.sql.execution.columnar.DefaultCachedBatch",
    "[Lorg.apache.spark.sql.execution.columnar.DefaultCachedBatch;",
    "org.apache.spark.sql.columnar.CachedBatch",
    "[Lorg.apache.spark.sql.columnar.CachedBatch;",
    "org.apache.spark.unsafe.types.TimestampNanosVal",
    "org.apache.spark.unsafe.types.VariantVal",
  };

  @Override
  public void registerClasses(Kryo kryo) {
    kryo.register(QuiverCachedBatch.class);
    kryo.register(QuiverCachedBatch[].class);
    kryo.register(byte[].class);
    kryo.register(byte[][].class);
    kryo.register(Object[].class);
    kryo.register(UnsafeRow.class);
    kryo.register(GenericInternalRow.class);
    kryo.register(UTF8String.class);
    kryo.register(Decimal.class, new DecimalSerializer());
    kryo.register(BigDecimal.class);
    kryo.register(BigInteger.class);
    kryo.register(CalendarInterval.class);
    for (String name : SPARK_CLASSES) {
      Class<?> type = find(name);
      if (type != null) {
        kryo.register(type);
      }
    }
  }

  private static Class<?> find(String name) {
    try {
      return Class.forName(name, false, QuiverKryoRegistrator.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  /** Kryo's own way would reach into java.math.MathContext, which JDK 17 does not allow. */
  private static final class DecimalSerializer extends Serializer<Decimal> {
    DecimalSerializer() {
      super(false, true);
    }

    @Override
    public void write(Kryo kryo, Output output, Decimal value) {
      byte[] unscaled = value.toJavaBigDecimal().setScale(value.scale()).unscaledValue().toByteArray();
      output.writeInt(value.precision(), true);
      output.writeInt(value.scale(), false);
      output.writeInt(unscaled.length, true);
      output.writeBytes(unscaled);
    }

    @Override
    public Decimal read(Kryo kryo, Input input, Class<Decimal> type) {
      int precision = input.readInt(true);
      int scale = input.readInt(false);
      byte[] unscaled = input.readBytes(input.readInt(true));
      return Decimal.apply(new BigDecimal(new BigInteger(unscaled), scale), precision, scale);
    }
  }
}

package io.github.quiverspark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.pruning.BatchFilter;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.execution.columnar.DefaultCachedBatchSerializer;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A relation with a type that cannot be stored is Spark's, in every respect and by its schema alone. */
class DelegationTest {
  private final QuiverCachedBatchSerializer ours = new QuiverCachedBatchSerializer();
  private final DefaultCachedBatchSerializer sparks = new DefaultCachedBatchSerializer();

  private static StructType schema(DataType... types) {
    StructType s = new StructType();
    for (DataType t : types) {
      s = s.add("c" + s.length(), t);
    }
    return s;
  }

  private static Seq<Attribute> attributes(StructType schema) {
    List<Attribute> out = new ArrayList<>();
    for (StructField f : schema.fields()) {
      out.add(new AttributeReference(f.name(), f.dataType(), f.nullable(), Metadata.empty(), NamedExpression$.MODULE$.newExprId(),
          CollectionConverters.asScala(List.<String>of()).toSeq()));
    }
    return CollectionConverters.asScala(out).toSeq();
  }

  @Test
  void theReasonNamesColumnAndType() {
    for (DataType t : List.of(new ObjectType(String.class), DataTypes.createArrayType(new ObjectType(String.class)))) {
      StoredSchema stored = StoredSchema.of(schema(DataTypes.LongType, t));
      assertFalse(stored.isSupported());
      assertTrue(stored.unsupportedReason().contains("c1"), stored.unsupportedReason());
      assertTrue(stored.unsupportedReason().toLowerCase().contains("object"), stored.unsupportedReason());
    }
  }

  @Test
  void typesThatNestTooDeeplyAreSparks() {
    DataType deep = DataTypes.LongType;
    for (int i = 0; i < 250; i++) {
      deep = DataTypes.createArrayType(deep);
    }
    StoredSchema stored = StoredSchema.of(schema(deep));
    assertFalse(stored.isSupported());
    assertTrue(stored.unsupportedReason().contains("nest"), stored.unsupportedReason());
  }

  @Test
  void oneColumnDecidesForTheRelation() {
    StructType mixed = schema(DataTypes.LongType, new ObjectType(String.class));
    assertFalse(ours.supportsColumnarInput(attributes(mixed)));
    assertFalse(ours.supportsColumnarOutput(mixed));
    assertEquals(sparks.vectorTypes(attributes(mixed), new SQLConf()), ours.vectorTypes(attributes(mixed), new SQLConf()));
    Seq<Expression> none = CollectionConverters.asScala(List.<Expression>of()).toSeq();
    assertEquals(sparks.buildFilter(none, attributes(mixed)).getClass(), ours.buildFilter(none, attributes(mixed)).getClass());

    StructType stored = schema(DataTypes.LongType, DataTypes.StringType);
    assertTrue(ours.supportsColumnarInput(attributes(stored)));
    assertTrue(ours.supportsColumnarOutput(stored));
    assertEquals(BatchFilter.build(none, attributes(stored)).getClass(), ours.buildFilter(none, attributes(stored)).getClass());
  }

  @Test
  void theVerdictIsRemembered() {
    assertSame(StoredSchema.of(schema(DataTypes.LongType)), StoredSchema.of(attributes(schema(DataTypes.LongType))));
  }
}

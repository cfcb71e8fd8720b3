package io.github.quiverspark.pruning;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.columnar.SimpleMetricsCachedBatch;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.math.Ordering;
import scala.runtime.AbstractPartialFunction;

/** Columns, and batches of rows with statistics made the plain way: by Catalyst's own ordering of the values. */
final class TestRelation {
  private static final int CUT = 64;
  private static final List<DataType> TYPES = List.of(
      DataTypes.BooleanType, DataTypes.ByteType, DataTypes.ShortType, DataTypes.IntegerType, DataTypes.LongType, DataTypes.FloatType,
      DataTypes.DoubleType, DataTypes.StringType, DataTypes.BinaryType, DataTypes.DateType, DataTypes.TimestampType,
      DataTypes.TimestampNTZType, DataTypes.createDecimalType(9, 2), DataTypes.createDecimalType(18, 0),
      DataTypes.createDecimalType(38, 18), DataTypes.createYearMonthIntervalType(), DataTypes.createDayTimeIntervalType());

  private final List<Attribute> attributes;
  private final UnsafeProjection statsProjection;

  private TestRelation(List<DataType> types) {
    attributes = new ArrayList<>();
    DataType[] stats = new DataType[Column.FIELDS * types.size()];
    for (int i = 0; i < types.size(); i++) {
      attributes.add(new AttributeReference("c" + i, types.get(i), true, Metadata.empty(), NamedExpression.newExprId(), seq(List.of())));
      boolean boundless = types.get(i).equals(DataTypes.BinaryType) || types.get(i).equals(DataTypes.NullType)
          || types.get(i) instanceof org.apache.spark.sql.types.ArrayType;
      Arrays.fill(stats, Column.FIELDS * i, Column.FIELDS * i + 2, boundless ? DataTypes.IntegerType : types.get(i));
      Arrays.fill(stats, Column.FIELDS * i + 2, Column.FIELDS * i + 4, DataTypes.IntegerType);
      stats[Column.FIELDS * i + 4] = DataTypes.LongType;
    }
    statsProjection = UnsafeProjection.create(stats);
  }

  static TestRelation of(DataType... types) {
    return new TestRelation(List.of(types));
  }

  static TestRelation random(Random random) {
    List<DataType> types = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      types.add(TYPES.get(random.nextInt(TYPES.size())));
    }
    return new TestRelation(types);
  }

  static <T> scala.collection.immutable.Seq<T> seq(List<T> list) {
    return CollectionConverters.asScala(list).toSeq();
  }

  /** The column as another type, with Spark's default (ANSI) behaviour. */
  static Expression cast(Expression column, DataType type) {
    return Cast$.MODULE$.apply(column, type, Option.apply("UTC"), true);
  }

  List<Attribute> attributes() {
    return attributes;
  }

  /** A batch of one column. */
  Batch batch(Object... values) {
    List<Object[]> rows = new ArrayList<>();
    for (Object value : values) {
      rows.add(new Object[] {value});
    }
    return new Batch(rows);
  }

  /** Rows whose values lie close together, so that there is something to prune. */
  Batch randomBatch(Random random) {
    int base = random.nextInt(12);
    int spread = random.nextInt(3);
    int nulls = random.nextInt(4);
    List<Object[]> rows = new ArrayList<>();
    int count = random.nextInt(6);
    for (int r = 0; r < count; r++) {
      Object[] row = new Object[attributes.size()];
      for (int c = 0; c < row.length; c++) {
        boolean isNull = nulls == 0 || nulls == 1 && random.nextBoolean();
        row[c] = isNull ? null : value(attributes.get(c).dataType(), base + random.nextInt(spread + 1));
      }
      rows.add(row);
    }
    return new Batch(rows);
  }

  /** Many rows of any of the values, up to half of them null. */
  Batch wideBatch(Random random, int count) {
    int nulls = random.nextInt(6);
    List<Object[]> rows = new ArrayList<>();
    for (int r = 0; r < count; r++) {
      Object[] row = new Object[attributes.size()];
      for (int c = 0; c < row.length; c++) {
        row[c] = random.nextInt(10) < nulls ? null : value(attributes.get(c).dataType(), random.nextInt(15));
      }
      rows.add(row);
    }
    return new Batch(rows);
  }

  /** The n-th of a few interesting values of a type, in ascending order. */
  static Object value(DataType type, int n) {
    if (type instanceof DecimalType) {
      DecimalType decimal = (DecimalType) type;
      BigDecimal unscaled = BigDecimal.valueOf(n - 6L).scaleByPowerOfTen(n % 2 == 0 ? -decimal.scale() : 0);
      return Decimal.apply(unscaled, decimal.precision(), decimal.scale());
    }
    if (type.equals(DataTypes.BooleanType)) {
      return n > 6;
    }
    if (type.equals(DataTypes.ByteType)) {
      return (byte) new int[] {-128, -7, -1, 0, 1, 2, 3, 40, 50, 60, 70, 100, 126, 127, 127}[n];
    }
    if (type.equals(DataTypes.ShortType)) {
      return (short) new int[] {-32768, -128, -7, -1, 0, 1, 2, 3, 40, 50, 127, 128, 32767, 32767, 32767}[n];
    }
    if (type.equals(DataTypes.FloatType)) {
      return (float) floating(n);
    }
    if (type.equals(DataTypes.DoubleType)) {
      return floating(n);
    }
    if (type.equals(DataTypes.StringType)) {
      return UTF8String.fromString(text(n));
    }
    if (type.equals(DataTypes.BinaryType)) {
      return text(n).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }
    boolean narrow = type.equals(DataTypes.IntegerType) || type.equals(DataTypes.DateType)
        || type instanceof org.apache.spark.sql.types.YearMonthIntervalType;
    long[] values = {Long.MIN_VALUE, -9007199254740993L, -1, 0, 1, 2, 3, 16777217, 9007199254740992L, 9007199254740993L, 9007199254740994L,
        Long.MAX_VALUE - 1, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE};
    return narrow ? (Object) (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, values[n])) : (Object) values[n];
  }

  private static double floating(int n) {
    return new double[] {Double.NEGATIVE_INFINITY, -1e30, -1.5, -0.0, 0.0, 0.1, 1, 1.5, 2, 16777217, 1e30, Double.POSITIVE_INFINITY,
        Double.NaN, Double.longBitsToDouble(0x7ff8000000000001L), Double.NaN}[n];
  }

  private static String text(int n) {
    String stem = "p".repeat(CUT - 1);
    return new String[] {"", "a", "ab", "abc", "abd", "b%c", stem, stem + "q", stem + "qa", stem + "qb", stem + "qqqq", stem + "\u00e9z",
        "q", "\u00e9t\u00e9", "\ud83d\ude00"}[n];
  }

  /** A batch, which is its rows and their statistics. */
  final class Batch implements SimpleMetricsCachedBatch {
    private final List<Object[]> rows;
    private final InternalRow stats;

    Batch(List<Object[]> rows) {
      this.rows = rows;
      Object[] fields = new Object[Column.FIELDS * attributes.size()];
      for (int c = 0; c < attributes.size(); c++) {
        describe(c, fields);
      }
      stats = statsProjection.apply(new GenericInternalRow(fields)).copy();
    }

    private void describe(int c, Object[] fields) {
      DataType type = attributes.get(c).dataType();
      Object lower = null;
      Object upper = null;
      int nulls = 0;
      boolean bounded = Columns.storage(type) != Column.Storage.NONE || type instanceof org.apache.spark.sql.types.StringType;
      for (Object[] row : rows) {
        if (row[c] == null) {
          nulls++;
        } else if (bounded) {
          @SuppressWarnings("unchecked")
          Ordering<Object> order = (Ordering<Object>) TypeUtils.getInterpretedOrdering(type);
          lower = lower == null || order.compare(row[c], lower) < 0 ? row[c] : lower;
          upper = upper == null || order.compare(row[c], upper) > 0 ? row[c] : upper;
        }
      }
      fields[Column.FIELDS * c] = lower instanceof UTF8String ? cut((UTF8String) lower, false) : lower;
      fields[Column.FIELDS * c + 1] = upper instanceof UTF8String ? cut((UTF8String) upper, true) : upper;
      fields[Column.FIELDS * c + 2] = nulls;
      fields[Column.FIELDS * c + 3] = rows.size();
      fields[Column.FIELDS * c + 4] = 0L;
    }

    List<Attribute> attributes() {
      return attributes;
    }

    Attribute column(int i) {
      return attributes.get(i);
    }

    List<String> rows() {
      List<String> text = new ArrayList<>();
      rows.forEach(row -> text.add(Arrays.deepToString(row)));
      return text;
    }

    /** Whether some row satisfies the predicate, by Spark's own evaluation. */
    boolean matches(Expression predicate) {
      return !matching(predicate).isEmpty();
    }

    /** The rows themselves. */
    List<InternalRow> data() {
      List<InternalRow> data = new ArrayList<>();
      rows.forEach(row -> data.add(new GenericInternalRow(row)));
      return data;
    }

    /** Indexes of the rows that satisfy the predicate, by Spark's own evaluation. */
    List<Integer> matching(Expression predicate) {
      Expression bound = (Expression) predicate.transformUp(new AbstractPartialFunction<Expression, Expression>() {
        @Override
        public boolean isDefinedAt(Expression e) {
          return e instanceof AttributeReference;
        }

        @Override
        public <A extends Expression, B> B applyOrElse(A e, Function1<A, B> otherwise) {
          @SuppressWarnings("unchecked")
          B column = isDefinedAt(e) ? (B) new BoundReference(attributes.indexOf(e), e.dataType(), true) : null;
          return column == null ? otherwise.apply(e) : column;
        }
      });
      List<Integer> matching = new ArrayList<>();
      for (int i = 0; i < rows.size(); i++) {
        if (Boolean.TRUE.equals(bound.eval(new GenericInternalRow(rows.get(i))))) {
          matching.add(i);
        }
      }
      return matching;
    }

    @Override
    public int numRows() {
      return rows.size();
    }

    @Override
    public long sizeInBytes() {
      return 0;
    }

    @Override
    public InternalRow stats() {
      return stats;
    }
  }

  /** Bounds of at most 64 bytes: a lower bound is cut off, an upper bound is cut off and its last byte raised. */
  private static UTF8String cut(UTF8String bound, boolean up) {
    byte[] bytes = bound.getBytes();
    if (bytes.length <= CUT) {
      return bound;
    }
    byte[] cut = Arrays.copyOf(bytes, CUT);
    if (!up) {
      return UTF8String.fromBytes(cut);
    }
    for (int last = CUT - 1; last >= 0; last--) {
      if (cut[last] != (byte) 0xff) {
        cut[last]++;
        return UTF8String.fromBytes(Arrays.copyOf(cut, last + 1));
      }
    }
    return null;
  }
}

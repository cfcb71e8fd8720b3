package io.github.quiverspark.pruning;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What of a query's filter the native decoder can look at, so that rows that cannot pass need not be decoded: comparisons of a column with
 * constants, null or not, prefixes. All that is left out here the filter above the scan decides.
 */
public final class RowConditions {
  /** Longer IN lists are left to the filter. */
  private static final int MAX_VALUES = 1000;

  private final Map<Integer, Integer> positions;
  private final Set<String> lines = new LinkedHashSet<>();
  private final Set<Integer> excludeNulls = new HashSet<>();
  private final Set<Integer> notNull = new LinkedHashSet<>();

  private RowConditions(Map<Integer, Integer> positions) {
    this.positions = positions;
  }

  /**
   * The conditions as {@code Native.newDecoder} takes them; null if there are none.
   *
   * @param predicates conjuncts of the query's filter
   * @param cached all columns of the relation
   * @param projection index within {@code cached} of each column that is read
   */
  public static byte[] of(scala.collection.Seq<Expression> predicates, scala.collection.Seq<Attribute> cached, int[] projection) {
    Map<Integer, Integer> positions = new HashMap<>();
    for (int i = 0; i < projection.length; i++) {
      positions.putIfAbsent(projection[i], i);
    }
    RowConditions conditions = new RowConditions(positions);
    BatchTest all = PredicateTranslator.conjunction(predicates, cached);
    if (all != null) {
      all.addTo(conditions);
    }
    return conditions.text();
  }

  private byte[] text() {
    StringBuilder text = new StringBuilder();
    for (String line : lines) {
      text.append(line).append('\n');
    }
    for (int column : notNull) {
      if (!excludeNulls.contains(column)) {
        text.append(column).append(" value\n");
      }
    }
    return text.length() == 0 ? null : text.toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** Slots with a null, or with a value. */
  void nullness(Column column, boolean wantNull) {
    Integer at = positions.get(column.index());
    if (at == null) {
      return;
    }
    if (wantNull) {
      lines.add(at + " null");
    } else {
      notNull.add(at);
    }
  }

  /** Values from the first to the second, both null for no limit. */
  void range(Column column, Object from, boolean fromInclusive, Object to, boolean toInclusive) {
    Long lo = from == null ? Long.valueOf(Long.MIN_VALUE) : clamp(column.firstKey(from, fromInclusive));
    Long hi = to == null ? Long.valueOf(Long.MAX_VALUE) : clamp(column.lastKey(to, toInclusive));
    if (lo != null && hi != null && lo <= hi) {
      add(column, "range " + lo + " " + hi);
    }
  }

  private static Long clamp(BigInteger key) {
    return key == null || key.bitLength() > 63 ? null : key.longValue();
  }

  /** One of several values in ascending order. */
  void oneOf(Column column, Object[] sorted) {
    if (sorted.length > MAX_VALUES) {
      return;
    }
    if (column.isPlainString()) {
      StringBuilder line = new StringBuilder("equal");
      for (Object value : sorted) {
        line.append(' ').append(hex((UTF8String) value));
      }
      add(column, line.toString());
      return;
    }
    StringBuilder line = new StringBuilder("range");
    BigInteger previous = null;
    for (Object value : sorted) {
      BigInteger lo = column.firstKey(value, true);
      BigInteger hi = column.lastKey(value, true);
      if (lo == null || hi == null) {
        return;
      }
      // a value between two of the column's is none of these; two zeros are one
      if (lo.compareTo(hi) <= 0 && lo.bitLength() <= 63 && hi.bitLength() <= 63 && (previous == null || previous.compareTo(lo) < 0)) {
        line.append(' ').append(lo).append(' ').append(hi);
        previous = hi;
      }
    }
    if (previous != null) {
      add(column, line.toString());
    }
  }

  /** Strings that start so. */
  void prefix(Column column, UTF8String prefix) {
    if (column.isPlainString()) {
      add(column, "prefix " + hex(prefix));
    }
  }

  private void add(Column column, String condition) {
    Integer at = positions.get(column.index());
    if (at != null) {
      lines.add(at + " " + condition);
      excludeNulls.add(at);
    }
  }

  private static String hex(UTF8String text) {
    StringBuilder out = new StringBuilder("x");
    for (byte b : text.getBytes()) {
      out.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
    }
    return out.toString();
  }
}

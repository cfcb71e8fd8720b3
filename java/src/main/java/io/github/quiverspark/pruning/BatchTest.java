package io.github.quiverspark.pruning;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A question to the statistics of a batch: may there be a row that satisfies the predicate? Answers no only if the statistics prove it.
 */
abstract class BatchTest implements Serializable {
  private static final long serialVersionUID = 1L;

  /** False only if no row of the batch satisfies the predicate. */
  abstract boolean mayMatch(InternalRow stats);

  /** Adds what is true of each row that satisfies the predicate, as far as it can be said there. */
  void addTo(RowConditions conditions) {}

  /** No row ever satisfies it: {@code x = null}, {@code false}. */
  static final class Never extends BatchTest {
    private static final long serialVersionUID = 1L;

    @Override
    boolean mayMatch(InternalRow stats) {
      return false;
    }
  }

  /** All of several. */
  static final class All extends BatchTest {
    private static final long serialVersionUID = 1L;
    private final BatchTest[] tests;

    All(List<BatchTest> tests) {
      this.tests = tests.toArray(new BatchTest[0]);
    }

    @Override
    boolean mayMatch(InternalRow stats) {
      for (BatchTest test : tests) {
        if (!test.mayMatch(stats)) {
          return false;
        }
      }
      return true;
    }

    @Override
    void addTo(RowConditions conditions) {
      for (BatchTest test : tests) {
        test.addTo(conditions);
      }
    }
  }

  /** One of two. */
  static final class Either extends BatchTest {
    private static final long serialVersionUID = 1L;
    private final BatchTest left;
    private final BatchTest right;

    Either(BatchTest left, BatchTest right) {
      this.left = left;
      this.right = right;
    }

    @Override
    boolean mayMatch(InternalRow stats) {
      return left.mayMatch(stats) || right.mayMatch(stats);
    }
  }

  /** A row with null, or a row with a value. */
  static final class Nullness extends BatchTest {
    private static final long serialVersionUID = 1L;
    private final Column column;
    private final boolean wantNull;

    Nullness(Column column, boolean wantNull) {
      this.column = column;
      this.wantNull = wantNull;
    }

    @Override
    boolean mayMatch(InternalRow stats) {
      return wantNull ? column.hasNull(stats) : column.hasValue(stats);
    }

    @Override
    void addTo(RowConditions conditions) {
      conditions.nullness(column, wantNull);
    }
  }

  /** What is asked about values; null rows never satisfy it. Without bounds the answer is yes. */
  private abstract static class Bounded extends BatchTest {
    private static final long serialVersionUID = 1L;
    final Column column;

    Bounded(Column column) {
      this.column = column;
    }

    @Override
    final boolean mayMatch(InternalRow stats) {
      if (!column.hasValue(stats)) {
        return false;
      }
      Object lower = column.lower(stats);
      Object upper = column.upper(stats);
      return lower == null || upper == null || mayMatch(lower, upper);
    }

    /** Whether a value between the bounds, both included, may satisfy the predicate. */
    abstract boolean mayMatch(Object lower, Object upper);
  }

  /** A value below (or at) a limit. */
  static final class Below extends Bounded {
    private static final long serialVersionUID = 1L;
    private final Object limit;
    private final boolean inclusive;

    Below(Column column, Object limit, boolean inclusive) {
      super(column);
      this.limit = limit;
      this.inclusive = inclusive;
    }

    @Override
    boolean mayMatch(Object lower, Object upper) {
      int order = Column.compare(lower, limit);
      return inclusive ? order <= 0 : order < 0;
    }

    @Override
    void addTo(RowConditions conditions) {
      conditions.range(column, null, false, limit, inclusive);
    }
  }

  /** A value above (or at) a limit. */
  static final class Above extends Bounded {
    private static final long serialVersionUID = 1L;
    private final Object limit;
    private final boolean inclusive;

    Above(Column column, Object limit, boolean inclusive) {
      super(column);
      this.limit = limit;
      this.inclusive = inclusive;
    }

    @Override
    boolean mayMatch(Object lower, Object upper) {
      int order = Column.compare(upper, limit);
      return inclusive ? order >= 0 : order > 0;
    }

    @Override
    void addTo(RowConditions conditions) {
      conditions.range(column, limit, inclusive, null, false);
    }
  }

  /** A value that is one of a set. */
  static final class OneOf extends Bounded {
    private static final long serialVersionUID = 1L;
    private final Object[] sorted;

    OneOf(Column column, Object[] values) {
      super(column);
      this.sorted = values.clone();
      Arrays.sort(sorted, Column::compare);
    }

    @Override
    boolean mayMatch(Object lower, Object upper) {
      // the smallest element that is not below the lower bound decides
      int at = Arrays.binarySearch(sorted, lower, Column::compare);
      if (at >= 0) {
        return true;
      }
      int next = -at - 1;
      return next < sorted.length && Column.compare(sorted[next], upper) <= 0;
    }

    @Override
    void addTo(RowConditions conditions) {
      conditions.oneOf(column, sorted);
    }
  }

  /**
   * A value that is none of a set. Only a batch whose values are all the same can be left out; bounds that are equal prove this even where
   * they are not themselves values, because every value lies between them.
   */
  static final class NoneOf extends Bounded {
    private static final long serialVersionUID = 1L;
    private final Object[] sorted;

    NoneOf(Column column, Object[] values) {
      super(column);
      this.sorted = values.clone();
      Arrays.sort(sorted, Column::compare);
    }

    @Override
    boolean mayMatch(Object lower, Object upper) {
      return Column.compare(lower, upper) != 0 || Arrays.binarySearch(sorted, lower, Column::compare) < 0;
    }
  }

  /** A string that starts with a prefix, compared by bytes. */
  static final class Prefix extends Bounded {
    private static final long serialVersionUID = 1L;
    private final UTF8String prefix;

    Prefix(Column column, UTF8String prefix) {
      super(column);
      this.prefix = prefix;
    }

    @Override
    boolean mayMatch(Object lower, Object upper) {
      // all strings with the prefix lie from the prefix itself up to the last one that still starts with it
      UTF8String low = (UTF8String) lower;
      return Column.compare(upper, prefix) >= 0 && (Column.compare(low, prefix) <= 0 || low.startsWith(prefix));
    }

    @Override
    void addTo(RowConditions conditions) {
      conditions.prefix(column, prefix);
    }
  }

  /** A string that does not start with a prefix: what lies between two strings with the prefix has it too. */
  static final class NotPrefix extends Bounded {
    private static final long serialVersionUID = 1L;
    private final UTF8String prefix;

    NotPrefix(Column column, UTF8String prefix) {
      super(column);
      this.prefix = prefix;
    }

    @Override
    boolean mayMatch(Object lower, Object upper) {
      return !(((UTF8String) lower).startsWith(prefix) && ((UTF8String) upper).startsWith(prefix));
    }
  }
}

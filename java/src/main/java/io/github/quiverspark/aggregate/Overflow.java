package io.github.quiverspark.aggregate;

import java.io.Serializable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import scala.runtime.AbstractFunction1;

/** What Spark's sum of bigints does where it overflows: asked of the expression by which Spark itself adds two such sums. */
final class Overflow implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Expression sum;

  private Overflow(Expression sum) {
    this.sum = sum;
  }

  /** Of an aggregate whose buffer is one bigint. */
  static Overflow of(DeclarativeAggregate aggregate) {
    return new Overflow(bound(aggregate.mergeExpressions().head(), aggregate.aggBufferAttributes().head()));
  }

  /** The expression with its own buffer as field 0 and the other one as field 1. */
  private static Expression bound(Expression e, Attribute own) {
    if (e instanceof Attribute) {
      return new BoundReference(((Attribute) e).exprId().equals(own.exprId()) ? 0 : 1, e.dataType(), true);
    }
    return (Expression) e.mapChildren(new AbstractFunction1<Expression, Expression>() {
      @Override
      public Expression apply(Expression child) {
        return bound(child, own);
      }
    });
  }

  /** The sum of two sums, or throws what Spark throws. */
  Object add(long left, long right) {
    return sum.eval(new GenericInternalRow(new Object[] {left, right}));
  }

  /** Whether sums that overflow are an error. Null if they are neither that nor wrap around. */
  Boolean isError() {
    try {
      return Long.valueOf(Long.MIN_VALUE).equals(add(Long.MAX_VALUE, 1)) ? false : null;
    } catch (ArithmeticException e) {
      return true;
    }
  }
}

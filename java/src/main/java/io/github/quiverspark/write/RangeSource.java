package io.github.quiverspark.write;

import io.github.quiverspark.vector.ArrayVector;
import io.github.quiverspark.vector.MapVector;
import io.github.quiverspark.vector.RangedVector;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;

/** A vector of arrays or maps seen as ranges of its child vectors. */
interface RangeSource {
  /** The element vector, or the key (0) and value (1) vectors. */
  ColumnVector child(int i);

  /** First child slot of a row that is not null. */
  int start(int row);

  /** Child slots of a row that is not null. */
  int size(int row);

  /** The view of a vector, or null where its children cannot be got at. */
  static RangeSource of(ColumnVector v) {
    if (v instanceof WritableColumnVector) {
      return new Writable((WritableColumnVector) v);
    }
    if (v instanceof ArrayVector || v instanceof MapVector) {
      return new Ours((RangedVector) v);
    }
    if (v.getClass() == ArrowColumnVector.class) {
      ValueVector arrow = ((ArrowColumnVector) v).getValueVector();
      if (arrow instanceof ListVector) {
        return new Arrow((ListVector) arrow);
      }
    }
    return null;
  }

  /** Spark's own vectors. */
  final class Writable implements RangeSource {
    private final WritableColumnVector v;

    private Writable(WritableColumnVector v) {
      this.v = v;
    }

    @Override
    public ColumnVector child(int i) {
      return v.getChild(i);
    }

    @Override
    public int start(int row) {
      return v.getArrayOffset(row);
    }

    @Override
    public int size(int row) {
      return v.getArrayLength(row);
    }
  }

  /** Our arrays and maps. */
  final class Ours implements RangeSource {
    private final RangedVector v;

    private Ours(RangedVector v) {
      this.v = v;
    }

    @Override
    public ColumnVector child(int i) {
      return v.getChild(i);
    }

    @Override
    public int start(int row) {
      return v.offset(row);
    }

    @Override
    public int size(int row) {
      return v.offset(row + 1) - v.offset(row);
    }
  }

  /** Arrow's lists and maps (a MapVector is a ListVector of key and value structs). */
  final class Arrow implements RangeSource {
    private final ListVector v;
    private final ColumnVector[] children;

    private Arrow(ListVector v) {
      this.v = v;
      // The wrappers hold no memory of their own and are not closed.
      if (v instanceof org.apache.arrow.vector.complex.MapVector) {
        StructVector entries = (StructVector) v.getDataVector();
        children = new ColumnVector[] {
            new ArrowColumnVector(entries.getChildByOrdinal(0)), new ArrowColumnVector(entries.getChildByOrdinal(1))};
      } else {
        children = new ColumnVector[] {new ArrowColumnVector(v.getDataVector())};
      }
    }

    @Override
    public ColumnVector child(int i) {
      return children[i];
    }

    @Override
    public int start(int row) {
      return v.getElementStartIndex(row);
    }

    @Override
    public int size(int row) {
      return v.getElementEndIndex(row) - v.getElementStartIndex(row);
    }
  }
}

package io.github.quiverspark;

/** The stored bytes of a cached batch are not what an encoder wrote. The message names what does not add up. */
public class CorruptBatchException extends QuiverException {
  private static final long serialVersionUID = 1L;

  private final boolean namesBlock;

  public CorruptBatchException(String message) {
    super(message);
    this.namesBlock = false;
  }

  public CorruptBatchException(String message, Throwable cause) {
    this(message, cause, false);
  }

  private CorruptBatchException(String message, Throwable cause, boolean namesBlock) {
    super(message, cause);
    this.namesBlock = namesBlock;
  }

  /** What went wrong while this block was read, with its name in front. */
  public static CorruptBatchException of(String block, Throwable cause) {
    // an empty file is an EOFException, which says no more than its name
    String what = cause.getMessage() == null ? cause.toString() : cause.getMessage();
    return new CorruptBatchException(block + ": " + what, cause, true);
  }

  /** Whether the message says which block it was. */
  public boolean namesBlock() {
    return namesBlock;
  }
}

package io.github.quiverspark;

/** The stored bytes of a cached batch are not what an encoder wrote. The message names what does not add up. */
public class CorruptBatchException extends QuiverException {
  private static final long serialVersionUID = 1L;

  public CorruptBatchException(String message) {
    super(message);
  }

  public CorruptBatchException(String message, Throwable cause) {
    super(message, cause);
  }
}

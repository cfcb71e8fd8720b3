package io.github.quiverspark;

/** A failure in Quiver's native library. The message names what was wrong and what to do. */
public class QuiverException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public QuiverException(String message) {
    super(message);
  }

  public QuiverException(String message, Throwable cause) {
    super(message, cause);
  }
}

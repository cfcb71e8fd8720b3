package io.github.quiverspark.nativelib;

/** Loads libquiver, once in a process. */
public final class NativeLoader {
  private NativeLoader() {}

  /** Loads the library if it is not loaded yet; throws {@link io.github.quiverspark.QuiverException} if that fails. */
  public static void load() {
    System.load(System.getProperty("quiver.native.path"));
  }
}

package io.github.quiverspark.nativelib;

import io.github.quiverspark.QuiverException;

/** A process of its own that loads the library and prints the outcome: "loaded" and the version, or "failed" and the message, twice. */
public final class LoaderProbe {
  private LoaderProbe() {}

  public static void main(String[] args) {
    for (int i = 0; i < 2; i++) {
      try {
        NativeLoader.load();
        System.out.println("loaded " + Native.version() + " bytes=" + Native.nativeBytes());
      } catch (QuiverException e) {
        System.out.println("failed " + e.getMessage());
      }
    }
  }
}

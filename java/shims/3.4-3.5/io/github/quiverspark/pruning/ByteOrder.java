package io.github.quiverspark.pruning;

import org.apache.spark.unsafe.types.UTF8String;

/** The order of strings by their unsigned bytes: its natural order. */
final class ByteOrder {
  private ByteOrder() {}

  static int compare(UTF8String a, UTF8String b) {
    return a.compareTo(b);
  }
}

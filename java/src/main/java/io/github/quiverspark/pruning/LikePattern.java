package io.github.quiverspark.pruning;

/** The plain text at the start of a LIKE pattern, and what comes after it. */
final class LikePattern {
  /** What follows the plain text. */
  enum Rest {
    /** The pattern is plain text: LIKE is equality. */
    NOTHING,
    /** Only {@code %}: LIKE is a prefix test. */
    ANYTHING,
    /** Some other pattern. */
    SOMETHING
  }

  final String prefix;
  final Rest rest;

  private LikePattern(String prefix, Rest rest) {
    this.prefix = prefix;
    this.rest = rest;
  }

  /** Null where the pattern says nothing about bytes, or is not well formed (the query will say so). */
  static LikePattern parse(String pattern, char escape) {
    if (pattern.indexOf('\uFFFD') >= 0) {
      // Spark matches decoded text, in which this character also stands for bytes that are not UTF-8
      return null;
    }
    StringBuilder prefix = new StringBuilder();
    int i = 0;
    while (i < pattern.length()) {
      char c = pattern.charAt(i);
      if (c == escape) {
        if (i + 1 == pattern.length()) {
          return null;
        }
        char next = pattern.charAt(i + 1);
        if (next != '%' && next != '_' && next != escape) {
          return null;
        }
        prefix.append(next);
        i += 2;
      } else if (c == '%' || c == '_') {
        boolean onlyPercent = pattern.substring(i).chars().allMatch(d -> d == '%');
        return new LikePattern(prefix.toString(), onlyPercent && escape != '%' ? Rest.ANYTHING : Rest.SOMETHING);
      } else {
        prefix.append(c);
        i++;
      }
    }
    return new LikePattern(prefix.toString(), Rest.NOTHING);
  }
}

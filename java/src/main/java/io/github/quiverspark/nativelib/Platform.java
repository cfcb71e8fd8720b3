package io.github.quiverspark.nativelib;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Operating system, processor and C library of this process, in the words that resource names and messages use. */
final class Platform {
  /** The platforms that libraries are built for. */
  static final String[] BUILT = {"linux-x86_64", "linux-aarch64", "osx-x86_64", "osx-aarch64"};

  private static final Path MAPS = Paths.get("/proc/self/maps");
  private static final Pattern GLIBC = Pattern.compile("GNU C Library [^\\n]*version ([0-9]+\\.[0-9]+)");

  private Platform() {}

  /** "linux", "osx", or the JVM's own name in lower case. */
  static String os() {
    return osName(System.getProperty("os.name", ""));
  }

  static String osName(String property) {
    String name = property.toLowerCase(Locale.ROOT);
    if (name.startsWith("linux")) {
      return "linux";
    }
    return name.startsWith("mac") || name.startsWith("darwin") ? "osx" : name.replace(' ', '_');
  }

  /** "x86_64", "aarch64", or the JVM's own name. */
  static String arch() {
    return archName(System.getProperty("os.arch", ""));
  }

  static String archName(String property) {
    switch (property.toLowerCase(Locale.ROOT)) {
      case "amd64":
      case "x86_64":
      case "x86-64":
      case "x64":
        return "x86_64";
      case "aarch64":
      case "arm64":
        return "aarch64";
      default:
        return property.toLowerCase(Locale.ROOT);
    }
  }

  /** Resource of the library for a version, within the jar. */
  static String resource(String os, String arch, String version) {
    return "/io/github/quiverspark/native/" + os + "-" + arch + "/libquiver-" + version + (os.equals("osx") ? ".dylib" : ".so");
  }

  /** Whether this JVM runs on musl (Alpine), on which the library, built for glibc, cannot work. */
  static boolean musl() {
    return maps().contains("/ld-musl-");
  }

  /** The C library in words: "glibc 2.36", "musl", or "unknown C library". Reads libc itself: only for messages. */
  static String libc() {
    if (!os().equals("linux")) {
      return "system C library";
    }
    String maps = maps();
    if (maps.contains("/ld-musl-")) {
      return "musl";
    }
    for (String line : maps.split("\n", -1)) {
      int slash = line.indexOf('/');
      if (slash < 0) {
        continue;
      }
      String file = line.substring(slash);
      if (file.matches(".*/libc(-[0-9.]+)?\\.so(\\.6)?")) {
        String version = glibcVersion(Paths.get(file));
        return version == null ? "glibc" : "glibc " + version;
      }
    }
    return "unknown C library";
  }

  private static String glibcVersion(Path file) {
    try {
      Matcher matcher = GLIBC.matcher(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
      return matcher.find() ? matcher.group(1) : null;
    } catch (IOException e) {
      return null;
    }
  }

  private static String maps() {
    try {
      return Files.isReadable(MAPS) ? new String(Files.readAllBytes(MAPS), StandardCharsets.ISO_8859_1) : "";
    } catch (IOException e) {
      return "";
    }
  }
}

package io.github.quiverspark.nativelib;

import io.github.quiverspark.QuiverException;
import io.github.quiverspark.conf.QuiverBuild;
import io.github.quiverspark.conf.QuiverSettings;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.ref.WeakReference;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.util.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads libquiver, once in a process.
 *
 * <p>Order: what is loaded already; the file named by the system property {@code quiver.native.path} (nothing else is tried then);
 * the library in the jar, copied into a fresh private directory below Spark's local directory or else {@code java.io.tmpdir}, compared
 * with its SHA-256, loaded, and removed again. The outcome is remembered: a failure is reported with the same message ever after.
 */
public final class NativeLoader {
  /** System property: path of a libquiver to load instead of the one in the jar. */
  public static final String PATH_PROPERTY = "quiver.native.path";

  /** Marks the process, for copies of this class in other class loaders: a second Go runtime must not be loaded. */
  private static final String LOADED_PROPERTY = "io.github.quiverspark.nativelib.loaded";

  private static final Logger LOG = LoggerFactory.getLogger(NativeLoader.class);

  private static volatile boolean loaded;
  private static QuiverException failure;
  /** The settings that the library was told of last. */
  private static volatile WeakReference<SparkConf> configured = new WeakReference<>(null);
  private static volatile long memoryLimit;

  private NativeLoader() {}

  /** Whether the library is loaded. */
  public static boolean isLoaded() {
    return loaded;
  }

  /**
   * Loads the library if it is not loaded yet and tells it about this process (task threads, memory limit); again when another
   * SparkContext has been started in the process, whose settings may be others.
   *
   * @throws QuiverException naming what was tried, why it failed and what can be done; every later call throws the same
   */
  public static void load() {
    if (!loaded) {
      loadOnce();
      return;
    }
    SparkEnv env = SparkEnv.get();
    if (env != null && env.conf() != configured.get()) {
      configure(env.conf());
    }
  }

  /** Whether half of the limit of native memory, if there is one, would be left if so many bytes more were taken. */
  public static boolean hasRoomFor(long bytes) {
    long limit = memoryLimit;
    return limit == 0 || Native.nativeBytes() + bytes <= limit / 2;
  }

  private static synchronized void configure(SparkConf conf) {
    if (conf != configured.get()) {
      int threads = taskThreads(conf);
      long limit = QuiverSettings.memoryLimit(conf, threads);
      Native.configure(QuiverSettings.processOptions(threads, limit));
      memoryLimit = limit;
      configured = new WeakReference<>(conf);
    }
  }

  private static synchronized void loadOnce() {
    if (loaded) {
      return;
    }
    if (failure != null) {
      throw new QuiverException(failure.getMessage(), failure);
    }
    try {
      locateAndLoad();
      handshake();
      loaded = true;
    } catch (QuiverException e) {
      failure = e;
      throw e;
    } catch (RuntimeException | LinkageError e) {
      failure = new QuiverException(describe(e.getMessage()), e);
      throw failure;
    }
  }

  private static void locateAndLoad() {
    // The lock is shared by all class loaders of the process, unlike this class.
    synchronized (System.getProperties()) {
      String other = System.getProperty(LOADED_PROPERTY);
      if (other != null) {
        throw new QuiverException("Quiver's native library is already loaded in this process by another class loader (" + other
            + "). The jar of Quiver must be loaded once: give it either by --jars/--packages or by spark.driver.extraClassPath and"
            + " spark.executor.extraClassPath, not both, and without spark.driver.userClassPathFirst or"
            + " spark.executor.userClassPathFirst");
      }
      String path = System.getProperty(PATH_PROPERTY);
      if (path != null) {
        loadFile(new File(path).getAbsoluteFile());
      } else {
        loadResource();
      }
      System.setProperty(LOADED_PROPERTY, String.valueOf(NativeLoader.class.getClassLoader()));
    }
  }

  private static void loadFile(File file) {
    if (!file.isFile()) {
      throw new QuiverException(describe("-D" + PATH_PROPERTY + " names " + file + ", which is no file"));
    }
    try {
      System.load(file.getPath());
    } catch (UnsatisfiedLinkError e) {
      String reason = "-D" + PATH_PROPERTY + "=" + file + ": " + e.getMessage() + hint(e.getMessage(), file.toPath());
      throw new QuiverException(describe(reason), e);
    }
  }

  private static void loadResource() {
    String resource = Platform.resource(Platform.os(), Platform.arch(), QuiverBuild.version());
    if (NativeLoader.class.getResource(resource) == null) {
      throw new QuiverException(describe("the jar has no library for this platform (" + resource + "); it has " + platforms()));
    }
    if (Platform.musl()) {
      throw new QuiverException(describe("this JVM runs on musl (Alpine Linux), the library needs glibc; use an image based on Debian,"
          + " Ubuntu, RHEL or the like"));
    }
    StringBuilder tried = new StringBuilder();
    Throwable cause = null;
    for (Path parent : parents()) {
      try {
        loadCopy(resource, parent);
        return;
      } catch (IOException e) {
        tried.append(tried.length() == 0 ? "" : "; ").append(parent).append(": ").append(e);
        cause = e;
      } catch (UnsatisfiedLinkError e) {
        tried.append(tried.length() == 0 ? "" : "; ").append(e.getMessage()).append(hint(e.getMessage(), parent));
        cause = e;
      }
    }
    throw new QuiverException(describe("directories tried: " + tried), cause);
  }

  /** The platforms that the jar has libraries for. */
  private static String platforms() {
    List<String> found = new ArrayList<>();
    for (String platform : Platform.BUILT) {
      int dash = platform.indexOf('-');
      String resource = Platform.resource(platform.substring(0, dash), platform.substring(dash + 1), QuiverBuild.version());
      if (NativeLoader.class.getResource(resource) != null) {
        found.add(platform);
      }
    }
    return found.isEmpty() ? "none at all" : "only " + String.join(", ", found);
  }

  /** Directories to copy into, best first: in containers often only Spark's local directories may hold executable files. */
  private static List<Path> parents() {
    List<Path> parents = new ArrayList<>();
    SparkEnv env = SparkEnv.get();
    if (env != null) {
      try {
        parents.add(Paths.get(Utils.getLocalDir(env.conf())).toAbsolutePath());
      } catch (Exception e) {
        // also IOException, which Scala does not declare; an unusable local directory is no reason to give up
        LOG.debug("no local directory of Spark to use", e);
      }
    }
    // absolute: the dynamic linker is never asked to search for a name
    Path temporary = Paths.get(System.getProperty("java.io.tmpdir")).toAbsolutePath();
    if (!parents.contains(temporary)) {
      parents.add(temporary);
    }
    return parents;
  }

  private static void loadCopy(String resource, Path parent) throws IOException {
    Path directory = Files.createTempDirectory(parent, "quiver-",
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Path copy = directory.resolve(resource.substring(resource.lastIndexOf('/') + 1));
    try {
      String expected;
      try (InputStream in = NativeLoader.class.getResourceAsStream(resource + ".sha256")) {
        if (in == null) {
          throw new QuiverException(describe("the jar is incomplete: " + resource + ".sha256 is missing"));
        }
        expected = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII)).readLine().split("\\s+", 2)[0];
      }
      try (InputStream in = NativeLoader.class.getResourceAsStream(resource)) {
        copyVerified(in, expected, copy);
      }
      System.load(copy.toString());
    } finally {
      // the mapping keeps the file alive; nothing of ours stays on disk even if the process is killed later
      Files.deleteIfExists(copy);
      Files.deleteIfExists(directory);
    }
  }

  /** Copies a stream into a new file; throws if its SHA-256 is not the expected one (hex). */
  static void copyVerified(InputStream in, String expected, Path target) throws IOException {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
    Files.copy(new DigestInputStream(in, digest), target);
    String actual = String.format("%064x", new BigInteger(1, digest.digest()));
    if (!actual.equalsIgnoreCase(expected)) {
      throw new IOException("the copied library is damaged (disk full?): SHA-256 is " + actual + ", should be " + expected);
    }
  }

  private static void handshake() {
    int abi;
    try {
      abi = Native.abiVersion();
    } catch (UnsatisfiedLinkError e) {
      throw new QuiverException(describe("what was loaded is not libquiver, or too old"), e);
    }
    if (abi != Native.ABI_VERSION) {
      throw new QuiverException(describe("it has ABI " + abi + ", this jar (" + QuiverBuild.version() + ") needs ABI " + Native.ABI_VERSION
          + "; library: " + Native.version()));
    }
    String version = Native.version();
    if (!version.startsWith(QuiverBuild.version() + " ")) {
      LOG.warn("libquiver is '{}' but the jar of Quiver is {}", version, QuiverBuild.version());
    }
    SparkEnv env = SparkEnv.get();
    configure(env == null ? new SparkConf(false) : env.conf());
    LOG.debug("loaded libquiver {}", version);
  }

  /**
   * Task threads of this process. Go needs as many processors of its own, or a task waits whenever others are busy inside Go.
   */
  static int taskThreads(SparkConf conf) {
    int threads = Math.max(Runtime.getRuntime().availableProcessors(), conf.getInt("spark.executor.cores", 1));
    Matcher local = Pattern.compile("local\\[([0-9]+)[^\\]]*\\]").matcher(conf.get("spark.master", ""));
    return local.matches() ? Math.max(threads, Integer.parseInt(local.group(1))) : threads;
  }

  private static String describe(String reason) {
    return "Quiver's native library could not be loaded on " + Platform.os() + "-" + Platform.arch() + " (" + Platform.libc() + "): "
        + reason + ". A library elsewhere can be named by -D" + PATH_PROPERTY + "=FILE in spark.driver.extraJavaOptions and"
        + " spark.executor.extraJavaOptions; spark.local.dir or -Djava.io.tmpdir=DIRECTORY choose where it is unpacked";
  }

  /** What a message of the dynamic linker usually means. */
  static String hint(String message, Path place) {
    String text = message == null ? "" : message;
    if (text.contains("failed to map segment") || text.contains("Operation not permitted")) {
      return " (is " + place + " mounted noexec?)";
    }
    if (text.contains("GLIBC_")) {
      return " (this system's glibc is too old for this library; those of a release need 2.17)";
    }
    if (text.contains("already loaded in another classloader")) {
      return " (the jar of Quiver must be loaded by one class loader only)";
    }
    if (text.contains("invalid ELF header") || text.contains("file too short") || text.contains("wrong ELF class")) {
      return " (the file is damaged, or made for another processor)";
    }
    return "";
  }
}

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Two class loaders with the jar in one process, as a reload of isolated jars makes: {@code Loaders JAR...}. There is one Go runtime,
 * the second loader is told why it has none, and dropping the first leaves the process well.
 */
public final class Loaders {
  private static final String LOADER = "io.github.quiverspark.nativelib.NativeLoader";

  private Loaders() {}

  public static void main(String[] args) throws Exception {
    WeakReference<ClassLoader> first = loadIn(args);
    String message = refusedIn(args);
    for (String word : List.of("another class loader", "--jars", "extraClassPath", "userClassPathFirst")) {
      check(message.contains(word), message);
    }
    check(goRuntimes() == 1, goRuntimes() + " copies of the library are mapped");
    for (int i = 0; i < 50 && first.get() != null; i++) {
      System.gc();
      Thread.sleep(20);
    }
    check(first.get() == null, "the first class loader was not collected");
    // its library stays mapped: a Go runtime cannot be unloaded, and no second one is started
    check(goRuntimes() == 1, goRuntimes() + " copies after the first class loader is gone");
    check(refusedIn(args).equals(message) || refusedIn(args).contains("another class loader"), "the refusal changed");
    System.out.println("figures class_loaders=4 go_runtimes=1");
  }

  private static URLClassLoader loader(String[] jars) throws IOException {
    List<URL> urls = new ArrayList<>();
    for (String jar : jars) {
      urls.add(new File(jar).toURI().toURL());
    }
    return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
  }

  private static WeakReference<ClassLoader> loadIn(String[] jars) throws Exception {
    try (URLClassLoader loader = loader(jars)) {
      loader.loadClass(LOADER).getMethod("load").invoke(null);
      return new WeakReference<>(loader);
    }
  }

  private static String refusedIn(String[] jars) throws Exception {
    try (URLClassLoader loader = loader(jars)) {
      loader.loadClass(LOADER).getMethod("load").invoke(null);
      throw new IllegalStateException("a second class loader got a library");
    } catch (InvocationTargetException e) {
      return e.getCause().getMessage();
    }
  }

  /** Executable mappings of files named like the library; they are deleted from disk by now, and told apart by inode. */
  private static long goRuntimes() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/maps")).stream().filter(x -> x.contains("libquiver") && x.contains("r-xp"))
        .map(x -> x.split("\\s+")[4]).distinct().count();
  }

  private static void check(boolean right, String what) {
    if (!right) {
      throw new IllegalStateException(what);
    }
  }
}

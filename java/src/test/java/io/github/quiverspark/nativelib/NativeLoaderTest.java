package io.github.quiverspark.nativelib;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.quiverspark.QuiverException;
import io.github.quiverspark.conf.QuiverBuild;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NativeLoaderTest {
  @TempDir Path directory;

  /** Output lines of a {@link LoaderProbe} run with these JVM options. */
  private static List<String> probe(String... options) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m"));
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), LoaderProbe.class.getName()));
    Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
    return output.lines().toList();
  }

  @Test
  void theLibraryOfTheJarIsLoadedAndLeavesNoFile() throws Exception {
    List<String> lines = probe("-Djava.io.tmpdir=" + directory);
    assertEquals(2, lines.size(), lines::toString);
    assertTrue(lines.get(0).startsWith("loaded " + QuiverBuild.version() + " ") && lines.get(0).endsWith(" bytes=0"), lines::toString);
    try (Stream<Path> left = Files.list(directory)) {
      assertEquals(List.of(), left.filter(path -> path.getFileName().toString().startsWith("quiver-")).toList());
    }
  }

  @Test
  void aNamedLibraryThatIsMissingIsAnErrorAndNothingElseIsTried() throws Exception {
    List<String> lines = probe("-Dquiver.native.path=" + directory.resolve("absent.so"));
    assertEquals(lines.get(0), lines.get(1));
    assertTrue(lines.get(0).startsWith("failed ") && lines.get(0).contains("absent.so, which is no file"), lines::toString);
    assertTrue(lines.get(0).contains(Platform.os() + "-" + Platform.arch()), lines::toString);
    assertTrue(lines.get(0).contains("quiver.native.path"), lines::toString);
  }

  @Test
  void aNamedLibraryThatIsDamagedIsAnError() throws Exception {
    Path broken = Files.writeString(directory.resolve("broken.so"), "this is no shared object");
    List<String> lines = probe("-Dquiver.native.path=" + broken);
    assertTrue(lines.get(0).startsWith("failed ") && lines.get(0).contains("broken.so"), lines::toString);
    assertTrue(lines.get(0).contains("damaged"), lines::toString);
  }

  @Test
  void aDirectoryThatCannotBeWrittenIsNamed() throws Exception {
    Path absent = directory.resolve("nowhere");
    List<String> lines = probe("-Djava.io.tmpdir=" + absent);
    assertTrue(lines.get(0).startsWith("failed ") && lines.get(0).contains(absent.toString()), lines::toString);
    assertTrue(lines.get(0).contains("spark.local.dir") && lines.get(0).contains("java.io.tmpdir"), lines::toString);
  }

  @Test
  void aPlatformWithoutALibraryIsToldWhichThereAre() throws Exception {
    List<String> lines = probe("-Dos.arch=riscv64");
    assertTrue(lines.get(0).startsWith("failed ") && lines.get(0).contains("linux-riscv64/libquiver-"), lines::toString);
    assertTrue(lines.get(0).contains("it has only " + Platform.os() + "-" + Platform.arch() + ". "), lines::toString);
  }

  @Test
  void aCopyWithAnotherChecksumIsRefused() {
    Path copy = directory.resolve("copy");
    String message = assertThrows(IOException.class,
        () -> NativeLoader.copyVerified(new ByteArrayInputStream(new byte[10]), "00ff", copy)).getMessage();
    assertTrue(message.contains("SHA-256") && message.contains("00ff"), message);
  }

  @Test
  void aSecondClassLoaderGetsAClearMessage() throws Exception {
    NativeLoader.load();
    List<URL> urls = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      urls.add(new File(entry).toURI().toURL());
    }
    try (URLClassLoader second = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      Class<?> copy = second.loadClass(NativeLoader.class.getName());
      assertFalse(copy == NativeLoader.class);
      Throwable cause = assertThrows(InvocationTargetException.class, () -> copy.getMethod("load").invoke(null)).getCause();
      assertEquals(QuiverException.class.getName(), cause.getClass().getName());
      assertTrue(cause.getMessage().contains("another class loader"), cause.getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Linux, amd64, linux, x86_64, .so",
    "Linux, aarch64, linux, aarch64, .so",
    "Mac OS X, arm64, osx, aarch64, .dylib",
    "Linux, riscv64, linux, riscv64, .so",
  })
  void resourceNames(String osProperty, String archProperty, String os, String arch, String extension) {
    assertEquals(os, Platform.osName(osProperty));
    assertEquals(arch, Platform.archName(archProperty));
    assertEquals("/io/github/quiverspark/native/" + os + "-" + arch + "/libquiver-1.2.3" + extension, Platform.resource(os, arch, "1.2.3"));
  }

  @Test
  void hintsForMessagesOfTheDynamicLinker() {
    Path place = Path.of("/somewhere");
    assertTrue(NativeLoader.hint("x.so: failed to map segment from shared object", place).contains("/somewhere mounted noexec?"));
    assertTrue(NativeLoader.hint("version `GLIBC_2.34' not found", place).contains("glibc is too old"));
    assertTrue(NativeLoader.hint("x.so: file too short", place).contains("damaged"));
    assertEquals("", NativeLoader.hint(null, place));
  }

  @Test
  void goGetsAsManyProcessorsAsThereAreTaskThreads() {
    int cores = Runtime.getRuntime().availableProcessors();
    assertEquals(cores, NativeLoader.taskThreads(new SparkConf(false)));
    assertEquals(cores + 30, NativeLoader.taskThreads(new SparkConf(false).set("spark.executor.cores", String.valueOf(cores + 30))));
    assertEquals(cores + 7, NativeLoader.taskThreads(new SparkConf(false).setMaster("local[" + (cores + 7) + ",3]")));
    assertEquals(cores, NativeLoader.taskThreads(new SparkConf(false).setMaster("local[*]")));
  }

  @Test
  void theCLibraryIsNamed() {
    assertTrue(Platform.libc().matches("glibc [0-9]+\\.[0-9]+|musl|system C library"), Platform.libc());
  }
}

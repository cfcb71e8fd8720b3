package io.github.quiverspark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** java/lines.tsv, the modules and README name the same lines of Spark. */
class LinesTest {
  private static final Path JAVA = Path.of("..");

  private static List<String[]> lines() throws IOException {
    return Files.readAllLines(JAVA.resolve("lines.tsv")).stream().filter(l -> !l.startsWith("#")).map(l -> l.split("\t")).toList();
  }

  private static String module(String[] line) {
    return "spark-" + line[0] + "_" + line[1];
  }

  @Test
  void everyLineIsAModule() throws IOException {
    Set<String> listed = new TreeSet<>();
    for (String[] line : lines()) {
      assertEquals(6, line.length, String.join(" ", line));
      listed.add(module(line));
    }
    Set<String> modules = new TreeSet<>();
    Matcher m = Pattern.compile("<module>(.*?)</module>").matcher(Files.readString(JAVA.resolve("pom.xml")));
    while (m.find()) {
      modules.add(m.group(1));
    }
    assertEquals(listed, modules);
  }

  @Test
  void modulesAreBuiltAsTheirLineSays() throws IOException {
    String parent = Files.readString(JAVA.resolve("pom.xml"));
    for (String[] line : lines()) {
      String pom = Files.readString(JAVA.resolve(module(line)).resolve("pom.xml"));
      assertEquals("quiver-" + module(line), value(pom.substring(pom.indexOf("</parent>")), "artifactId"));
      assertEquals(line[2], value(pom, "spark.version"), module(line));
      assertEquals(line[1], value(pom, "scala.binary.version"), module(line));
      String release = value(pom, "maven.compiler.release");
      assertEquals(line[4], release == null ? value(parent, "maven.compiler.release") : release, module(line));
    }
  }

  @Test
  void readmeNamesEveryRelease() throws IOException {
    String readme = Files.readString(JAVA.resolve("../README.md"));
    for (String[] line : lines()) {
      assertTrue(readme.contains(line[2]), "README does not name Spark " + line[2]);
    }
  }

  /** Text of the first element of that name, or null. */
  private static String value(String xml, String element) {
    Matcher m = Pattern.compile("<" + Pattern.quote(element) + ">(.*?)</").matcher(xml);
    return m.find() ? m.group(1) : null;
  }
}

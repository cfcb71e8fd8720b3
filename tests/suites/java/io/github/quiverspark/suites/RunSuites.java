package io.github.quiverspark.suites;

import io.github.quiverspark.write.WriteCounters;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.json4s.JString;
import org.json4s.jackson.JsonMethods$;
import org.scalatest.Args;
import org.scalatest.ConfigMap$;
import org.scalatest.DynaTags;
import org.scalatest.Filter;
import org.scalatest.Reporter;
import org.scalatest.Stopper;
import org.scalatest.Suite;
import org.scalatest.Tracker;
import org.scalatest.events.Event;
import org.scalatest.events.Ordinal;
import org.scalatest.events.TestCanceled;
import org.scalatest.events.TestFailed;
import org.scalatest.events.TestIgnored;
import org.scalatest.events.TestStarting;
import org.scalatest.events.TestSucceeded;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.jdk.javaapi.OptionConverters;

/**
 * Runs suites of ScalaTest one after the other in this JVM and writes one line of JSON for each test.
 *
 * <p>The suites are run here and not by ScalaTest's own Runner because that hands events to reporters on another thread, later; here the
 * counters are read at the very end of each test.
 */
public final class RunSuites implements Reporter {
  private static final String CHOSEN = "chosen";

  private final PrintWriter results;
  private final String suite;
  private long batches = WriteCounters.batches();
  private long delegated = WriteCounters.delegatedRelations();
  private long started;
  private int written;

  private RunSuites(PrintWriter results, String suite) {
    this.results = results;
    this.suite = suite;
  }

  /**
   * Arguments: the file of results, then for each suite its class and a regular expression: tests in whose name it is found are run.
   */
  public static void main(String[] args) throws Exception {
    try (PrintWriter results = new PrintWriter(Files.newBufferedWriter(Path.of(args[0])))) {
      for (int i = 1; i < args.length; i += 2) {
        run(results, args[i], Pattern.compile(args[i + 1]));
      }
    }
    // threads of a suite that did not clean up must not keep the process
    System.exit(0);
  }

  private static void run(PrintWriter results, String name, Pattern chosen) throws ReflectiveOperationException, IOException {
    Suite suite = (Suite) Class.forName(name).getConstructor().newInstance();
    Map<String, scala.collection.immutable.Set<String>> tags = new HashMap<>();
    for (String test : CollectionConverters.asJava(suite.testNames())) {
      if (chosen.matcher(test).find()) {
        tags.put(test, setOf(CHOSEN));
      }
    }
    DynaTags dynaTags = new DynaTags(mapOf(Map.of()), mapOf(Map.of(suite.suiteId(), mapOf(tags))));
    Filter filter = new Filter(Option.apply(setOf(CHOSEN)), setOf(), false, dynaTags);
    RunSuites reporter = new RunSuites(results, name);
    Args run = new Args(reporter, new NeverStop(), filter, ConfigMap$.MODULE$.empty(), Option.empty(),
        new Tracker(new Ordinal(0)), setOf(), false, Option.empty(), Option.empty());
    System.out.println("=== " + name + ": " + tags.size() + " tests");
    try {
      suite.run(Option.empty(), run);
    } catch (RuntimeException | Error e) {
      reporter.write("(the suite itself)", "failed", e);
    }
    if (reporter.written < tags.size()) {
      throw new IllegalStateException(name + ": of " + tags.size() + " tests " + reporter.written + " ran");
    }
  }

  @Override
  public void apply(Event event) {
    if (event instanceof TestStarting) {
      started = System.nanoTime();
    } else if (event instanceof TestSucceeded succeeded) {
      write(succeeded.testName(), "passed", null);
    } else if (event instanceof TestFailed failed) {
      write(failed.testName(), "failed", OptionConverters.toJava(failed.throwable()).orElse(new AssertionError(failed.message())));
    } else if (event instanceof TestCanceled canceled) {
      write(canceled.testName(), "canceled", OptionConverters.toJava(canceled.throwable()).orElse(null));
    } else if (event instanceof TestIgnored ignored) {
      write(ignored.testName(), "ignored", null);
    }
  }

  /** One line; {@code batches} and {@code delegated} count what was cached since the end of the test before, so set-up is included. */
  private void write(String test, String outcome, Throwable reason) {
    long batchesNow = WriteCounters.batches();
    long delegatedNow = WriteCounters.delegatedRelations();
    StringWriter trace = new StringWriter();
    if (reason != null) {
      reason.printStackTrace(new PrintWriter(trace));
    }
    Map<String, String> line = new LinkedHashMap<>();
    line.put("suite", json(suite));
    line.put("test", json(test));
    line.put("outcome", json(outcome));
    line.put("batches", Long.toString(batchesNow - batches));
    line.put("delegated", Long.toString(delegatedNow - delegated));
    line.put("seconds", String.format("%.2f", (System.nanoTime() - started) / 1e9));
    line.put("reason", json(trace.toString()));
    StringBuilder text = new StringBuilder();
    line.forEach((key, value) -> text.append(text.isEmpty() ? "{" : ", ").append(json(key)).append(": ").append(value));
    results.println(text.append('}'));
    results.flush();
    System.out.println(outcome + ": " + test);
    written++;
    batches = batchesNow;
    delegated = delegatedNow;
  }

  private static String json(String text) {
    return JsonMethods$.MODULE$.compact(new JString(text));
  }

  private static scala.collection.immutable.Set<String> setOf(String... values) {
    return scala.collection.immutable.Set$.MODULE$.from(CollectionConverters.asScala(java.util.List.of(values)));
  }

  private static <V> scala.collection.immutable.Map<String, V> mapOf(Map<String, V> map) {
    return scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(map));
  }

  private static final class NeverStop implements Stopper {
    @Override
    public boolean stopRequested() {
      return false;
    }

    @Override
    public void requestStop() {}
  }
}

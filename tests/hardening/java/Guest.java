import io.github.quiverspark.QuiverException;
import io.github.quiverspark.nativelib.Native;
import io.github.quiverspark.nativelib.NativeLoader;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a Go runtime must not disturb inside HotSpot, one mode a process: {@code Guest MODE [AMOUNT]}. A mode prints figures as
 * {@code key=value} on one line that starts with "figures"; any failure is an exception and another exit code.
 */
public final class Guest {
  private static final long SEED = 20261202;

  private Guest() {}

  public static void main(String[] args) throws Exception {
    int amount = args.length > 1 ? Integer.parseInt(args[1]) : 0;
    switch (args[0]) {
      case "null-checks" -> nullChecks(amount);
      case "overflows" -> overflows(amount);
      case "serve" -> serve();
      case "work" -> work(4, amount, false);
      case "threads" -> work(64, amount, true);
      case "forks" -> forks(amount);
      case "rounds" -> rounds(amount);
      case "load" -> load();
      case "messages" -> messages();
      case "arguments" -> arguments();
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private interface Body {
    void run(int thread) throws Exception;
  }

  /** Runs the body on so many threads at once; the first failure is thrown. */
  private static void onThreads(int threads, long stackSize, Body body) throws Exception {
    List<Throwable> failures = new ArrayList<>();
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int number = t;
      Thread thread = new Thread(null, () -> {
        try {
          body.run(number);
        } catch (Throwable e) {
          synchronized (failures) {
            failures.add(e);
          }
        }
      }, "worker-" + t, stackSize);
      all.add(thread);
      thread.start();
    }
    for (Thread thread : all) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw new IllegalStateException(failures.size() + " threads failed", failures.get(0));
    }
  }

  private static final class Box {
    int value;
  }

  /** With C1 code each of these is a SIGSEGV that HotSpot's handler must see and turn into an exception. */
  private static int provoke(Box[] boxes, int times) {
    int caught = 0;
    for (int i = 0; i < times; i++) {
      try {
        boxes[i & 1].value++;
      } catch (NullPointerException e) {
        caught++;
      }
    }
    return caught;
  }

  private static void nullChecks(int times) throws Exception {
    AtomicLong caught = new AtomicLong();
    Body fresh = t -> caught.addAndGet(provoke(new Box[2], times));
    onThreads(2, 0, fresh);
    NativeLoader.load();
    onThreads(2, 0, fresh);
    onThreads(2, 0, t -> {
      for (int i = 0; i < 10; i++) {
        Native.nativeBytes();
        caught.addAndGet(provoke(new Box[2], times / 10));
      }
      try (Batches batches = new Batches("pack")) {
        check(batches.roundTrip(new Random(SEED)), "a batch after null checks");
      }
    });
    check(caught.get() == 6L * times, caught + " of " + 6L * times + " null checks were caught");
    System.out.println("figures null_checks=" + caught);
  }

  private static int deep(int n, boolean inGo) {
    return (inGo ? (int) Native.nativeBytes() & 1 : 0) + deep(n + 1, inGo) + 1;
  }

  /** Stacks that run over in Java, and on the way into Go, on threads that have called Go and on threads that have not. */
  private static void overflows(int times) throws Exception {
    NativeLoader.load();
    AtomicLong caught = new AtomicLong();
    for (long stack : new long[] {256 << 10, 1 << 20}) {
      for (boolean before : new boolean[] {false, true}) {
        for (boolean inGo : new boolean[] {false, true}) {
          onThreads(4, stack, t -> {
            if (before) {
              Native.nativeBytes();
            }
            for (int i = 0; i < times; i++) {
              try {
                deep(0, inGo);
              } catch (StackOverflowError e) {
                caught.incrementAndGet();
              }
            }
            try (Batches batches = new Batches("zstd")) {
              check(batches.roundTrip(new Random(SEED + t)), "a batch after stack overflows");
            }
          });
        }
      }
    }
    check(caught.get() == 32L * times, caught + " of " + 32L * times + " stack overflows were caught");
    System.out.println("figures stack_overflows=" + caught);
  }

  /** Works until a signal ends it; answers a line of standard input when all is well. */
  private static void serve() throws Exception {
    NativeLoader.load();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try (Batches batches = new Batches("lz4")) {
        System.out.println("hook " + batches.roundTrip(new Random(SEED)));
      }
      System.out.flush();
    }));
    Thread busy = new Thread(() -> {
      try (Batches batches = new Batches("pack")) {
        for (Random random = new Random(SEED);;) {
          check(batches.roundTrip(random), "a batch while serving");
        }
      }
    });
    busy.setDaemon(true);
    busy.start();
    try (Batches batches = new Batches("pack")) {
      System.out.println("ready");
      for (Random random = new Random(SEED); System.in.read() >= 0;) {
        System.out.println("well " + (batches.roundTrip(random) && busy.isAlive()));
      }
    }
  }

  /** Threads that encode and decode; every batch is compared. With pressure, each thread also fills the heap with garbage. */
  private static void work(int threads, int rounds, boolean pressure) throws Exception {
    NativeLoader.load();
    AtomicLong done = new AtomicLong();
    onThreads(threads, 0, t -> {
      Random random = new Random(SEED + t);
      byte[][] garbage = new byte[64][];
      try (Batches batches = new Batches(Batches.CODECS[t % 4])) {
        for (int i = 0; i < rounds; i++) {
          check(batches.roundTrip(random), "round " + i + " of thread " + t);
          for (int g = 0; pressure && g < 32; g++) {
            garbage[random.nextInt(garbage.length)] = new byte[random.nextInt(1 << 15)];
          }
          done.incrementAndGet();
        }
      }
    });
    check(Native.nativeBytes() == 0, Native.nativeBytes() + " native bytes are left");
    long collections = 0;
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      collections += Math.max(0, bean.getCollectionCount());
    }
    System.out.println("figures threads=" + threads + " rounds=" + done + " collections=" + collections + " wrong=0 native_left=0");
  }

  /** Child processes started from threads that have called Go while others are inside Go. */
  private static void forks(int times) throws Exception {
    NativeLoader.load();
    AtomicLong forks = new AtomicLong();
    onThreads(4, 0, t -> {
      try (Batches batches = new Batches("pack")) {
        Random random = new Random(SEED + t);
        for (int i = 0; i < times; i++) {
          check(batches.roundTrip(random), "a batch between forks");
          if (t < 2) {
            Process child = new ProcessBuilder("echo", "child " + i).start();
            String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
            check(child.waitFor() == 0 && said.equals("child " + i), "child " + i + " said '" + said + "'");
            forks.incrementAndGet();
          }
        }
      }
    });
    System.out.println("figures forks=" + forks);
  }

  /**
   * Resident memory over encode and decode rounds, each with a new encoder and decoder, as tasks have. The heap should be touched
   * beforehand (-XX:+AlwaysPreTouch), so that only native memory can grow.
   */
  private static void rounds(int rounds) throws Exception {
    NativeLoader.load();
    Random random = new Random(SEED);
    int warmUp = Math.max(200, rounds / 4);
    List<double[]> samples = new ArrayList<>();
    for (int i = -warmUp; i < rounds; i++) {
      try (Batches batches = new Batches(Batches.CODECS[i & 3])) {
        check(batches.roundTrip(random), "round " + i);
      }
      if (i >= 0 && i % Math.max(1, rounds / 200) == 0) {
        samples.add(new double[] {i, residentBytes()});
      }
    }
    check(Native.nativeBytes() == 0, Native.nativeBytes() + " native bytes are left");
    double slope = slope(samples);
    System.out.printf("figures rounds=%d slope=%.1f growth=%.0f native_left=0%n", rounds, slope, slope * rounds);
  }

  /** Least squares: change of the second number with the first. */
  private static double slope(List<double[]> points) {
    double x = points.stream().mapToDouble(p -> p[0]).average().orElseThrow();
    double y = points.stream().mapToDouble(p -> p[1]).average().orElseThrow();
    double both = points.stream().mapToDouble(p -> (p[0] - x) * (p[1] - y)).sum();
    return both / points.stream().mapToDouble(p -> (p[0] - x) * (p[0] - x)).sum();
  }

  private static double residentBytes() throws IOException {
    String line = Files.readAllLines(Path.of("/proc/self/status")).stream().filter(x -> x.startsWith("VmRSS:")).findFirst().orElseThrow();
    return Double.parseDouble(line.replaceAll("[^0-9]", "")) * 1024;
  }

  private static void load() {
    try {
      NativeLoader.load();
      System.out.println("loaded");
    } catch (QuiverException e) {
      System.out.println("failed " + e.getMessage());
    }
  }

  /** Messages may hold any character of a column's name, formats and zeros among them. */
  private static void messages() {
    NativeLoader.load();
    String name = "\uD83C\uDFF9 %s%n%x \u00FC";
    String json = "{\"type\":\"struct\",\"fields\":[{\"name\":\"" + name
        + "\",\"type\":\"nothing %n%s\",\"nullable\":true,\"metadata\":{}}]}";
    String reason = Native.unsupportedReason(json.getBytes(StandardCharsets.UTF_8));
    check(reason.contains(name) && reason.contains("nothing %n%s"), reason);
    try {
      Native.newEncoder(json.getBytes(StandardCharsets.UTF_8), "codec=pack");
      throw new IllegalStateException("no exception");
    } catch (QuiverException e) {
      check(e.getMessage().contains(name), e.getMessage());
    }
    System.out.println("figures messages=2");
  }

  /** Arguments that no caller of ours passes: exceptions, and the process and the next call go on. */
  private static void arguments() {
    NativeLoader.load();
    long decoder = Native.newDecoder(Batches.SCHEMA, new int[] {0, 1, 2}, null, null);
    byte[] empty = new byte[0];
    List<Runnable> calls = List.of(
        () -> Native.newDecoder(null, new int[0], null, null),
        () -> Native.newDecoder(Batches.SCHEMA, null, null, null),
        () -> Native.newDecoder(Batches.SCHEMA, new int[] {Integer.MIN_VALUE}, null, null),
        () -> Native.newDecoder(Batches.SCHEMA, new int[] {0}, null, new byte[] {-1, 0, 10}),
        () -> Native.newDecoder(Batches.SCHEMA, new int[] {0}, new int[] {0}, null),
        () -> Native.newEncoder(Batches.SCHEMA, null),
        () -> Native.configure(null),
        () -> Native.checkOptions(null),
        () -> Native.unsupportedReason(null),
        () -> Native.allocate(-1),
        () -> Native.allocate(Long.MAX_VALUE),
        () -> Native.allocate(1L << 60),
        () -> Native.decodeVectors(decoder, empty, null, null, new long[30], new byte[9][], null),
        () -> Native.decodeVectors(decoder, null, new byte[3][], null, new long[30], new byte[9][], null),
        () -> Native.decodeRows(decoder, empty, null, null, new long[4]),
        () -> Native.decodeArrow(decoder, empty, null, null, 0, 0),
        () -> Native.nextRows(decoder, null, 1, null),
        () -> Native.nextRows(decoder, empty(), 1, null),
        () -> Native.encodeRows(decoder, 0, 0, 0, 0, new long[2]),
        () -> Native.encodeRows(99, 0, 0, 0, 0, new long[2]),
        () -> small(b -> Native.decodeVectors(decoder, b[0], Batches.segments(b), b[2], null, new byte[9][], null)),
        () -> small(b -> Native.decodeVectors(decoder, b[0], Batches.segments(b), b[2], new long[1], new byte[9][], null)),
        () -> small(b -> Native.decodeVectors(decoder, b[0], Batches.segments(b), b[2], new long[28], new byte[1][], null)),
        () -> small(b -> Native.decodeVectors(decoder, b[0], Batches.segments(b), b[2], new long[28], null, null)),
        () -> small(b -> Native.decodeVectors(decoder, b[0], new byte[3][], null, new long[28], new byte[9][], null)),
        () -> small(b -> Native.decodeRows(decoder, b[0], Batches.segments(b), b[2], null)),
        () -> small(b -> Native.decodeRows(decoder, b[0], Batches.segments(b), new byte[5], new long[4])),
        () -> Native.checkHead(1, 3, 1, null, empty, 3, empty),
        () -> Native.checkHead(1, 3, 1, empty, null, 3, empty),
        () -> Native.checkHead(1, 3, 1, empty, empty, 3, null),
        () -> Native.checkHead(-1, -3, Long.MIN_VALUE, empty, empty, Long.MAX_VALUE, empty));
    int thrown = 0;
    for (int i = 0; i < calls.size(); i++) {
      try {
        calls.get(i).run();
      } catch (RuntimeException | OutOfMemoryError e) {
        thrown++;
        continue;
      }
      throw new IllegalStateException("call " + i + " did not fail");
    }
    Native.close(decoder);
    try (Batches batches = new Batches("none")) {
      check(batches.roundTrip(new Random(SEED)), "a batch after wrong arguments");
    }
    check(Native.nativeBytes() == 0, Native.nativeBytes() + " native bytes are left");
    System.out.println("figures arguments=" + thrown);
  }

  private static int[] empty() {
    return new int[0];
  }

  private static void small(java.util.function.Consumer<byte[][]> f) {
    try (Batches batches = new Batches("pack")) {
      f.accept(batches.encode(Batches.Rows.random(new Random(SEED), 10)));
    }
  }

  private static void check(boolean right, String what) {
    if (!right) {
      throw new IllegalStateException(what);
    }
  }
}

package io.github.quiverspark.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The threads beside tasks; needs two processors. */
class AheadTest {
  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final List<Future<String>> started = new ArrayList<>();

  @BeforeEach
  void twoSlotsAndThisThreadsTask() {
    assertTrue(PROCESSORS >= 2, "processors: " + PROCESSORS);
    Ahead.configure(2);
    Ahead.taskStarted();
  }

  @AfterEach
  void off() {
    mayEnd.countDown();
    started.forEach(Ahead::await);
    Ahead.configure(0);
  }

  private Future<String> start() {
    Future<String> work = Ahead.tryStart(() -> {
      mayEnd.await();
      return Thread.currentThread().getName();
    });
    if (work != null) {
      started.add(work);
    }
    return work;
  }

  private void end(Future<String> work) {
    mayEnd.countDown();
    assertEquals("quiver-ahead", Ahead.await(work));
  }

  /** A thread with a task that ends, if it does, with the thread. */
  private static void anotherTask(boolean ends) throws InterruptedException {
    Thread thread = new Thread(() -> {
      Ahead.taskStarted();
      if (ends) {
        Ahead.taskEnded();
      }
    });
    thread.start();
    thread.join();
  }

  @Test
  void oneIdleSlotIsOneThread() {
    long before = Ahead.taken();
    Future<String> work = start();
    assertNotNull(work);
    assertNull(start(), "both slots are in use");
    end(work);
    assertEquals(1, Ahead.taken() - before);
    assertNotNull(start(), "the slot is idle again");
  }

  @Test
  void noneWhereAllSlotsHaveTasks() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    Thread other = new Thread(() -> {
      Ahead.taskStarted();
      started.countDown();
      try {
        mayEnd.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      Ahead.taskEnded();
    });
    other.start();
    started.await();
    assertNull(start());
    mayEnd.countDown();
    other.join();
    assertNotNull(start());
  }

  @Test
  void endsThatNobodyToldOfDoNotCountForEver() throws Exception {
    anotherTask(false);
    anotherTask(true);
    Ahead.taskStarted();
    assertNotNull(start(), "dead threads have no task, and this one has one");
  }

  @Test
  void noneWithoutPluginOrTasks() {
    Ahead.taskEnded();
    assertNull(start(), "a thread that is no task's");
    Ahead.configure(1);
    Ahead.taskStarted();
    assertNull(start(), "one slot");
    Ahead.configure(0);
    assertNull(start(), "no plugin");
  }

  @Test
  void neverMoreThanProcessors() {
    Ahead.configure(100 * PROCESSORS);
    Ahead.taskStarted();
    for (int i = 1; i < PROCESSORS; i++) {
      assertNotNull(start());
    }
    assertNull(start());
  }

  @Test
  void throwsWhatTheWorkThrew() {
    IOException thrown = new IOException("test");
    Future<String> work = Ahead.tryStart(() -> {
      throw thrown;
    });
    assertSame(thrown, assertThrows(IOException.class, () -> Ahead.await(work)));
    assertNotNull(start(), "the slot is idle again");
  }

  @Test
  void anInterruptIsKept() {
    Future<String> work = start();
    Thread task = Thread.currentThread();
    Thread other = new Thread(() -> {
      task.interrupt();
      mayEnd.countDown();
    });
    other.start();
    assertEquals("quiver-ahead", Ahead.await(work));
    while (other.isAlive()) {
      Thread.yield();
    }
    assertTrue(Thread.interrupted());
  }

  @Test
  void itsThreadsKeepNoClassLoaderOfATask() {
    ClassLoader ofTask = new ClassLoader(getClass().getClassLoader()) {};
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Thread.currentThread().setContextClassLoader(ofTask);
    try {
      Future<ClassLoader> work = Ahead.tryStart(() -> Thread.currentThread().getContextClassLoader());
      assertNotSame(ofTask, Ahead.await(work));
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  @ParameterizedTest
  @CsvSource({
      "local, , , 1",
      "'local[3]', , , 3",
      "'local[8,4]', , 2, 4",
      "'local-cluster[2,3,1024]', 3, , 3",
      "spark://host:7077, 4, , 4",
      "spark://host:7077, 5, 2, 2",
      "yarn, , , 1",
      "yarn, 4, , 4",
      "k8s://https://host, , , 1"})
  void slotsAreThoseOfTheConfiguration(String master, String cores, String cpus, int slots) {
    SparkConf conf = new SparkConf(false).setMaster(master);
    if (cores != null) {
      conf.set("spark.executor.cores", cores);
    }
    if (cpus != null) {
      conf.set("spark.task.cpus", cpus);
    }
    assertEquals(slots, Ahead.slots(conf));
  }

  @Test
  void slotsAreProcessorsWhereTheConfigurationDoesNotTell() {
    assertEquals(PROCESSORS, Ahead.slots(new SparkConf(false).setMaster("local[*]")));
    assertEquals(PROCESSORS, Ahead.slots(new SparkConf(false).setMaster("local[*,2]")));
    assertEquals(PROCESSORS, Ahead.slots(new SparkConf(false).setMaster("spark://host:7077")));
  }
}

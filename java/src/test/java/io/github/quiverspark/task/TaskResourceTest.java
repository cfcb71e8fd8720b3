package io.github.quiverspark.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CountDownLatch;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.TaskKilledException;
import org.junit.jupiter.api.Test;

class TaskResourceTest {
  private static final class Counted extends TaskResource {
    private int releases;

    @Override
    protected void release() {
      releases++;
    }
  }

  @Test
  void closesOnce() {
    Counted r = new Counted();
    r.enter();
    r.exit();
    assertEquals(0, r.releases);
    r.close();
    r.close();
    assertEquals(1, r.releases);
    assertThrows(IllegalStateException.class, r::enter);
  }

  @Test
  void closeDuringWorkWaitsForItsEndWithoutBlocking() throws Exception {
    Counted r = new Counted();
    r.enter();
    CountDownLatch closed = new CountDownLatch(1);
    Thread other = new Thread(() -> {
      r.close();
      closed.countDown();
    });
    other.start();
    closed.await();
    assertEquals(0, r.releases, "work goes on");
    r.exit();
    assertEquals(1, r.releases);
    r.close();
    assertEquals(1, r.releases);
    other.join();
  }

  private static Counted resourceOf(TaskContextImpl context) {
    TaskContext$.MODULE$.setTaskContext(context);
    try {
      return new Counted();
    } finally {
      TaskContext$.MODULE$.unset();
    }
  }

  @Test
  void afterTheTaskThereIsNoWork() {
    TaskContextImpl context = TaskContext$.MODULE$.empty();
    Counted r = resourceOf(context);
    context.markTaskCompleted(scala.Option.empty());
    assertThrows(IllegalStateException.class, r::enter);
    assertEquals(1, r.releases);
  }

  @Test
  void theTaskClosesItAndKillsItsReaders() {
    TaskContextImpl context = TaskContext$.MODULE$.empty();
    Counted r = resourceOf(context);
    r.checkInterrupted();
    r.enter();
    r.exit();
    context.markInterrupted("test");
    assertThrows(TaskKilledException.class, r::checkInterrupted);
    context.markTaskCompleted(scala.Option.empty());
    assertEquals(1, r.releases);
  }

  @Test
  void oneUserAtATime() {
    Counted r = new Counted();
    r.enter();
    assertThrows(IllegalStateException.class, r::enter);
    r.exit();
    r.close();
    assertEquals(1, r.releases);
  }
}

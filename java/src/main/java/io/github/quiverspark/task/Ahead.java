package io.github.quiverspark.task;

import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.unsafe.Platform;

/**
 * Threads on which a task has native work done while it goes on itself, as long as a task slot of this process is idle: tasks and such
 * threads together never outnumber the slots. Which tasks run is told by the plugin; without it there are no slots, and no such threads.
 *
 * <p>Work must not need the task's thread (its TaskContext, its class loader) and must end by itself, soon.
 */
public final class Ahead {
  private static final Pattern LOCAL = Pattern.compile("local(?:\\[([0-9]+|\\*)(?:,[^\\]]*)?\\])?");
  private static final LongAdder TAKEN = new LongAdder();
  /** Daemons, which end when there has been nothing to do for a while. */
  private static final ThreadPoolExecutor THREADS =
      new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), Ahead::thread);
  /**
   * Threads with a task. Not a number: Spark does not tell of the end of every task, and a thread that begins its next one, or has died, is
   * counted right again.
   */
  private static final Set<Thread> TASKS = ConcurrentHashMap.newKeySet();

  private static int slots;
  private static int working;

  private Ahead() {}

  /** How many tasks a process of this application runs at once, as far as its configuration tells. */
  public static int slots(SparkConf conf) {
    int processors = Runtime.getRuntime().availableProcessors();
    String master = conf.get("spark.master", "");
    Matcher local = LOCAL.matcher(master);
    int cores;
    if (local.matches()) {
      String threads = local.group(1);
      cores = threads == null ? 1 : threads.equals("*") ? processors : Integer.parseInt(threads);
    } else {
      // where executors are given no number of cores, one of a standalone cluster takes all that its worker has
      int unset = master.startsWith("yarn") || master.startsWith("k8s") ? 1 : processors;
      cores = conf.getInt("spark.executor.cores", unset);
    }
    return cores / conf.getInt("spark.task.cpus", 1);
  }

  /** Begins to count for an application whose process runs so many tasks at once; 0: no work is taken. */
  public static synchronized void configure(int taskSlots) {
    TASKS.clear();
    slots = Math.min(taskSlots, Runtime.getRuntime().availableProcessors());
  }

  /** The current thread begins a task. */
  public static void taskStarted() {
    TASKS.add(Thread.currentThread());
  }

  /** The task of the current thread has ended. */
  public static void taskEnded() {
    TASKS.remove(Thread.currentThread());
  }

  /** Pieces of work taken since this JVM started. */
  public static long taken() {
    return TAKEN.sum();
  }

  /** Has the work done by another thread, or answers null, at once, if no slot is idle. */
  public static <T> Future<T> tryStart(Callable<T> work) {
    if (!begin()) {
      return null;
    }
    try {
      Future<T> started = THREADS.submit(() -> {
        try {
          return work.call();
        } finally {
          end();
        }
      });
      TAKEN.increment();
      return started;
    } catch (OutOfMemoryError e) {
      // the system gives no more threads: the task does it itself
      end();
      return null;
    }
  }

  /** What the work has made, or throws what it threw. An interrupt does not cut the wait short and is left for the caller. */
  public static <T> T await(Future<T> work) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return work.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw undeclared(e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Throws what Scala code or another thread has thrown, which may be checked; never returns. */
  public static RuntimeException undeclared(Throwable thrown) {
    Platform.throwException(thrown);
    return new IllegalStateException(thrown);
  }

  private static synchronized boolean begin() {
    if (slots < 2) {
      return false;
    }
    if (TASKS.size() + working >= slots) {
      TASKS.removeIf(thread -> !thread.isAlive());
    }
    if (TASKS.isEmpty() || TASKS.size() + working >= slots) {
      return false;
    }
    working++;
    return true;
  }

  private static synchronized void end() {
    working--;
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "quiver-ahead");
    thread.setDaemon(true);
    // not that of the task, which may be one of a session that ends
    thread.setContextClassLoader(Ahead.class.getClassLoader());
    return thread;
  }
}

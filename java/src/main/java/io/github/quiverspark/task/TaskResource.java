package io.github.quiverspark.task;

import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Something of an iterator that must be released once: when the iterator is exhausted, or else when its task completes.
 *
 * <p>A task's completion listeners can run while another thread (a Python writer) is still in the iterator. Work is therefore put
 * between {@link #enter} and {@link #exit}: a {@link #close} that comes meanwhile does not wait, which could deadlock, but leaves the
 * release to {@link #exit}. After that, {@link #enter} throws.
 */
public abstract class TaskResource implements AutoCloseable {
  private final TaskContext context;
  private boolean registered;
  private boolean busy;
  private boolean closed;
  private boolean released;

  /** Belongs to the task of the current thread, if there is one. */
  protected TaskResource() {
    context = TaskContext.get();
  }

  /** Frees what the resource holds. Called once, never between enter and exit. */
  protected abstract void release();

  /** Throws TaskKilledException if the task is being killed. Call it between batches. */
  public final void checkInterrupted() {
    if (context != null) {
      context.killTaskIfInterrupted();
    }
  }

  /** Begins work on the resource. Throws IllegalStateException once it is closed. */
  protected final void enter() {
    register();
    synchronized (this) {
      if (closed) {
        throw new IllegalStateException("the task that reads or writes these cached batches has ended");
      }
      if (busy) {
        throw new IllegalStateException("an iterator over cached batches is used by two threads at once");
      }
      busy = true;
    }
  }

  /** Listens for the end of the task from the first work on. Without the lock: a task that has ended calls the listener at once. */
  private void register() {
    synchronized (this) {
      if (registered || context == null) {
        return;
      }
      registered = true;
    }
    // Given as a class instance: the overload that takes a function would make a lambda ambiguous.
    context.addTaskCompletionListener(new CloseAtEnd(this));
  }

  /** Ends work on the resource. */
  protected final void exit() {
    synchronized (this) {
      busy = false;
      if (!closed || released) {
        return;
      }
      released = true;
    }
    release();
  }

  /** Releases the resource now or, where work is going on, right after it. Closing again does nothing. */
  @Override
  public final void close() {
    synchronized (this) {
      closed = true;
      if (busy || released) {
        return;
      }
      released = true;
    }
    release();
  }

  private static final class CloseAtEnd implements TaskCompletionListener {
    private final TaskResource resource;

    private CloseAtEnd(TaskResource resource) {
      this.resource = resource;
    }

    @Override
    public void onTaskCompletion(TaskContext context) {
      resource.close();
    }
  }
}

"""A Go runtime inside HotSpot: nothing that the JVM does with signals, stacks, threads and processes is disturbed by it.

Each test is a JVM of its own, on the JDK in use and on the newest that is installed beside it.
"""

import contextlib
import queue
import re
import signal
import subprocess
import threading

import jdk
import pytest
from harness import startup, submit

C1 = "-XX:TieredStopAtLevel=1"  # C1 never replaces an implicit null check by an explicit one


class Serving:
    """The mode "serve": lines of its output, and questions that it must answer."""

    def __init__(self, process: subprocess.Popen):
        self.process = process
        self.lines: queue.Queue[str] = queue.Queue()
        self.seen: list[str] = []
        self.reader = threading.Thread(target=lambda: [self.lines.put(x.rstrip("\n")) for x in process.stdout], daemon=True)
        self.reader.start()

    def wait_for(self, text: str) -> None:
        while True:
            line = self.lines.get(timeout=120)
            self.seen.append(line)
            if text in line:
                return

    def well(self) -> None:
        self.process.stdin.write("?")
        self.process.stdin.flush()
        self.wait_for("well true")


def _default_signals() -> None:
    """A JVM leaves SIGINT and SIGHUP alone if they are ignored when it starts, as in a background job."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def serve(guest, tmp_path):
    with contextlib.ExitStack() as stack:

        def start(java, *options) -> Serving:
            line = guest.line(java, "Guest", "serve", options=options)
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                line,
                cwd=tmp_path,
                env=guest.environment(),
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.STDOUT,
                text=True,
                preexec_fn=_default_signals,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            serving = Serving(process)
            serving.wait_for("ready")
            return serving

        yield start


def test_null_checks(guest, java, tmp_path, full, figures):
    """Each is a SIGSEGV: before the library is loaded, after, on threads that have and have not called Go."""
    times = 500_000 if full else 20_000
    got = guest.run(java, "Guest", "null-checks", times, options=(C1,), cwd=tmp_path).figures
    assert got["null_checks"] == 6 * times
    figures(null_checks=got["null_checks"])


def test_stack_overflows(guest, java, tmp_path, full, figures):
    times = 20 if full else 2
    got = guest.run(java, "Guest", "overflows", times, cwd=tmp_path).figures
    figures(stack_overflows=got["stack_overflows"])


def test_thread_dump(serve, java):
    """kill -3 prints the threads and nothing ends."""
    serving = serve(java)
    for _ in range(3):
        serving.process.send_signal(signal.SIGQUIT)
        serving.wait_for("Full thread dump")
        serving.well()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda s: s.name)
def test_shutdown_hooks(serve, java, number):
    """Hooks run, may use the library, and the exit code is HotSpot's."""
    serving = serve(java)
    serving.process.send_signal(number)
    assert serving.process.wait(timeout=120) == 128 + number
    serving.wait_for("hook true")


def test_flight_recording(guest, java, tmp_path, full):
    """JFR samples threads by signals while they are in and out of Go; the recording can be read."""
    options = (f"-XX:StartFlightRecording=filename={tmp_path}/r.jfr,settings=profile", "-Xlog:jfr*=error")
    assert guest.run(java, "Guest", "work", 200 if full else 40, options=options, cwd=tmp_path).figures["wrong"] == 0
    line = [str(java.home / "bin" / "jfr"), "summary", str(tmp_path / "r.jfr")]
    summary = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True).stdout
    samples = re.search(r"jdk\.ExecutionSample\s+(\d+)", summary)
    native = re.search(r"jdk\.NativeMethodSample\s+(\d+)", summary)
    assert int(samples[1]) + int(native[1]) > 0, summary


def test_processor_time_recording(guest, java, tmp_path, full):
    """From JDK 25 on JFR can sample by timers of processor time, whose SIGPROF comes on whatever a thread is doing, Go among it."""
    if java.version < 25:
        pytest.skip("this JDK cannot")
    options = (f"-XX:StartFlightRecording=filename={tmp_path}/r.jfr,jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=1ms",)
    got = guest.run(java, "Guest", "work", 400 if full else 80, options=options, cwd=tmp_path)
    assert got.figures["wrong"] == 0
    line = [str(java.home / "bin" / "jfr"), "summary", str(tmp_path / "r.jfr")]
    summary = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True).stdout
    assert int(re.search(r"jdk\.CPUTimeSample\s+(\d+)", summary)[1]) > 10, summary


def test_forks(guest, java, tmp_path, full, figures):
    got = guest.run(java, "Guest", "forks", 100 if full else 10, cwd=tmp_path).figures
    assert got["forks"] == 2 * (100 if full else 10)
    figures(forks=got["forks"])


def test_threads_with_a_busy_collector(guest, java, tmp_path, full, figures):
    """64 threads encode and decode while G1 works hard; every row and a vector of each batch are compared."""
    rounds = 60 if full else 4
    options = ("-Xmx160m", "-Xmn24m")
    got = guest.run(java, "Guest", "threads", rounds, options=options, cwd=tmp_path, timeout=600).figures
    assert got["rounds"] == 64 * rounds and got["wrong"] == 0 and got["native_left"] == 0
    assert got["collections"] >= rounds
    figures(threads=64, rounds=got["rounds"], wrong=got["wrong"], native_left=got["native_left"])


def test_resident_memory(guest, java, tmp_path, full, figures):
    """Rounds with a new encoder and decoder each: resident memory is flat once warm."""
    rounds = 10_000 if full else 400
    options = ("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:ReservedCodeCacheSize=64m")
    got = guest.run(java, "Guest", "rounds", rounds, options=options, cwd=tmp_path, timeout=900).figures
    assert got["native_left"] == 0
    # a leak of one batch (100 KB) in a thousand rounds would be 100 bytes a round
    assert got["growth"] < 16 << 20, got
    if full:
        assert got["slope"] < 500, got
        figures(rss_rounds=rounds, rss_slope=got["slope"], native_left=got["native_left"])


def test_checked_jni(guest, java, tmp_path):
    """-Xcheck:jni says nothing but that handlers of signals were changed, which is Go's doing and known."""
    options = ("-Xcheck:jni", "-Xmx512m")
    got = guest.run(java, "Guest", "work", 4, options=options, cwd=tmp_path)
    assert got.figures["wrong"] == 0
    complaint = re.compile(r"jni|FATAL|WARNING in native|exception pending|local ref", re.I)
    said = [x for x in got.out.splitlines() + got.err.splitlines() if complaint.search(x)]
    handlers = re.compile(r"handler modified|Signal Handlers|^\s*SIG[A-Z0-9]+:|-Xcheck:jni")
    assert [x for x in said if not handlers.search(x)] == [], got.out[-3000:] + got.err[-3000:]
    assert "handler" in got.out + got.err, "the switch had no effect"


def test_wrong_arguments(guest, java, tmp_path):
    """What no caller passes: null arrays, short arrays, absurd sizes, closed and foreign handles. Exceptions, never the end."""
    got = guest.run(java, "Guest", "arguments", cwd=tmp_path).figures
    assert got["arguments"] == 31


def test_messages_keep_every_character(guest, java, tmp_path):
    assert guest.run(java, "Guest", "messages", cwd=tmp_path).figures["messages"] == 2


def test_two_class_loaders(guest, java, tmp_path, jar):
    """A reload with isolated jars: one Go runtime; the second class loader is told why it has none."""
    jars = [jar, *sorted((submit.SPARK_HOME / "jars").glob("*.jar"))]
    got = guest.run(java, "Loaders", *jars, cwd=tmp_path).figures
    assert got == {"class_loaders": 4, "go_runtimes": 1}


def libjsig(java) -> str:
    return str(next(java.home.rglob("libjsig.so")))


def test_preloaded_signal_chain(guest, java, tmp_path):
    """With libjsig a nil dereference in Go would end the process: the library is not used, and the reason is given."""
    got = guest.run(java, "Guest", "load", cwd=tmp_path, env={"LD_PRELOAD": libjsig(java)})
    assert got.code == 0
    assert "failed" in got.out and "libjsig is preloaded" in got.out and "LD_PRELOAD" in got.out, got.out
    assert guest.run(java, "Guest", "load", cwd=tmp_path).out.strip().endswith("loaded")


def test_preloaded_signal_chain_through_spark(tmp_path):
    got = startup.start(tmp_path, environment={"LD_PRELOAD": libjsig(jdk.found()[0])})
    got.off_with_one_warning("libjsig is preloaded", "LD_PRELOAD")

"""What the measuring scripts beside this file share: a JVM for each contender, timing inside it, and a section of docs/performance.md.

A script has a list of runs, a function that measures inside spark-submit, and one that makes tables of what the runs found; main() does
the rest: it starts one JVM after another, round after round, keeps the lowest median of each cell, compares answers, prints the tables and
writes them between the section's two marker lines of the document.

env: SPARK_HOME; BENCH_NICE, priority of what is timed, e.g. -15 (root only); BENCH_ROUNDS, instead of the script's own number
"""

import argparse
import contextlib
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MIB = 2**20


@dataclass
class Contender:
    label: str
    serializer: str
    confs: dict[str, str] = field(default_factory=dict)


CONTENDERS = {
    "spark": Contender("Spark's format", "DefaultCachedBatchSerializer"),
    "quiver": Contender("Quiver", "QuiverCachedBatchSerializer", {"spark.plugins": "io.github.quiverspark.QuiverPlugin"}),
    "comet": Contender(
        "Comet, lz4",
        "ArrowCachedBatchSerializer",
        {
            "spark.plugins": "org.apache.spark.CometPlugin",
            "spark.sql.cache.serializer": "org.apache.spark.sql.comet.execution.arrow.ArrowCachedBatchSerializer",
            "spark.shuffle.manager": "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager",
            "spark.comet.exec.inMemoryCache.enabled": "true",
            "spark.comet.exec.inMemoryCache.compression.codec": "lz4",
            "spark.comet.exec.onHeap.enabled": "true",
        },
    ),
}


@dataclass
class Run:
    """One JVM: a contender, how it is started, and what the script's measure() is told."""

    name: str
    contender: str
    master: str = "local[1]"
    memory: str = "4g"
    java: str = ""
    options: dict = field(default_factory=dict)


class Result:
    """What the rounds of one run found."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self.values: dict[str, float] = {}
        self.answers: dict[str, list[list]] = {}

    def add(self, found: dict) -> None:
        for name in ("wall", "cpu"):
            times = getattr(self, name)
            for cell, ms in found[name].items():
                times[cell] = min(times.get(cell, ms), ms)
        self.values |= found["values"]
        self.answers |= found["answers"]

    def net(self, cell: str, base: str, unit: str = "wall") -> float | None:
        """A time less another, in ms, one at least."""
        times = getattr(self, unit)
        return max(1.0, times[cell] - times[base]) if cell in times and base in times else None


class Jvm:
    """The driver, seen from a script that runs inside it."""

    def __init__(self, contender: str, confs: dict[str, str]):
        # imported here: the other side, which starts the JVMs, has no pyspark
        from pyspark.sql import SparkSession

        builder = SparkSession.builder
        for key, value in {"spark.sql.adaptive.enabled": "false", "spark.sql.session.timeZone": "UTC", **confs}.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.contender = contender
        self.java = self.spark._jvm.java.lang
        self.bean = self.java.management.ManagementFactory.getOperatingSystemMXBean()
        self.pid = int(self.java.ProcessHandle.current().pid())
        self.found: dict[str, dict] = {"wall": {}, "cpu": {}, "values": {}, "answers": {}}
        self.loads: list[float] = []

    def time(self, cell: str, body: Callable[[], object], warm: int = 2, timed: int = 5, cap: float = 8, settle: float = 0) -> None:
        """Medians of wall time and of process CPU time (all threads) in ms, after `warm` times and `settle` seconds; a cell that has taken
        cap seconds stops after three times."""
        wall, cpu = [], []
        start = time.monotonic()
        while warm > 0 or time.monotonic() < start + settle:
            body()
            warm -= 1
        end = time.monotonic() + cap
        while len(wall) < timed and (len(wall) < min(3, timed) or time.monotonic() < end):
            used, start = self.bean.getProcessCpuTime(), time.monotonic()
            body()
            wall.append((time.monotonic() - start) * 1000)
            cpu.append((self.bean.getProcessCpuTime() - used) / 1e6)
        self.loads.append(os.getloadavg()[0])
        self.found["wall"][cell] = statistics.median(wall)
        self.found["cpu"][cell] = statistics.median(cpu)

    def source(self, name: str, df, warm: int = 1, timed: int = 2) -> None:
        """Times making the rows of df (cell name/source), which building a relation of them includes."""
        self.time(f"{name}/source", lambda: noop(df), warm, timed)

    def build(self, name: str, df, warm: int = 1, timed: int = 2) -> None:
        """Times caching df as relation `name` (cell name/build). Leaves it cached, as a view."""

        def cache() -> None:
            df.unpersist(blocking=True)
            df.cache().count()

        self.time(f"{name}/build", cache, warm, timed)
        relation = df._jdf.queryExecution().withCachedData()
        serializer = relation.cacheBuilder().serializer().getClass().getSimpleName()
        if serializer != CONTENDERS[self.contender].serializer:
            sys.exit(f"{name} was cached by {serializer}, not {CONTENDERS[self.contender].serializer}")
        info = self.stored(relation.cacheBuilder().cachedColumnBuffers().id())
        self.found["values"][f"{name}/memory"] = info.memSize()
        if info.diskSize():
            sys.exit(f"{name} does not fit into the heap")
        df.createOrReplaceTempView(name)

    def stored(self, rdd: int):
        return next(info for info in self.spark.sparkContext._jsc.sc().getRDDStorageInfo() if info.id() == rdd)

    def query(self, cell: str, sql: str, warm: int = 3, timed: int = 7, cap: float = 8, settle: float = 0) -> None:
        """Times a query and keeps its answer, which all contenders must agree on."""

        # planned anew each time: a DataFrame that is collected again finds its shuffle files and skips their stage
        def collect() -> list:
            return self.spark.sql(sql).collect()

        self.found["answers"][cell] = [[v if isinstance(v, float) else str(v) for v in row] for row in collect()]
        self.time(cell, collect, warm, timed, cap, settle)

    def live_heap(self) -> int:
        """Bytes that survive a full collection."""
        self.java.System.gc()
        runtime = self.java.Runtime.getRuntime()
        return runtime.totalMemory() - runtime.freeMemory()

    def resident(self) -> int:
        return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())[1]) << 10

    def native_bytes(self) -> int:
        """Quiver's counter of native memory, `nativeBytes` among the executor's metrics."""
        return self.spark._jvm.io.github.quiverspark.nativelib.Native.nativeBytes() if self.contender == "quiver" else 0

    @contextlib.contextmanager
    def sampled(self, read: Callable[[], int], pause: float) -> Iterator[list[int]]:
        """Calls read every `pause` seconds on another thread while the block runs; the list has the values."""
        values: list[int] = []
        done = threading.Event()

        def sample() -> None:
            while not done.wait(pause):
                values.append(read())

        thread = threading.Thread(target=sample)
        thread.start()
        try:
            yield values
        finally:
            done.set()
            thread.join()


def noop(df) -> None:
    """Makes all rows and drops them."""
    df.write.format("noop").mode("overwrite").save()


def submit(script: Path, run: Run, jars: dict[str, Path], scratch: Path) -> dict:
    """Runs measure() of the script in a JVM of its own."""
    out, log = scratch / "out.json", scratch / "log"
    out.unlink(missing_ok=True)
    command = [f"{os.environ['SPARK_HOME']}/bin/spark-submit", "--master", run.master, "--driver-memory", run.memory]
    # getProcessCpuTime is called by reflection
    java = f"--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED {run.java}".replace("{scratch}", str(scratch))
    command += ["--driver-java-options", java]
    # Comet wants to be on the class path of the JVM itself
    if run.contender == "quiver":
        command += ["--jars", str(jars["quiver"])]
    elif run.contender == "comet":
        command += ["--driver-class-path", str(jars["comet"])]
    confs = {"spark.ui.enabled": "false", "spark.log.level": "ERROR", "spark.local.dir": str(scratch), **CONTENDERS[run.contender].confs}
    for key, value in confs.items():
        command += ["--conf", f"{key}={value}"]
    command += [str(script), "--inside", run.contender, "--out", str(out), "--options", json.dumps(run.options)]
    if "BENCH_NICE" in os.environ:
        # a session of its own, whose autogroup can be given the same priority
        nice = 'echo "$0" > /proc/self/autogroup 2>/dev/null || true; exec nice -n "$0" "$@"'
        command = ["setsid", "--wait", "bash", "-c", nice, os.environ["BENCH_NICE"], *command]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("w") as text:
        if subprocess.run(command, env=env, stdout=text, stderr=subprocess.STDOUT).returncode or not out.exists():
            sys.exit(f"{run.name} failed; the end of its log:\n{log.read_text()[-6000:]}")
    return json.loads(out.read_text())


def same(one: list[list], other: list[list]) -> bool:
    """Whether two answers are equal; sums of doubles depend on their order a little."""
    if [len(row) for row in one] != [len(row) for row in other]:
        return False
    pairs = [pair for rows in zip(one, other, strict=True) for pair in zip(*rows, strict=True)]
    return all(math.isclose(a, b, rel_tol=1e-9) if isinstance(a, float) and isinstance(b, float) else a == b for a, b in pairs)


def compare_answers(results: dict[str, Result]) -> tuple[int, list[str]]:
    """How many answers were compared, and what differs."""
    first: dict[str, tuple[str, list[list]]] = {}
    compared, wrong = 0, []
    for name, result in results.items():
        for cell, answer in result.answers.items():
            other, expected = first.setdefault(cell, (name, answer))
            compared += other != name
            if not same(answer, expected):
                wrong.append(f"{cell}: {name} answers {answer[:3]}, {other} {expected[:3]}")
    return compared, wrong


def write_section(document: Path, section: str, text: str) -> None:
    begin, end = f"<!-- {section} -->", f"<!-- /{section} -->"
    before, found, rest = document.read_text().partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        sys.exit(f"{document} has no {begin} … {end}")
    document.write_text(f"{before}{begin}\n{text}{end}{after}")


def main(
    section: str,
    runs: list[Run],
    measure: Callable[[Jvm, dict], None],
    tables: Callable[[dict[str, Result]], list[str]],
    rounds: int = 1,
) -> None:
    args = argparse.ArgumentParser()
    args.add_argument("--jar", type=Path, help="Quiver's")
    args.add_argument("--comet", type=Path, help="Comet's jar")
    args.add_argument("--doc", type=Path, help="the document to write the section into")
    args.add_argument("--inside", help="used by itself: measure, as this contender")
    args.add_argument("--out", type=Path)
    args.add_argument("--options", type=json.loads)
    a = args.parse_args()
    if a.inside:
        jvm = Jvm(a.inside, a.options.pop("confs", {}))
        measure(jvm, a.options)
        a.out.write_text(json.dumps({**jvm.found, "loads": jvm.loads}))
        return
    script = Path(sys.modules["__main__"].__file__).resolve()
    rounds = int(os.environ.get("BENCH_ROUNDS", rounds))
    results = {run.name: Result() for run in runs}
    loads: list[float] = []
    with tempfile.TemporaryDirectory(prefix="quiver-bench-") as folder:
        for turn in range(rounds):
            for run in runs:
                print(f"[bench] round {turn + 1} of {rounds}: {run.name}", file=sys.stderr, flush=True)
                found = submit(script, run, {"quiver": a.jar, "comet": a.comet}, Path(folder))
                results[run.name].add(found)
                loads += found["loads"]
    compared, wrong = compare_answers(results)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip() or "unknown"
    head = f"Commit {commit}, `make bench-{section}`, {platform.machine()} with {os.cpu_count()} cores"
    head += f", load average while timing {min(loads):.1f} to {max(loads):.1f}" if loads else ""
    head += f", {rounds} rounds" if rounds > 1 else ""
    head += f", {compared} answers compared between contenders{'' if wrong else ', all equal'}." if compared else "."
    text = "\n".join([head, "", *tables(results), ""])
    print(text)
    if wrong:
        sys.exit("NOT EQUAL:\n" + "\n".join(wrong))
    if a.doc:
        write_section(a.doc, section, text)


def times(value: float | None, other: float | None) -> str:
    """The ratio of two times, as the tables show it."""
    return "–" if value is None or other is None else f"{value / other:.2f}"


def ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"

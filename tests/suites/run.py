"""Runs Spark's own published test suites of its cache with Quiver, and compares the outcome with expected.json, both ways.

usage: run.py --jar QUIVER_JAR [--mode MODE] [--test EXPRESSION]

Modes (default: the first two):
  plugin     spark.plugins is set: our serializer and our scan
  by-hand    spark.sql.cache.serializer is set: our serializer, read by Spark's own scan, which some suites look for by its class
  reference  Spark's own format; shows that the suites pass here

A test that fails and is not expected to, one that passes although a difference is expected, and one that did not run fail the run. So
does a test in which Quiver encoded no batch unless it is listed as one that has none: a test that brings its own serializer, or caches
nothing, proves nothing. The launcher reads the encoder's counters (WriteCounters) at the end of each test.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "suites"
CACHE = Path(os.environ.get("QUIVER_CACHE") or ROOT / ".cache")

MODES = {
    "plugin": {"spark.plugins": "io.github.quiverspark.QuiverPlugin"},
    "by-hand": {"spark.sql.cache.serializer": "io.github.quiverspark.QuiverCachedBatchSerializer"},
    "reference": {},
}

#: suite -> regular expression: tests in whose name it is found are run
SUITES = {
    "org.apache.spark.sql.CachedTableSuite": "",
    "org.apache.spark.sql.DatasetCacheSuite": "",
    "org.apache.spark.sql.execution.columnar.InMemoryColumnarQuerySuite": "",
    "org.apache.spark.sql.execution.columnar.PartitionBatchPruningSuite": "",
    "org.apache.spark.sql.execution.adaptive.AdaptiveQueryExecSuite": "(?i)cache|persist|InMemory|TableScan",
}

#: what spark-submit passes on JDK 17
_OPENED = "lang lang.invoke lang.reflect io net nio util util.concurrent util.concurrent.atomic"
_OPENED_SUN = "nio.ch nio.cs security.action util.calendar"

#: Spark's build sets these for its suites
_SPARK_BUILD = {
    "spark.testing": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.unsafe.exceptionOnMemoryLeak": "true",
    "spark.memory.debugFill": "true",
    "derby.system.durability": "test",
}

#: Seconds for all suites of a mode.
TIMEOUT = 3600
#: Some tests give a query two seconds, which a busy machine may not have: they have a second chance.
TIMED_OUT = "TestFailedDueToTimeoutException"


@dataclass
class Outcome:
    """Of one test."""

    suite: str
    test: str
    outcome: str
    batches: int
    delegated: int
    reason: str
    seconds: float

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


@dataclass
class Listed:
    """One list of expected.json, for one mode: (suite, test) -> the entry it stands in."""

    entries: dict[tuple[str, str], dict] = field(default_factory=dict)

    @staticmethod
    def load(name: str, mode: str) -> "Listed":
        listed = Listed()
        for entry in json.loads((HERE / "expected.json").read_text())[name]:
            if mode in entry["modes"]:
                for suite, tests in entry["tests"].items():
                    for test in tests:
                        if (suite, test) in listed.entries:
                            raise ValueError(f"{test} of {suite} is listed twice in {name}")
                        listed.entries[suite, test] = entry
        return listed


def class_path() -> str:
    """The suites and all they need, from Maven; asked for again when pom.xml has changed or a file is gone."""
    pom = HERE / "pom.xml"
    stored = CACHE / f"suites-{hashlib.sha256(pom.read_bytes()).hexdigest()[:16]}.classpath"
    if stored.exists() and all(Path(p).exists() for p in stored.read_text().strip().split(":")):
        return stored.read_text().strip()
    print("[suites] class path of Spark's suites from Maven (about 40 MB beside Spark, once)", file=sys.stderr)
    made = WORK / "classpath"
    mvn = ["mvn", "-q", "-B", "-f", str(pom), "dependency:build-classpath", f"-Dmdep.outputFile={made}", "-Dmdep.regenerateFile=true"]
    subprocess.run(mvn, check=True, timeout=1800, stdout=sys.stderr)
    CACHE.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(made, stored)
    return stored.read_text().strip()


def launcher(path: str) -> Path:
    """The launcher's classes, compiled anew."""
    classes = WORK / "classes"
    shutil.rmtree(classes, ignore_errors=True)
    classes.mkdir(parents=True)
    sources = sorted(map(str, (HERE / "java").rglob("*.java")))
    subprocess.run(["javac", "-nowarn", "-proc:none", "-d", str(classes), "-cp", path, *sources], check=True)
    return classes


def run(mode: str, path: str, selection: dict[str, str], name: str) -> list[Outcome]:
    """Runs tests in a JVM of their own. An unfinished run raises."""
    folder = WORK / mode
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    results, log = folder / f"{name}.jsonl", folder / f"{name}.log"
    line = ["java", "-Xmx3g", "-Xss4m", f"-Djava.io.tmpdir={folder}/tmp"]
    line += [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in _OPENED.split()]
    line += [f"--add-opens=java.base/sun.{p}=ALL-UNNAMED" for p in _OPENED_SUN.split()]
    line += [f"-D{key}={value}" for key, value in {**_SPARK_BUILD, **MODES[mode]}.items()]
    line += ["-cp", path, "io.github.quiverspark.suites.RunSuites", str(results)]
    for suite, pattern in selection.items():
        line += [suite, pattern]
    env = {k: v for k, v in os.environ.items() if not k.startswith("SPARK_")}
    env.update(SPARK_TESTING="1", SPARK_LOCAL_IP="127.0.0.1")
    with log.open("w") as out:
        code = subprocess.run(line, cwd=folder, env=env, stdout=out, stderr=subprocess.STDOUT, timeout=TIMEOUT).returncode
    if code:
        raise RuntimeError(f"the launcher ended with code {code}; see {log}")
    return [Outcome(**json.loads(x)) for x in results.read_text().splitlines()]


def second_chance(mode: str, path: str, outcomes: list[Outcome]) -> list[Outcome]:
    late = [o for o in outcomes if not o.passed and TIMED_OUT in o.reason]
    if not late:
        return outcomes
    selection: dict[str, list[str]] = {}
    for o in late:
        selection.setdefault(o.suite, []).append(rf"^{re.escape(o.test)}$")
    again = run(mode, path, {suite: "|".join(tests) for suite, tests in selection.items()}, "again")
    replaced = {(o.suite, o.test): o for o in again}
    return [replaced.get((o.suite, o.test), o) for o in outcomes]


def compare(mode: str, outcomes: list[Outcome], whole: bool) -> list[str]:
    """What is not as expected.json says. whole: all tests were to run."""
    wrong: list[str] = []
    differences, without = Listed.load("differences", mode), Listed.load("without_batches", mode)
    for o in outcomes:
        short = o.suite.rpartition(".")[2]
        title = f"{short}: {o.test}"
        expected = differences.entries.pop((short, o.test), None)
        first = o.reason.partition("\n\tat ")[0][:1500]
        if o.outcome == "ignored":
            wrong += [f"{title}: is ignored by its suite, yet listed"] if expected else []
        elif expected and o.passed:
            wrong.append(f"{title}: passes, yet a difference is listed: {expected['reason']}")
        elif expected and not re.search(expected["failure"], o.reason):
            wrong.append(f"{title}: fails otherwise than listed ({expected['failure']}):\n{first}")
        elif not expected and not o.passed:
            wrong.append(f"{title}: {o.outcome}\n{first}")
        if mode == "reference" or o.outcome == "ignored":
            continue
        bare = without.entries.pop((short, o.test), None)
        if o.batches == 0 and not bare:
            wrong.append(f"{title}: no batch was encoded by Quiver")
        elif o.batches and bare:
            wrong.append(f"{title}: Quiver encoded {o.batches} batches, yet it is listed as a test without: {bare['reason']}")
        if o.delegated:
            wrong.append(f"{title}: {o.delegated} relations were left to Spark's own format")
    if whole:
        wrong += [f"{suite}: {test}: listed, but did not run" for listed in (differences, without) for suite, test in listed.entries]
    return wrong


def summary(mode: str, outcomes: list[Outcome]) -> str:
    ran = [o for o in outcomes if o.outcome != "ignored"]
    held = [o for o in ran if o.batches]
    return (
        f"[suites] {mode}: {len({o.suite for o in ran})} suites, {len(ran)} tests, {sum(o.passed for o in ran)} passed,"
        f" {sum(not o.passed for o in ran)} failed (differences listed: {len(Listed.load('differences', mode).entries)});"
        f" {len(held)} held batches of Quiver, of which {sum(o.passed for o in held)} passed"
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--jar", required=True, type=Path)
    parser.add_argument("--mode", choices=list(MODES), action="append")
    parser.add_argument("--test", default="", help="regular expression: only tests in whose name it is found")
    args = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    path = f"{args.jar.resolve()}:{class_path()}"
    path = f"{launcher(path)}:{path}"
    # both expressions must be found
    selection = {suite: f"^(?=.*(?:{pattern}))(?=.*(?:{args.test}))" for suite, pattern in SUITES.items()}
    failed = False
    lines = []
    for mode in args.mode or ["plugin", "by-hand"]:
        outcomes = second_chance(mode, path, run(mode, path, selection, "all"))
        wrong = compare(mode, outcomes, whole=not args.test)
        failed = failed or bool(wrong) or not outcomes
        for text in wrong:
            print(f"[suites] {mode}: {text}")
        lines.append(summary(mode, outcomes))
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

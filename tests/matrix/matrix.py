"""The integration tests on every line of Spark and every JDK that the line runs on; what came out, and a table of it for the docs.

usage: matrix.py run [--lines "3.5 4.1"] [--jdks "17 25"] [--select EXPRESSION]   runs them, adds to tests/matrix/results.jsonl
       matrix.py docs                                                             the tables of docs/compatibility.md
       matrix.py entries                                                          line and JDK pairs as JSON, for a workflow

java/lines.tsv says which lines there are and on which JDKs they run. A JDK that this machine lacks is fetched, if tests/tools/jdk.sh
has it, or else left out, and named. A run of the same line, JDK, architecture and selection takes the place of an earlier one.
"""

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("QUIVER_CACHE") or ROOT / ".cache")
RESULTS = Path(__file__).parent / "results.jsonl"
#: what tests/tools/jdk.sh can fetch
FETCHED = (8, 11, 21)
PAGE = ROOT / "docs" / "compatibility.md"

sys.path.insert(0, str(ROOT / "tests" / "spark"))
import lines as missing  # noqa: E402


@dataclass(frozen=True)
class Line:
    name: str
    scala: str
    built: str
    release: str
    bytecode: str
    jdks: tuple[int, ...]

    @property
    def tested(self) -> bool:
        return self.release != "-"


@dataclass(frozen=True)
class Result:
    line: str
    release: str
    jdk: str
    arch: str
    library: str
    select: str
    passed: int
    failed: int
    skipped: int
    date: str

    def key(self) -> tuple:
        return self.line, major(self.jdk), self.arch, self.select


def major(jdk: str) -> int:
    """17 of 17.0.15, 8 of 1.8.0_372."""
    return int(re.split(r"\D", jdk.removeprefix("1."))[0])


def spark_lines() -> list[Line]:
    rows = [r.split("\t") for r in (ROOT / "java" / "lines.tsv").read_text().splitlines() if not r.startswith("#")]
    return [Line(*r[:5], tuple(int(j) for j in r[5].split(","))) for r in rows]


def results() -> list[Result]:
    return [Result(**json.loads(r)) for r in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


# ---- running


def jdks() -> dict[int, tuple[Path, str]]:
    """Version -> home and full version of the JDKs here.

    JAVA_HOME, those beside it, those that JAVA_HOME_<version>_<arch> name, and those that were fetched.
    """
    own = Path(os.environ["JAVA_HOME"]).resolve()
    homes = [own, *sorted(own.parent.iterdir())]
    homes += [Path(v) for k, v in os.environ.items() if re.fullmatch(r"JAVA_HOME_\d+_\w+", k)]
    homes += sorted(CACHE.glob("jdk-*"))
    found: dict[int, tuple[Path, str]] = {}
    for home in homes:
        release = home / "release"
        match = re.search(r'^JAVA_VERSION="([^"]*)"', release.read_text(), re.M) if release.exists() else None
        if match and (home / "bin" / "java").exists():
            found.setdefault(major(match[1]), (home, match[1]))
    return found


def jdk(version: int) -> tuple[Path, str] | None:
    """Home and full version of a JDK, fetched if it is not here and can be."""
    if version not in jdks() and version in FETCHED:
        subprocess.run([ROOT / "tests" / "tools" / "jdk.sh", str(version)], check=False)
    return jdks().get(version)


def counts(report: Path) -> tuple[int, int, int]:
    """Passed, failed, skipped of a JUnit report."""
    suite = ET.parse(report).getroot().find("testsuite")
    total, failed, errors, skipped = (int(suite.get(k)) for k in ("tests", "failures", "errors", "skipped"))
    return total - failed - errors - skipped, failed + errors, skipped


def run_one(line: Line, jdk: str, home: Path, select: str) -> Result:
    library = "release" if os.environ.get("JARS") == "dist" else "host"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        make = ["make", "test-spark", f"SPARK={line.name}", f"T={select}", f"JARS={os.environ.get('JARS') or 'build/jars'}"]
        env = {**os.environ, "PYTEST_ADDOPTS": f"--junitxml={report}", "QUIVER_TEST_JAVA_HOME": str(home)}
        # built on the JDK of make; only the tests run on the other
        subprocess.run(make, cwd=ROOT, env=env, check=False)
        if not report.exists():
            raise SystemExit(f"Spark {line.name} on JDK {jdk}: the tests did not start")
        passed, failed, skipped = counts(report)
    return Result(
        line.name,
        line.release,
        jdk,
        platform.machine(),
        library,
        select,
        passed,
        failed,
        skipped,
        datetime.datetime.now(datetime.UTC).date().isoformat(),
    )


def run(wanted_lines: str, wanted_jdks: str, select: str) -> int:
    bad = 0
    for line in spark_lines():
        if not line.tested or (wanted_lines and line.name not in wanted_lines.split()):
            continue
        for version in line.jdks:
            if wanted_jdks and str(version) not in wanted_jdks.split():
                continue
            here = jdk(version)
            if here is None:
                print(f"[matrix] Spark {line.name}: no JDK {version} on this machine, left out", flush=True)
                continue
            home, full = here
            print(f"[matrix] Spark {line.name} ({line.release}) on JDK {full}", flush=True)
            result = run_one(line, full, home, select)
            print(f"[matrix] {result.passed} passed, {result.failed} failed, {result.skipped} skipped", flush=True)
            bad += result.failed
            kept = [r for r in results() if r.key() != result.key()]
            RESULTS.write_text("".join(json.dumps(asdict(r)) + "\n" for r in sorted([*kept, result], key=Result.key)))
    return 1 if bad else 0


# ---- tables


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head), *rows])


def tables() -> dict[str, str]:
    known = results()
    lines = spark_lines()
    built = [[x.name, x.scala, x.built, x.bytecode, ", ".join(map(str, x.jdks))] for x in lines]
    tested = []
    for line in (x for x in lines if x.tested):
        of_line = [r for r in known if r.line == line.name]
        for r in of_line:
            what = f"`{r.select}`" if r.select else "all"
            lib = "released" if r.library == "release" else "this machine's"
            counted = f"{r.passed} passed, {r.failed} failed, {r.skipped} skipped"
            tested.append([line.name, r.release, r.jdk, r.arch, lib, what, counted, r.date])
        for version in line.jdks:
            if not any(major(r.jdk) == version for r in of_line):
                tested.append([line.name, line.release, str(version), "–", "–", "nothing yet", "–", "–"])
    not_there = [[", ".join(m.lines), f"`{m.cases.replace('|', chr(92) + '|')}`", m.reason] for m in missing.MISSING]
    return {
        "lines": table(["Spark", "Scala", "compiled against", "Java byte code", "JDKs that Spark names"], built),
        "tested": table(["Spark", "release", "JDK", "processor", "library", "tests", "outcome", "date"], tested),
        "missing": table(["Spark", "cases", "reason"], not_there),
    }


def docs() -> int:
    text = PAGE.read_text()
    for name, made in tables().items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        assert begin in text and end in text, f"{PAGE.name} has no place for {name}"
        text = text[: text.index(begin) + len(begin)] + f"\n{made}\n" + text[text.index(end) :]
    PAGE.write_text(text)
    return 0


def entries() -> int:
    print(json.dumps([{"line": x.name, "jdk": j} for x in spark_lines() if x.tested for j in x.jdks]))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "docs", "entries"])
    for option in ("lines", "jdks", "select"):
        parser.add_argument(f"--{option}", default="")
    args = parser.parse_args()
    if args.what == "run":
        return run(args.lines, args.jdks, args.select)
    return docs() if args.what == "docs" else entries()


if __name__ == "__main__":
    sys.exit(main())

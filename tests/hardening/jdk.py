"""The JDKs of this machine, and plain Java programs run on them with Quiver's jar."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import submit

#: What Spark's own scripts pass, as far as these programs need it; silent about what newer JDKs deprecate.
OPTIONS = ["-Xmx512m", "-XX:+UseG1GC", "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"]


@dataclass(frozen=True)
class Jdk:
    version: int
    home: Path


def _home() -> Path:
    given = os.environ.get("JAVA_HOME")
    return Path(given) if given else Path(shutil.which("javac")).resolve().parents[1]


def found() -> list[Jdk]:
    """The JDK in use and, of those installed beside it, the newest; at least 17 both."""
    own = _home().resolve()
    versions = {}
    for home in [own, *sorted(own.parent.iterdir())]:
        release = home / "release"
        if not (home / "bin" / "javac").exists() or not release.exists():
            continue
        match = re.search(r'^JAVA_VERSION="(\d+)', release.read_text(), re.M)
        if match and int(match[1]) >= 17:
            versions.setdefault(int(match[1]), home)
    newest = max(versions)
    current = next(v for v, home in versions.items() if home == own)
    return [Jdk(v, versions[v]) for v in sorted({current, newest})]


def compiled(sources: Path, classes: Path, jar: Path) -> Path:
    """The folder of compiled classes, made anew."""
    shutil.rmtree(classes, ignore_errors=True)
    classes.mkdir(parents=True)
    line = [str(_home() / "bin" / "javac"), "-nowarn", "-proc:none", "--release", "17", "-d", str(classes)]
    line += ["-cp", f"{jar}:{submit.SPARK_HOME}/jars/*", *map(str, sorted(sources.glob("*.java")))]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return classes


@dataclass
class Output:
    code: int
    out: str
    err: str

    @property
    def figures(self) -> dict[str, float]:
        """The key=value words of the line "figures"; the process must have ended well."""
        assert self.code == 0, f"exit code {self.code}\n{self.out[-2000:]}\n{self.err[-6000:]}"
        lines = [x for x in self.out.splitlines() if x.startswith("figures ")]
        assert len(lines) == 1, self.out[-2000:]
        return {k: float(v) for k, _, v in (word.partition("=") for word in lines[0].split()[1:])}


@dataclass
class Harness:
    jar: Path
    classes: Path

    def line(self, java: Jdk, *program: str, options: tuple[str, ...] = ()) -> list[str]:
        path = f"{self.jar}:{self.classes}:{submit.SPARK_HOME}/jars/*"
        return [str(java.home / "bin" / "java"), *OPTIONS, *options, "-cp", path, *map(str, program)]

    def environment(self, extra: dict[str, str] | None = None) -> dict[str, str]:
        return {**submit.environment(), **(extra or {})}

    def run(self, java: Jdk, *program, options: tuple[str, ...] = (), cwd: Path, env: dict[str, str] | None = None, timeout=300) -> Output:
        line = self.line(java, *program, options=options)
        done = subprocess.run(line, cwd=cwd, env=self.environment(env), capture_output=True, text=True, timeout=timeout)
        return Output(done.returncode, done.stdout, done.stderr)

"""One short application whose whole log is read: how it was started, and what it said. As a pytest plugin: the fixture `run`."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import groups, submit

#: what startup_app.py must find
RIGHT = ["4900", str(sum(range(100, 5000))), "s999", f"{sum(range(100, 5000))}.00"]


@dataclass
class Run:
    code: int
    log: str
    found: dict

    def lines(self, *words: str) -> list[str]:
        # Spark's metrics system warns of every plugin's metrics by the plugin's class name
        return [line for line in self.log.splitlines() if all(w in line for w in words) and "MetricsSystem" not in line]

    def stored_by_quiver(self) -> bool:
        assert self.code == 0, self.log[-6000:]
        assert self.found["answer"] == RIGHT
        quiver = self.found["serializers"] == [groups.SERIALIZER] and self.found["batches"] == [groups.BATCH]
        spark = self.found["serializers"] == [groups.SPARK_SERIALIZER] and self.found["batches"] == [groups.SPARK_BATCH]
        assert quiver != spark, self.found
        return quiver

    def off_with_one_warning(self, *words: str) -> None:
        """Spark's own format, and one warning with the reason and the way out."""
        assert not self.stored_by_quiver()
        warnings = self.lines("WARN", "Quiver")
        assert len(warnings) == 1, warnings
        assert all(w in warnings[0] for w in words), warnings
        assert self.found["status"].startswith("off: ")
        assert "Quiver" not in self.found["plan"]


def start(
    scratch: Path,
    confs: dict[str, str] | None = None,
    jar: Path | None = None,
    plugin: bool = True,
    environment: dict[str, str] | None = None,
    app: str = "spark/startup_app.py",
    **group,
) -> Run:
    """Runs an application of the tests folder; jar in place of Quiver's, additions to the environment, fields of the group."""
    line = submit.command(groups.Group(plugin=plugin, **group), "quiver", scratch, confs or {})
    if jar is not None:
        at = line.index("--jars") + 1
        line[at] = ",".join([str(jar), *line[at].split(",")[1:]])
    line.append(str(submit.ROOT / "tests" / app))
    env = {**submit.environment(submit.spark_home(scratch)), **(environment or {})}
    done = subprocess.run(line, cwd=scratch, env=env, capture_output=True, text=True, timeout=600)
    log = done.stdout + done.stderr
    found = [json.loads(x[6:]) for x in done.stdout.splitlines() if x.startswith("FOUND ")]
    return Run(done.returncode, log, found[0] if found else {})


@pytest.fixture
def run(request, tmp_path):
    if request.config.getoption("format") != "quiver":
        pytest.skip("about the plugin")

    return lambda *args, **kwargs: start(tmp_path, *args, **kwargs)

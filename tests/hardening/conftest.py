"""JDKs, the compiled harness, and where the figures of a run are collected."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "spark"))
sys.path.insert(0, str(HERE.parent / "abi"))

import jdk  # noqa: E402
from harness import submit  # noqa: E402
from harness.groups import Group  # noqa: E402

FIGURES = ROOT / "build" / "hardening" / "figures.jsonl"


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the amounts of `make hardening`, and the tests marked long")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: minutes; only with --full")


def pytest_collection_modifyitems(config, items):
    """Without --full or -k the tests that take minutes are left out."""
    if config.getoption("full") or config.getoption("keyword"):
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_generate_tests(metafunc):
    if "java" in metafunc.fixturenames:
        metafunc.parametrize("java", jdk.found(), ids=lambda j: f"jdk{j.version}", scope="session")


@pytest.fixture(scope="session")
def full(request) -> bool:
    return request.config.getoption("full")


@pytest.fixture(scope="session")
def jar() -> Path:
    arguments = submit.quiver_arguments()
    return Path(arguments[arguments.index("--jars") + 1])


@pytest.fixture(scope="session")
def guest(jar) -> jdk.Harness:
    classes = ROOT / "build" / "hardening" / "classes"
    return jdk.Harness(jar, jdk.compiled(HERE / "java", classes, jar))


@pytest.fixture
def figures(request):
    """Adds numbers to the record from which tests/hardening/report.py makes its line."""

    def add(**numbers) -> None:
        FIGURES.parent.mkdir(parents=True, exist_ok=True)
        with FIGURES.open("a") as out:
            out.write(json.dumps({"test": request.node.name, "time": round(time.time()), **numbers}) + "\n")

    return add


@pytest.fixture
def spark_app(tmp_path):
    """Runs an application of apps/ through spark-submit; the dictionary that it prints as FOUND. file_format: "spark" for Spark's own."""

    def run(name: str, *arguments, group=None, confs=None, timeout: int = 300, file_format: str = "quiver") -> dict:
        line = submit.command(group or Group(), file_format, tmp_path, confs or {})
        line += [str(HERE / "apps" / name), *map(str, arguments)]
        env = {**submit.environment(), "PYTHONPATH": os.pathsep.join([str(HERE / "apps"), str(HERE.parent / "spark")])}
        done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=timeout)
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
        found = [json.loads(x[6:]) for x in done.stdout.splitlines() if x.startswith("FOUND ")]
        assert len(found) == 1, (done.stdout + done.stderr)[-6000:]
        return found[0]

    return run

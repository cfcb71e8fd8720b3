"""Command lines of spark-submit, and the few files they need."""

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

from .groups import Group

ROOT = Path(__file__).resolve().parents[3]
CACHE = Path(os.environ.get("QUIVER_CACHE") or ROOT / ".cache")
#: the Spark line under test, which make sets together with SPARK_HOME
LINE = os.environ.get("QUIVER_SPARK_LINE") or "4.1"
SPARK_HOME = Path(os.environ.get("SPARK_HOME") or CACHE / "spark-4.1.4" / "pyspark")
PYTHON = CACHE / "venv" / "bin" / "python"
#: logs, results and compiled helpers; QUIVER_TEST_OUT lets two runs go on side by side
WORK = Path(os.environ.get("QUIVER_TEST_OUT") or ROOT / "build" / "spark-tests") / LINE
TPCH = CACHE / "tpch-0.01"
HOOKS_LIBRARY = ROOT / "build" / "hooks" / "libquiver.so"

_JAVA = Path(__file__).resolve().parents[1] / "java"


def quiver_arguments() -> list[str]:
    """What `make spark-conf` prints. QUIVER_SPARK_CONF (a file with those lines) saves the call."""
    given = os.environ.get("QUIVER_SPARK_CONF")
    if given:
        return Path(given).read_text().split("\n")[:4]
    done = subprocess.run(["make", "-s", "spark-conf", f"SPARK={LINE}"], cwd=ROOT, capture_output=True, text=True, timeout=1200)
    if done.returncode:
        raise RuntimeError(f"make spark-conf failed:\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines()


def helper_jar() -> Path:
    """The Java side of the harness, compiled against the Spark under test when its sources have changed.

    For Java 8 on every line, also those that need a newer one: what Spark 3.x on JDK 8 could not load does not compile anywhere.
    """
    jar = WORK / "harness.jar"
    sources = sorted(_JAVA.rglob("*.java"))
    if not jar.exists() or any(s.stat().st_mtime > jar.stat().st_mtime for s in [*sources, Path(__file__)]):
        classes = WORK / "harness-classes"
        shutil.rmtree(classes, ignore_errors=True)
        classes.mkdir(parents=True)
        javac = ["javac", "--release", "8", "-nowarn", "-proc:none", "-d", str(classes), "-cp", f"{SPARK_HOME}/jars/*", *map(str, sources)]
        done = subprocess.run(javac, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        made = jar.with_suffix(".tmp")
        subprocess.run(["jar", "cf", str(made), "-C", str(classes), "."], check=True)
        made.rename(jar)
    return jar


def maven_folder(jar: Path, folder: Path) -> str:
    """Lays the jar and the pom inside it out as `mvn deploy` does, and nothing else; returns the coordinates."""
    version = (ROOT / "VERSION").read_text().strip()
    artifact = jar.name.removesuffix(f"-{version}.jar")
    target = folder / "io" / "github" / "quiverspark" / artifact / version / jar.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(jar, target)
    target.with_suffix(".pom").write_bytes(pom_of(jar))
    return f"io.github.quiverspark:{artifact}:{version}"


def pom_of(jar: Path) -> bytes:
    """The one pom that the jar has."""
    with zipfile.ZipFile(jar) as z:
        (name,) = (n for n in z.namelist() if n.endswith("/pom.xml"))
        return z.read(name)


def spark_home(folder: Path) -> Path:
    """A Spark home that is the real one but for its folder work, where local-cluster keeps what its executors write."""
    home = folder / "spark-home"
    home.mkdir(exist_ok=True)
    for entry in SPARK_HOME.iterdir():
        link = home / entry.name
        if entry.name != "work" and not link.is_symlink():
            link.symlink_to(entry)
    return home


def environment(home: Path = SPARK_HOME) -> dict[str, str]:
    """Environment of spark-submit: this Spark, this Python, nothing of the caller's Spark settings."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_", "PYTHONPATH"))}
    if os.environ.get("QUIVER_TEST_JAVA_HOME"):  # another JDK than the one that has built the jar
        env["JAVA_HOME"] = os.environ["QUIVER_TEST_JAVA_HOME"]
    env.update(SPARK_HOME=str(home), SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=str(PYTHON), PYSPARK_DRIVER_PYTHON=str(PYTHON))
    return env


def command(group: Group, file_format: str, scratch: Path, extra: dict[str, str] | None = None) -> list[str]:
    """spark-submit up to, not including, the application."""
    confs = {
        "spark.master": group.master,
        "spark.driver.memory": group.memory,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "America/Los_Angeles",
        "spark.sql.timeType.enabled": "true",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.local.dir": str(scratch / "local"),
    }
    jars, packages = [str(helper_jar())], []
    java_options = []
    if file_format == "quiver":
        arguments = quiver_arguments()
        jar = arguments[arguments.index("--jars") + 1]
        if group.packages:
            packages = ["--packages", maven_folder(Path(jar), scratch / "maven"), "--repositories", (scratch / "maven").as_uri()]
            confs["spark.jars.ivy"] = str(scratch / "ivy")
        else:
            jars.insert(0, jar)
        if group.plugin:
            key, _, value = arguments[arguments.index("--conf") + 1].partition("=")
            confs[key] = value
        if group.hooks:
            java_options.append(f"-Dquiver.native.path={HOOKS_LIBRARY}")
        confs.update(group.confs)
    else:
        confs.update({k: v for k, v in group.confs.items() if "quiver" not in v})
    confs.update(extra or {})
    if java_options:
        confs["spark.driver.extraJavaOptions"] = " ".join([confs.get("spark.driver.extraJavaOptions", ""), *java_options]).strip()
    line = [str(SPARK_HOME / "bin" / "spark-submit"), "--jars", ",".join(jars), *packages]
    for key, value in confs.items():
        line += ["--conf", f"{key}={value}"]
    return line

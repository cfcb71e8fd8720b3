"""The jar as users get it: by --packages with nothing else resolved, and with class files that every JDK of its line loads."""

import struct
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import pytest
from harness import submit


@pytest.mark.parametrize("plugin", [True, False])
def test_packages(run, tmp_path, plugin):
    """With the plugin and with the serializer set by hand. Spark itself and the test's helper are all that is on the class path."""
    confs = {} if plugin else {"spark.sql.cache.serializer": "io.github.quiverspark.QuiverCachedBatchSerializer"}
    got = run(confs, plugin=plugin, packages=True)
    assert got.stored_by_quiver()
    fetched = sorted(p.name for p in (tmp_path / "ivy" / "jars").iterdir())
    assert len(fetched) == 1 and fetched[0].startswith("io.github.quiverspark_quiver-spark-"), fetched


def quiver_jar() -> Path:
    arguments = submit.quiver_arguments()
    return Path(arguments[arguments.index("--jars") + 1])


def test_pom():
    """What is inside the jar is all that a repository needs: no parent, nothing that Maven would have to fill in, nothing to resolve."""
    text = submit.pom_of(quiver_jar()).decode()
    pom = ElementTree.fromstring(text)
    m = {"m": "http://maven.apache.org/POM/4.0.0"}
    assert pom.find("m:parent", m) is None, text
    assert "${" not in text and "<systemPath>" not in text, text
    version = (submit.ROOT / "VERSION").read_text().strip()
    coordinates = [pom.findtext(f"m:{element}", namespaces=m) for element in ("groupId", "artifactId", "version")]
    assert coordinates == ["io.github.quiverspark", quiver_jar().name.removesuffix(f"-{version}.jar"), version]
    scopes = {d.findtext("m:scope", namespaces=m) for d in pom.iterfind("m:dependencies/m:dependency", m)}
    assert scopes <= {"provided"}, text


def test_class_files():
    """What java/lines.tsv promises, in the jar itself; also of the test's helper, without which no JDK 8 could run these tests."""
    rows = [r.split("\t") for r in (submit.ROOT / "java" / "lines.tsv").read_text().splitlines()]
    promised = next(int(r[4]) for r in rows if r[0] == submit.LINE)
    for jar, java in ((quiver_jar(), promised), (submit.helper_jar(), 8)):
        with zipfile.ZipFile(jar) as z:
            versions = {n: struct.unpack(">IHH", z.read(n)[:8])[2] for n in z.namelist() if n.endswith(".class")}
        assert versions
        other = {n: v for n, v in versions.items() if v != 44 + java}
        assert not other, f"{jar}: not of Java {java}: {other}"

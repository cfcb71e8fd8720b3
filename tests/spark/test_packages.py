"""The jar as users get it: by --packages with nothing else resolved, and with class files that every JDK of its line loads."""

import struct
import zipfile

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


def test_class_files():
    """What java/lines.tsv promises, in the jar itself; also of the test's helper, without which no JDK 8 could run these tests."""
    rows = [r.split("\t") for r in (submit.ROOT / "java" / "lines.tsv").read_text().splitlines()]
    promised = next(int(r[4]) for r in rows if r[0] == submit.LINE)
    arguments = submit.quiver_arguments()
    for jar, java in ((arguments[arguments.index("--jars") + 1], promised), (submit.helper_jar(), 8)):
        with zipfile.ZipFile(jar) as z:
            versions = {n: struct.unpack(">IHH", z.read(n)[:8])[2] for n in z.namelist() if n.endswith(".class")}
        assert versions
        other = {n: v for n, v in versions.items() if v != 44 + java}
        assert not other, f"{jar}: not of Java {java}: {other}"

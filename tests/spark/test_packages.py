"""The jar as users get it from a repository: by --packages, with nothing else resolved."""

import pytest


@pytest.mark.parametrize("plugin", [True, False])
def test_packages(run, tmp_path, plugin):
    """With the plugin and with the serializer set by hand. Spark itself and the test's helper are all that is on the class path."""
    confs = {} if plugin else {"spark.sql.cache.serializer": "io.github.quiverspark.QuiverCachedBatchSerializer"}
    got = run(confs, plugin=plugin, packages=True)
    assert got.stored_by_quiver()
    fetched = sorted(p.name for p in (tmp_path / "ivy" / "jars").iterdir())
    assert len(fetched) == 1 and fetched[0].startswith("io.github.quiverspark_quiver-spark-"), fetched

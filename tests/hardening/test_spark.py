"""Memory, kills, limits and contexts, through spark-submit."""

import pytest
from harness.groups import Group

# bytes a relation; least squares over resident memory differ by about as much from run to run, with either format
RELATION_MARGIN = 10_000


@pytest.mark.long
def test_second_context(spark_app):
    got = spark_app("contexts.py", timeout=600)
    for answer, batches, status, native in got["results"]:
        assert answer == ["5000", str(sum(range(5000))), "s999"]
        assert batches == [got["batch"]] and status == "on" and native == 0
    assert len(got["results"]) == 3


@pytest.mark.long
def test_native_limit(spark_app):
    """At what the default grants at least (16 batches of 4 MiB for each of two threads) usual batches work with every codec; larger ones
    end in a failure that names the setting and the way out, and the application goes on."""
    usual = spark_app("limits.py", "4m", confs={"spark.quiver.native.memoryLimit": f"{2 * 16 * 4}m"}, timeout=600)
    assert usual == {"outcomes": ["right"] * 4, "native": 0}
    large = spark_app("limits.py", "64m", confs={"spark.quiver.native.memoryLimit": "8m"}, timeout=600)
    for message in large["outcomes"]:
        assert "QuiverException" in message and "native memory limit reached" in message, message[:2000]
        assert "spark.quiver.native.memoryLimit" in message and "spark.quiver.batch.maxBytes" in message
    assert large["native"] == 0


@pytest.mark.long
def test_killed_tasks(spark_app, figures):
    """local[4]: jobs that build and read are cancelled at random points."""
    jobs = 160
    got = spark_app("kills.py", jobs, group=Group(master="local[4]"), timeout=900)
    assert got["wrong"] == 0 and got["native"] == 0
    assert got["killed"] >= jobs // 4, got
    figures(faults=got["killed"], wrong=got["wrong"], native_left=got["native"])


@pytest.mark.long
def test_relations_that_come_and_go(spark_app, figures):
    """1,000 cached and dropped relations: resident memory grows by no more than with Spark's own format, and hardly.

    What Spark makes more of until it has all (classes, code, threads) is not counted; a leaked batch would be 20 KB a relation, a leaked
    encoder or decoder more."""
    options = "-XX:+AlwaysPreTouch -Xms1g -XX:ReservedCodeCacheSize=128m -XX:NativeMemoryTracking=summary"
    confs = {"spark.driver.extraJavaOptions": options, "spark.sql.ui.retainedExecutions": "10", "spark.cleaner.periodicGC.interval": "10s"}
    got, control = (
        spark_app("relations.py", 1000, group=Group(memory="1g"), confs=confs, timeout=1200, file_format=which)
        for which in ("quiver", "spark")
    )
    assert got["wrong"] == 0 and got["native"] == 0 and control["wrong"] == 0
    assert got["slope"] < max(control["slope"], 0) + RELATION_MARGIN, (got, control)
    figures(
        relations=got["relations"],
        relation_slope=round(got["slope"]),
        relation_slope_of_spark=round(control["slope"]),
        wrong=got["wrong"],
        native_left=got["native"],
    )


@pytest.mark.long
def test_ten_times_the_heap(spark_app, figures):
    # PySpark compresses blocks on disk, unless it is told not to: what is stored shall be as large as what was cached
    confs = {"spark.quiver.compression.codec": "none", "spark.rdd.compress": "false", "spark.executor.heartbeatInterval": "30s"}
    got = spark_app("ten_times.py", 10, group=Group(memory="1g"), confs=confs, timeout=1200)
    assert got["wrong"] == 0 and got["native"] == 0
    assert got["data"] >= 10 * got["heap"] * 0.99 and got["disk"] + got["memory"] >= got["data"]
    figures(heap_multiple=round(got["data"] / got["heap"], 1), wrong=got["wrong"], native_left=got["native"])


@pytest.mark.long
def test_counted_sizes(spark_app, figures):
    """The block manager's count is within 10 % of the heap that the batches take: every codec, batches of 100 and of 10,000 rows; and with
    Spark's own format, which shows that the measurement is right. What G1's regions add to either is among the figures."""
    worst = 0
    for which in ("spark", "quiver"):
        for case in spark_app("sizes.py", group=Group(memory="2g"), timeout=600, file_format=which)["cases"]:
            off = abs(case["counted"] - case["live"]) / case["live"]
            assert off <= 0.1, case
            figures(**case)
            worst = max(worst, off if which == "quiver" else 0)
    figures(size_off_percent=round(100 * worst, 1))

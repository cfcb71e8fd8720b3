"""What the plugin decides when an application starts, and what it says: one spark-submit each, its whole log read."""

import json
import zipfile

import pytest
from harness import groups, submit


def test_on(run):
    """The arguments of `make spark-conf` are enough; the log says so in one line, the plan shows it."""
    got = run()
    assert got.stored_by_quiver()
    version = (submit.ROOT / "VERSION").read_text().strip()
    assert len(got.lines("INFO", f"Quiver {version} is on")) == 1, got.lines("Quiver")
    assert got.lines("WARN", "uiver") == []
    assert (got.found["status"], got.found["version"]) == ("on", version)
    assert "Quiver" in got.found["plan"]
    # two queries read through Spark's own scan; why is said once
    assert len(got.lines("INFO", "Spark's own scan", "spark.quiver.scan.enabled is false")) == 1, got.lines("own scan")


def test_event_log_has_the_scans_metrics(run, tmp_path):
    """What the UI and the history server show: the metrics of QuiverScan, with the values that tasks added."""
    folder = tmp_path / "events"
    folder.mkdir()
    confs = {"enabled": "true", "dir": folder.as_uri(), "compress": "false", "rolling.enabled": "false"}
    assert run({f"spark.eventLog.{k}": v for k, v in confs.items()}).stored_by_quiver()
    (log,) = (f for f in folder.iterdir() if not f.name.startswith("."))
    events = [json.loads(line) for line in log.read_text().splitlines()]

    def nodes(plan):
        yield plan
        for child in plan["children"]:
            yield from nodes(child)

    scans = {}  # accumulator -> metric's name
    for event in events:
        for node in nodes(event["sparkPlanInfo"]) if "sparkPlanInfo" in event else ():
            if node["nodeName"].startswith("QuiverScan"):
                scans.update({m["accumulatorId"]: m["name"] for m in node["metrics"]})
    sums = dict.fromkeys(scans.values(), 0)
    for event in events:
        if event["Event"] == "SparkListenerTaskEnd":
            for a in event["Task Info"]["Accumulables"]:
                if a["ID"] in scans:
                    sums[scans[a["ID"]]] += int(a["Update"])
    # two partitions of one batch each, in both of which ids are 100 or more
    assert (sums["number of output rows"], sums["cached batches read"], sums["cached batches pruned"]) == (5000, 2, 0), sums
    assert sums["cached bytes read"] > 0 and sums["decode time"] > 0, sums
    assert {"rows pruned", "cached bytes skipped"} <= set(sums), sums


def test_keeps_other_extensions(run):
    got = run({"spark.sql.extensions": "org.apache.spark.sql.ExampleOfNoSuchExtension"})
    assert got.stored_by_quiver() and "Quiver" in got.found["plan"]


def test_library_that_cannot_load(run, tmp_path):
    garbage = tmp_path / "libquiver.so"
    garbage.write_bytes(b"this is no library" * 100)
    got = run({"spark.driver.extraJavaOptions": f"-Dquiver.native.path={garbage}"})
    got.off_with_one_warning(str(garbage), "quiver.native.path")


def test_library_path_that_does_not_exist(run, tmp_path):
    got = run({"spark.driver.extraJavaOptions": f"-Dquiver.native.path={tmp_path}/nowhere.so"})
    got.off_with_one_warning("nowhere.so", "quiver.native.path")


def test_jar_without_a_library(run, tmp_path):
    """As on a platform that the jar has no library for."""
    arguments = submit.quiver_arguments()
    bare = tmp_path / "bare.jar"
    with zipfile.ZipFile(arguments[1]) as whole, zipfile.ZipFile(bare, "w") as without:
        for entry in whole.infolist():
            if "/native/" not in entry.filename:
                without.writestr(entry, whole.read(entry))
    run(jar=bare).off_with_one_warning("linux-x86_64")


def test_library_that_was_changed(run, tmp_path):
    """A library in the jar that does not have the checksum beside it is not loaded."""
    arguments = submit.quiver_arguments()
    changed = tmp_path / "changed.jar"
    with zipfile.ZipFile(arguments[1]) as whole, zipfile.ZipFile(changed, "w") as other:
        for entry in whole.infolist():
            data = whole.read(entry)
            other.writestr(entry, data[:-1] + bytes([data[-1] ^ 1]) if entry.filename.endswith(".so") else data)
    run(jar=changed).off_with_one_warning("SHA-256")


def test_switched_off(run):
    run({"spark.quiver.enabled": "false"}).off_with_one_warning("spark.quiver.enabled")


def test_other_serializer_of_the_user(run):
    got = run({"spark.sql.cache.serializer": groups.SPARK_SERIALIZER})
    got.off_with_one_warning("spark.sql.cache.serializer", groups.SPARK_SERIALIZER)


def test_serializer_by_hand_and_plugin(run):
    assert run({"spark.sql.cache.serializer": groups.SERIALIZER}).stored_by_quiver()


def test_serializer_by_hand_without_plugin(run):
    assert run({"spark.sql.cache.serializer": groups.SERIALIZER}, plugin=False).stored_by_quiver()


def test_kryo_without_our_registrator(run):
    kryo = {"spark.serializer": "org.apache.spark.serializer.KryoSerializer", "spark.kryo.registrationRequired": "true"}
    run(kryo).off_with_one_warning("spark.kryo.registrationRequired", groups.REGISTRATOR)


@pytest.mark.parametrize(
    "key,value,words",
    [
        ("spark.quiver.compression.codec", "gzip", ("pack", "zstd", "lz4", "none")),
        ("spark.quiver.compression.zstd.level", "99", ("1", "22")),
        ("spark.quiver.enabled", "maybe", ("true", "false")),
        ("spark.quiver.batch.maxBytes", "-5", ()),
    ],
)
def test_wrong_values(run, key, value, words):
    """The application does not start with a setting that means nothing; the message lists what would."""
    got = run({key: value})
    assert got.code != 0
    said = got.lines(key, value)
    assert said and any(all(w in line for w in words) for line in said), got.log[-3000:]


def test_unknown_setting(run):
    """A misspelt key is warned about, with the key that was meant."""
    got = run({"spark.quiver.compresion.codec": "lz4"})
    assert got.stored_by_quiver()
    warnings = got.lines("WARN", "spark.quiver.compresion.codec")
    assert len(warnings) == 1 and "spark.quiver.compression.codec" in warnings[0], warnings

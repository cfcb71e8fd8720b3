"""Objects that the G1 collector calls humongous (more than half of a region), counted in its log while relations are built and read,
Spark's format against Quiver with the default codec; run by make bench-gc. Where they come from is taken from a flight recording.
"""

import collections
import json
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

import runs

RELATIONS = {
    "flat": (
        5_000_000,
        [
            "if(id % 8 = 0, null, id) id",
            "if(id % 8 = 1, null, id % 1000) k",
            "if(id % 8 = 2, null, id + 1) v",
            "if(id % 8 = 3, null, concat('str_a_', cast(id % 100000 as string))) s1",
            "if(id % 8 = 4, null, concat('str_b_', cast(id % 7919 as string))) s2",
            "if(id % 8 = 5, null, concat('str_c_', cast(id as string))) s3",
        ],
        "select sum(id), sum(k), sum(v), sum(length(s1)), sum(length(s2)), max(s3) from ",
    ),
    # batches of 4 MiB, nearly all of them one column
    "long strings": (
        100_000,
        ["id", "concat_ws(' ', transform(sequence(0, 60), i -> sha2(cast(id * 61 + i as string), 256))) s"],
        "select sum(id), sum(length(s)) from ",
    ),
}
HEAPS = ("2g", "4g")
SMALL = "quiver, small batches"
PHASES = ("build", "read, columns", "read, all rows")
# region, allocation and pauses, each line with milliseconds since the epoch
LOG = "-XX:+UseG1GC -Xlog:gc,gc+init,gc+region=trace:file={scratch}/gc.log:tm:filecount=0"
# what every task and every result brings with it, whatever the format of the cache
JOBS = re.compile(r"SerializerHelper|TorrentBroadcast|SparkPlan\.\S*getByteArrayRdd|ChunkedByteBuffer")
EVENT = "jdk.ObjectAllocationOutsideTLAB"
DEPTH = 24


def measure(jvm: runs.Jvm, options: dict) -> None:
    folder = Path(jvm.spark.conf.get("spark.local.dir"))
    recording = jvm.spark._jvm.jdk.jfr.Recording()
    recording.enable(EVENT).withStackTrace().withoutThreshold()
    recording.start()
    spans = []
    for name, (rows, columns, read) in RELATIONS.items():
        df = jvm.spark.range(0, rows, 1, 16).selectExpr(*columns)
        view = name.replace(" ", "_")
        bodies = (
            lambda df=df, view=view: jvm.build(view, df, warm=0, timed=1),
            lambda view=view, read=read: [jvm.spark.sql(read + view).collect() for _ in range(3)],
            lambda view=view: [runs.noop(jvm.spark.table(view)) for _ in range(3)],
        )
        for phase, body in zip(PHASES, bodies, strict=True):
            start = time.time() * 1000
            body()
            spans.append((f"{name}/{phase}", start, time.time() * 1000))
        df.unpersist(blocking=True)
    recording.stop()
    recording.dump(jvm.spark._jvm.java.io.File(str(folder / "allocations.jfr")).toPath())
    recording.close()
    count(jvm.found["values"], (folder / "gc.log").read_text().splitlines(), spans)
    origins(jvm, folder / "allocations.jfr", spans)


def count(values: dict, log: list[str], spans: list[tuple[str, float, float]]) -> None:
    """Humongous objects and the pauses of the collector by phase."""
    for cell, _, _ in spans:
        values |= {f"{cell}/humongous": 0, f"{cell}/pauses": 0.0}
    for line in log:
        if found := re.search(r"Heap Region Size: (\d+M)", line):
            values["region"] = found[1]
        stamp = int(re.match(r"\[(\d+)ms\]", line)[1])
        cell = next((c for c, start, end in spans if start <= stamp <= end), None)
        if cell is None:
            continue
        # the first region of such an object; the others are HUMC
        values[f"{cell}/humongous"] += bool(re.search(r"G1HR ALLOC\(HUMS\)", line))
        if pause := re.search(r"Pause .* ([\d.]+)ms$", line):
            values[f"{cell}/pauses"] += float(pause[1])


def origins(jvm: runs.Jvm, recording: Path, spans: list[tuple[str, float, float]]) -> None:
    """Who allocated them, by phase."""
    values = jvm.found["values"]
    half = int(values["region"][:-1]) * runs.MIB // 2
    tool = Path(jvm.java.System.getProperty("java.home")) / "bin" / "jfr"
    command = [tool, "print", "--json", "--stack-depth", str(DEPTH), "--events", EVENT, recording]
    events = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["recording"]["events"]
    found: dict[str, collections.Counter] = {cell: collections.Counter() for cell, _, _ in spans}
    jobs: collections.Counter = collections.Counter()
    for event in (e["values"] for e in events):
        stamp = time_ms(event["startTime"])
        cell = next((c for c, start, end in spans if start <= stamp <= end), None)
        if event["allocationSize"] <= half or cell is None:
            continue
        frames = (event["stackTrace"] or {}).get("frames", [])
        names = [f"{f['method']['type']['name'].split('/')[-1].split('.')[-1]}.{f['method']['name']}" for f in frames]
        if JOBS.search(" ".join(names)):
            jobs[cell] += 1
        else:
            found[cell][" < ".join(names[:4])] += 1
    for cell, _, _ in spans:
        values[f"{cell}/jobs"] = jobs[cell]
        # a recording that missed some says so: the difference counts as the format's
        values[f"{cell}/format"] = values[f"{cell}/humongous"] - jobs[cell]
    values["origins"] = {cell: counter.most_common(3) for cell, counter in found.items() if counter}


def time_ms(text: str) -> float:
    """2026-01-31T12:00:00.123456789Z (or +01:00) as milliseconds since the epoch."""
    from datetime import datetime

    return datetime.fromisoformat(re.sub(r"(\.\d{6})\d*", r"\1", text).replace("Z", "+00:00")).timestamp() * 1000


def tables(results: dict[str, runs.Result]) -> list[str]:
    lines = [
        "| relation | phase | heap, region | humongous objects of Spark's format | of Quiver | of Spark's jobs, in either | pauses, ms |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for name in RELATIONS:
        for heap in HEAPS:
            pair = [results[f"{contender}, {heap}"].values for contender in ("spark", "quiver")]
            for phase in PHASES:
                cells = [f"{v[f'{name}/{phase}/format']}" for v in pair]
                for key, form in (("jobs", "d"), ("pauses", ".0f")):
                    cells.append(" / ".join(f"{v[f'{name}/{phase}/{key}']:{form}}" for v in pair))
                lines.append(f"| {name} | {phase} | {heap}, {pair[0]['region']} | " + " | ".join(cells) + " |")
    small = results[SMALL].values
    for phase in PHASES:
        cell = f"long strings/{phase}"
        cells = f"{small[f'{cell}/format']} | {small[f'{cell}/jobs']} | {small[f'{cell}/pauses']:.0f}"
        lines.append(f"| long strings, `spark.quiver.batch.maxBytes=256k` | {phase} | {HEAPS[0]}, {small['region']} | | {cells} |")
    lines += ["", "Where those of the formats were allocated:", ""]
    for run, result in results.items():
        for cell, counted in result.values["origins"].items():
            lines += [f"- {run}, {cell}: " + "; ".join(f"{n} × `{where}`" for where, n in counted)]
    return lines


if __name__ == "__main__":
    each = [runs.Run(f"{contender}, {heap}", contender, memory=heap, java=LOG) for heap in HEAPS for contender in ("spark", "quiver")]
    small = {"confs": {"spark.quiver.batch.maxBytes": "256k"}}
    each.append(runs.Run(SMALL, "quiver", memory=HEAPS[0], java=LOG, options=small))
    runs.main("gc", each, measure, tables)

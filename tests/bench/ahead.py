"""Encoding batches on an idle task slot, on and off in turns within one JVM; run by make bench-ahead."""

import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

import runs
import scaling

ROWS = 2_000_000
PARTITIONS = {1: "one partition, one slot idle", 2: "two partitions, no slot idle"}
KEY = "spark.quiver.write.ahead.enabled"
TURNS = 15


def measure(jvm: runs.Jvm, options: dict) -> None:
    for partitions in PARTITIONS:
        name = f"p{partitions}"

        def rows(partitions: int = partitions):
            # a DataFrame remembers the relation that it was cached as at first
            return jvm.spark.range(0, ROWS, 1, partitions).selectExpr(*scaling.COLUMNS)

        jvm.source(name, rows(), warm=3, timed=5)
        times: dict[str, list[tuple[float, float]]] = {"on": [], "off": []}
        for turn in range(2 + TURNS):
            # the order changes, too
            for which in sorted(times, reverse=turn % 2 == 0):
                jvm.spark.conf.set(KEY, str(which == "on").lower())
                jvm.build(name, rows(), warm=0, timed=1)
                if turn >= 2:
                    times[which].append(tuple(jvm.found[unit][f"{name}/build"] for unit in ("wall", "cpu")))
        for which, found in times.items():
            for unit, values in zip(("wall", "cpu"), zip(*found, strict=True), strict=True):
                jvm.found[unit][f"{name}/{which}"] = statistics.median(values)
        jvm.query(f"{name}/read", scaling.READ + name, warm=0, timed=1)


def tables(results: dict[str, runs.Result]) -> list[str]:
    (r,) = results.values()
    lines = [
        f"| {ROWS:,} rows, `local[2]` | making the rows, ms | off, ms | on, ms | off ÷ on, wall | off ÷ on, CPU |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for n, label in PARTITIONS.items():
        source, off, on = (r.wall[f"p{n}/{cell}"] for cell in ("source", "off", "on"))
        cpu = runs.times(r.cpu[f"p{n}/off"], r.cpu[f"p{n}/on"])
        lines.append(f"| {label} | {source:.0f} | {off:.0f} | {on:.0f} | {runs.times(off, on)} | {cpu} |")
    return lines


if __name__ == "__main__":
    runs.main("ahead", [runs.Run("quiver", "quiver", "local[2]")], measure, tables, rounds=3)

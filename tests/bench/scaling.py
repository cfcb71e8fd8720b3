"""What more tasks and more rows cost, Spark's format against Quiver; run by make bench-scaling.

One and two tasks side by side over the same partitions; and relations of 0.2, 2 and 20 million rows: building and reading by row, and
whether what reading holds in memory depends on the size.
"""

import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

import runs

COLUMNS = [
    "id",
    "if(id % 8 = 1, null, cast(id * 104729 % 100000 as int)) k",
    "id * 7919 % 1000 / 7.0d d",
    "if(id % 8 = 3, null, concat('name ', cast(id * 31 % 5000 as string))) s",
    "cast(id * 104729 % 100000 as decimal(9, 2)) m",
    "date_add(date'2000-01-01', cast(id % 9000 as int)) t",
]
READ = "select sum(id), sum(k), sum(d), sum(length(s)), sum(m), sum(datediff(t, date'2000-01-01')) from "
SIZES = {"0.2 million": 200_000, "2 million": 2_000_000, "20 million": 20_000_000}
BOTH = "2 million"
# samples of live memory while a relation is read
SAMPLES = 4


def measure(jvm: runs.Jvm, options: dict) -> None:
    for size in options["sizes"]:
        rows = SIZES[size]
        large = rows > SIZES[BOTH]
        df = jvm.spark.range(0, rows, 1, 8).selectExpr(*COLUMNS)
        name = f"r{rows}"
        jvm.source(name, df, warm=0 if large else 4, timed=1 if large else 5)
        jvm.build(name, df, warm=0 if large else 4, timed=1 if large else 5)
        jvm.query(f"{name}/count", f"select count(*) from {name}")
        jvm.query(f"{name}/read", READ + name, warm=1 if large else 5, timed=3 if large else 7)
        if options["memory"]:
            hold(jvm, name)
        df.unpersist(blocking=True)


def hold(jvm: runs.Jvm, name: str) -> None:
    """What reading holds at its most: bytes of the heap that survive a full collection in the middle of a read, beyond those
    before; the counter of native memory; memory of the process outside of the heap, which is touched as a whole when the JVM starts."""
    values = jvm.found["values"]
    before, outside = jvm.live_heap(), jvm.resident()

    def read_while(samples: list[int], n: int) -> int:
        end = time.monotonic() + 60
        while len(samples) < n and time.monotonic() < end:
            jvm.spark.sql(READ + name).collect()
        return max(samples)

    with jvm.sampled(jvm.live_heap, 0.05) as live:
        values[f"{name}/heap"] = read_while(live, SAMPLES) - before
    with jvm.sampled(jvm.native_bytes, 0.002) as native:
        values[f"{name}/native"] = read_while(native, 100)
    with jvm.sampled(jvm.resident, 0.01) as resident:
        values[f"{name}/resident"] = read_while(resident, 20) - outside


def tables(results: dict[str, runs.Result]) -> list[str]:
    lines = [
        "| rows | build, ns a row | read, ns a row | stored, bytes a row | live heap while reading, MiB | native memory, MiB"
        " | process beyond the heap, MiB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    pair = [results["spark, 1 task"], results["quiver, 1 task"]]
    for size, rows in SIZES.items():
        name = f"r{rows}"
        columns = [
            [f"{r.net(f'{name}/build', f'{name}/source') * 1e6 / rows:.0f}" for r in pair],
            [f"{r.net(f'{name}/read', f'{name}/count') * 1e6 / rows:.0f}" for r in pair],
            [f"{r.values[f'{name}/memory'] / rows:.1f}" for r in pair],
            [f"{r.values[f'{name}/heap'] / runs.MIB:.1f}" for r in pair],
            ["–", f"{pair[1].values[f'{name}/native'] / runs.MIB:.1f}"],
            [f"{r.values[f'{name}/resident'] / runs.MIB:.1f}" for r in pair],
        ]
        cells = [" / ".join(column) for column in columns]
        lines.append(f"| {size} | " + " | ".join(cells) + " |")
    lines = ["Spark's format / Quiver; times of building are net of making the rows, of reading net of `count(*)`:", "", *lines]
    lines += ["", f"| {BOTH} rows | 1 task, ms | 2 tasks, ms | speed-up | CPU time, 2 tasks ÷ 1 |", "|---|---:|---:|---:|---:|"]
    for contender in ("spark", "quiver"):
        one, two = results[f"{contender}, 1 task"], results[f"{contender}, 2 tasks"]
        for what, base in (("build", "source"), ("read", "count")):
            cell, less = f"r{SIZES[BOTH]}/{what}", f"r{SIZES[BOTH]}/{base}"
            wall, cpu = ([r.net(cell, less, unit) for r in (one, two)] for unit in ("wall", "cpu"))
            lines.append(
                f"| {runs.CONTENDERS[contender].label}, {what} | {wall[0]:.0f} | {wall[1]:.0f}"
                f" | {wall[0] / wall[1]:.2f} | {cpu[1] / cpu[0]:.2f} |"
            )
    return lines


def main() -> None:
    # the heap is touched when the JVM starts, so that what the process takes beyond it shows
    start = {"memory": "5g", "java": "-Xms5g -XX:+AlwaysPreTouch"}
    each = []
    # The same relations come first: what of Spark is compiled by then counts for more than the second task.
    sizes = [size for size, rows in SIZES.items() if rows <= SIZES[BOTH]]
    for contender in ("spark", "quiver"):
        each.append(runs.Run(f"{contender}, 1 task", contender, options={"sizes": list(SIZES), "memory": True}, **start))
        each.append(runs.Run(f"{contender}, 2 tasks", contender, "local[2]", options={"sizes": sizes, "memory": False}, **start))
    runs.main("scaling", each, measure, tables)


if __name__ == "__main__":
    main()

"""Relations of other shapes than the main benchmark's: skewed strings, wide decimals, small batches, deep nesting, many nulls, and two that
look like public data. Building, reading one column and all, all rows out, memory: Spark's format and Comet's against Quiver; run by make
bench-shapes. All values follow from row numbers and seeds.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

import runs


@dataclass
class Shape:
    columns: list[str]
    one: str
    all: str
    rows: int = 2_400_000
    confs: dict[str, str] = field(default_factory=dict)


def pick(values: list[str], hashed: str) -> str:
    return f"element_at(array({', '.join(repr(v) for v in values)}), cast(pmod({hashed}, {len(values)}) as int) + 1)"


# about 1e21, more than 64 bits
WIDE = (
    "cast(concat(pmod(xxhash64(id, {0}), 1000000000000), lpad(pmod(xxhash64(id, {0}, 1), 1000000000), 9, '0'), '.0123456789')"
    " as decimal(38, 10))"
)
# a rank by Zipf's law: the chance of r is about 1 / r
ZIPF = "cast(pow({1}, pmod(xxhash64(id, {0}), 1000000) / 1000000.0d) as int)"
MONEY = "pmod(xxhash64(id, {0}), {1}) / 100.0d"
AGENTS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
    "curl/8.5.0",
]

SHAPES = {
    "skewed strings": Shape(
        [
            "id",
            f"concat('category ', {ZIPF.format(1, 20000)}) s",
            f"if(id % 97 = 0, repeat(md5(cast(id as string)), 40), concat('v', {ZIPF.format(2, 200)})) t",
            f"concat_ws('/', {ZIPF.format(3, 50)}, {ZIPF.format(4, 5000)}) u",
        ],
        "sum(octet_length(s))",
        "sum(id), sum(octet_length(s)), sum(octet_length(t)), sum(octet_length(u))",
    ),
    "wide decimals": Shape(
        ["id", *(f"{WIDE.format(i)} d{i}" for i in range(4))],
        "sum(d0)",
        "sum(id), " + ", ".join(f"sum(d{i})" for i in range(4)),
    ),
    "batches of 100 rows": Shape(
        ["id", "id * 7919 % 1000 k", "id / 7.0d d", "concat('name ', id * 31 % 5000) s", "id % 3 = 0 b", "cast(id as decimal(12, 2)) m"],
        "sum(k)",
        "sum(id), sum(k), sum(d), sum(octet_length(s)), sum(cast(b as int)), sum(m)",
        confs={"spark.sql.inMemoryColumnarStorage.batchSize": "100"},
    ),
    "nested, 5 levels": Shape(
        [
            "id",
            "named_struct('a', map('k', array(named_struct('x', named_struct('y', id, 'z', concat('z', id % 1000)), 'w', id % 7),"
            " named_struct('x', named_struct('y', id + 1, 'z', 'zz'), 'w', null)))) c",
        ],
        "sum(c.a['k'][0].x.y)",
        "sum(id), sum(c.a['k'][0].x.y), sum(octet_length(c.a['k'][1].x.z)), sum(c.a['k'][0].w), sum(size(c.a['k']))",
        rows=1_200_000,
    ),
    "many nulls": Shape(
        [
            *(f"if(pmod(xxhash64(id, {i}), 100) < 90, null, id * {i + 3}) n{i}" for i in range(4)),
            *(f"if(pmod(xxhash64(id, {i}, 1), 100) < 95, null, concat('value ', id % 1000)) s{i}" for i in range(3)),
            "if(pmod(xxhash64(id, 9), 100) < 99, null, id / 3.0d) d",
            "cast(null as bigint) e",
        ],
        "sum(n0)",
        "sum(n0), sum(n1), sum(n2), sum(n3), sum(octet_length(s0)), sum(octet_length(s1)), sum(octet_length(s2)), sum(d), sum(e)",
    ),
    "taxi trips": Shape(
        [
            "cast(1 + pmod(xxhash64(id, 1), 2) as int) vendor",
            "timestamp_seconds(1704067200 + id * 2 + pmod(xxhash64(id, 2), 60)) pickup",
            "timestamp_seconds(1704067200 + id * 2 + 60 + pmod(xxhash64(id, 3), 3000)) dropoff",
            "if(id % 50 = 0, null, cast(1 + pmod(xxhash64(id, 4), 4) as double)) passengers",
            f"{ZIPF.format(5, 3000)} / 100.0d distance",
            "if(id % 50 = 0, null, if(id % 30 = 0, 2.0d, 1.0d)) ratecode",
            "if(id % 50 = 0, null, if(id % 200 = 0, 'Y', 'N')) stored",
            f"{ZIPF.format(6, 265)} pu",
            f"{ZIPF.format(7, 265)} do",
            "pmod(xxhash64(id, 8), 5) payment",
            f"{MONEY.format(9, 7000)} fare",
            "element_at(array(0.0d, 1.0d, 2.5d, 3.5d), cast(id % 4 as int) + 1) extra",
            "0.5d tax",
            f"{MONEY.format(10, 1500)} tip",
            "if(id % 12 = 0, 6.94d, 0.0d) tolls",
            "1.0d improvement",
            f"{MONEY.format(11, 9000)} total",
            "if(id % 50 = 0, null, 2.5d) congestion",
            "if(id % 50 = 0, null, if(id % 11 = 0, 1.75d, 0.0d)) airport",
        ],
        "sum(fare)",
        "sum(vendor), max(unix_micros(pickup) - unix_micros(dropoff)), sum(passengers), sum(distance), sum(ratecode),"
        " sum(octet_length(stored)), sum(pu), sum(do), sum(payment), sum(fare), sum(extra), sum(tax), sum(tip), sum(tolls),"
        " sum(improvement), sum(total), sum(congestion), sum(airport)",
    ),
    "web log": Shape(
        [
            "timestamp_micros(1704067200000000 + id * 40000 + pmod(xxhash64(id, 1), 30000)) ts",
            "concat_ws('.', pmod(xxhash64(id, 2), 223), pmod(xxhash64(id, 3), 255), pmod(xxhash64(id, 4), 255), id % 255) ip",
            f"{pick(['GET', 'GET', 'GET', 'POST', 'HEAD'], 'xxhash64(id, 5)')} method",
            f"concat('/shop/item/', {ZIPF.format(6, 50000)}, '?ref=', {ZIPF.format(7, 100)}) url",
            "cast(if(id % 37 = 0, 404, if(id % 211 = 0, 500, 200)) as int) status",
            "pmod(xxhash64(id, 8), 90000) bytes",
            f"if(id % 3 = 0, null, concat('https://www.example.org/search?q=', {ZIPF.format(9, 9000)})) referrer",
            f"{pick(AGENTS, 'xxhash64(id, 10)')} agent",
        ],
        "sum(bytes)",
        "max(unix_micros(ts) % 1000), sum(octet_length(ip)), sum(octet_length(method)), sum(octet_length(url)), sum(status), sum(bytes), "
        " sum(octet_length(referrer)), sum(octet_length(agent))",
    ),
}
# process CPU time is counted in steps of 10 ms
LEAST = 20
MEASURES = {"build": "build", "count": "count(*)", "one": "one column", "all": "all columns", "rows": "all rows out"}


def measure(jvm: runs.Jvm, options: dict) -> None:
    # planner and tasks, before the first shape
    jvm.spark.range(0, 1000, 1, 4).createOrReplaceTempView("few")
    jvm.time("few", lambda: jvm.spark.sql("select count(id), sum(id) from few").collect(), settle=10)
    for number, (name, shape) in enumerate(SHAPES.items()):
        for key, value in shape.confs.items():
            jvm.spark.conf.set(key, value)
        df = jvm.spark.range(0, shape.rows, 1, 4).selectExpr(*shape.columns)
        view = f"shape{number}"
        try:
            jvm.source(view, df)
            jvm.build(view, df)
            for cell, read in (("count", "count(*)"), ("one", shape.one), ("all", shape.all)):
                jvm.query(f"{view}/{cell}", f"select {read} from {view}", timed=9, cap=2, settle=0.5 if cell == "count" else 1.2)
            jvm.time(f"{view}/rows", lambda view=view: runs.noop(jvm.spark.table(view)), timed=9, cap=2, settle=1.2)
        except Exception as e:
            if jvm.contender != "comet":
                raise
            jvm.found["values"][f"{view}/error"] = f"{name}: {str(e).strip().splitlines()[0][:200]}"
        df.unpersist(blocking=True)
        for key in shape.confs:
            jvm.spark.conf.unset(key)


def tables(results: dict[str, runs.Result]) -> list[str]:
    spark, comet, quiver = (results[name] for name in ("spark", "comet", "quiver"))
    lines = [
        "Building is net of making the rows; reading is the whole time, of which `count(*)` is what a job costs. Below 1, where Quiver"
        f" loses, is bold; no ratio of what took less than {LEAST} ms.",
        "",
        "| shape | | Spark's format | Comet, lz4 | Quiver | Spark ÷ Quiver: wall | CPU | Comet ÷ Quiver: wall | CPU |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]

    def ratio(theirs: float | None, ours: float | None) -> str:
        text = "–" if ours is None or theirs is None or min(ours, theirs) < LEAST else runs.times(theirs, ours)
        return f"**{text}**" if text != "–" and float(text) < 1 else text

    for number, (name, shape) in enumerate(SHAPES.items()):
        for cell, label in MEASURES.items():
            key = f"shape{number}/{cell}"

            def get(result: runs.Result, unit: str, key: str = key, number: int = number) -> float | None:
                return result.net(key, f"shape{number}/source", unit) if key.endswith("/build") else getattr(result, unit).get(key)

            wall = [runs.ms(get(r, "wall")) for r in (spark, comet, quiver)]
            ratios = [ratio(get(r, unit), get(quiver, unit)) for r in (spark, comet) for unit in ("wall", "cpu")]
            lines.append(f"| {name} | {label}, ms | " + " | ".join(wall + ratios) + " |")
        sizes = [r.values.get(f"shape{number}/memory") for r in (spark, comet, quiver)]
        cells = ["–" if size is None else f"{size / shape.rows:.1f}" for size in sizes]
        lines.append(
            f"| {name} | bytes a row | "
            + " | ".join(cells)
            + f" | {runs.times(sizes[0], sizes[2])} | | {runs.times(sizes[1], sizes[2])} | |"
        )
    failed = [text for key, text in comet.values.items() if key.endswith("/error")]
    return lines + ([""] + [f"Comet failed: {text}" for text in failed] if failed else [])


if __name__ == "__main__":
    runs.main("shapes", [runs.Run(name, name) for name in ("spark", "comet", "quiver")], measure, tables)

"""TPC-H 1, 3 and 6 over cached tables, Spark's format against Quiver; run by make bench-tpch.

The tables are Parquet files that tests/tools/fetch.sh fetched; BENCH_TPCH names their folder.
"""

import os
import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parent.parent / "demo")]

import queries
import runs

QUERIES = {"TPC-H 1": queries.Q1, "TPC-H 3": queries.Q3, "TPC-H 6": queries.Q6}
# what each query reads from its relations, without what it does with it
SCANS = {
    "TPC-H 1": [
        """select l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus from lineitem
        where l_shipdate <= date '1998-09-02'"""
    ],
    "TPC-H 3": [
        "select c_custkey from customer where c_mktsegment = 'BUILDING'",
        "select o_orderkey, o_custkey, o_orderdate, o_shippriority from orders where o_orderdate < date '1995-03-15'",
        "select l_orderkey, l_extendedprice, l_discount from lineitem where l_shipdate > date '1995-03-15'",
    ],
    "TPC-H 6": [
        """select l_extendedprice, l_discount from lineitem where l_shipdate >= date '1994-01-01'
        and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24"""
    ],
}
TARGET = 1.5


def measure(jvm: runs.Jvm, options: dict) -> None:
    for table in queries.TABLES:
        jvm.build(table, jvm.spark.read.parquet(f"{options['data']}/{table}"), warm=0, timed=1)
    for name, sql in QUERIES.items():
        jvm.query(name, sql, warm=3, timed=7)
        frames = [jvm.spark.sql(scan) for scan in SCANS[name]]
        jvm.time(f"{name}/scans", lambda frames=frames: [runs.noop(frame) for frame in frames], warm=3)
        plan = jvm.spark.sql(sql)._jdf.queryExecution().executedPlan().toString()
        joins = [word for word in ("BroadcastHashJoin", "SortMergeJoin", "ShuffledHashJoin") for _ in range(plan.count(word))]
        jvm.found["values"][f"{name}/joins"] = ", ".join(joins)


def tables(results: dict[str, runs.Result]) -> list[str]:
    spark, quiver = results["spark"], results["quiver"]
    lines = [
        "| | Spark's format, ms | Quiver, ms | Spark ÷ Quiver, wall | Spark ÷ Quiver, CPU | target |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name in QUERIES:
        for cell, label, target in ((name, name, TARGET), (f"{name}/scans", "its scans, rows to noop", "–")):
            ratios = " | ".join(runs.times(getattr(spark, unit)[cell], getattr(quiver, unit)[cell]) for unit in ("wall", "cpu"))
            lines.append(f"| {label} | {runs.ms(spark.wall[cell])} | {runs.ms(quiver.wall[cell])} | {ratios} | {target} |")
    lines += ["", "| table | Spark's format, MiB | Quiver, MiB | Quiver ÷ Spark |", "|---|---:|---:|---:|"]
    for table in queries.TABLES:
        sizes = [r.values[f"{table}/memory"] / runs.MIB for r in (spark, quiver)]
        lines.append(f"| {table} | {sizes[0]:.1f} | {sizes[1]:.1f} | {sizes[1] / sizes[0]:.3f} |")
    joins = {r.values["TPC-H 3/joins"] for r in (spark, quiver)}
    lines += ["", f"Joins of query 3: {'; '.join(sorted(joins))}."]
    return lines


if __name__ == "__main__":
    # two partitions of shuffles as in the demonstration; Spark's 200 would be most of query 3
    data = {"data": os.path.abspath(os.environ.get("BENCH_TPCH", "")), "confs": {"spark.sql.shuffle.partitions": "2"}}
    runs.main("tpch", [runs.Run(name, name, options=data) for name in ("spark", "quiver")], measure, tables)

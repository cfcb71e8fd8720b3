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
TARGET = 1.5


def measure(jvm: runs.Jvm, options: dict) -> None:
    for table in queries.TABLES:
        jvm.build(table, jvm.spark.read.parquet(f"{options['data']}/{table}"), warm=0, timed=1)
    for name, sql in QUERIES.items():
        jvm.query(name, sql, warm=3, timed=7)
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
        ratios = " | ".join(runs.times(getattr(spark, unit)[name], getattr(quiver, unit)[name]) for unit in ("wall", "cpu"))
        lines.append(f"| {name} | {runs.ms(spark.wall[name])} | {runs.ms(quiver.wall[name])} | {ratios} | {TARGET} |")
    lines += ["", "| table | Spark's format, MiB | Quiver, MiB | Quiver ÷ Spark |", "|---|---:|---:|---:|"]
    for table in queries.TABLES:
        sizes = [r.values[f"{table}/memory"] / runs.MIB for r in (spark, quiver)]
        lines.append(f"| {table} | {sizes[0]:.1f} | {sizes[1]:.1f} | {sizes[1] / sizes[0]:.3f} |")
    joins = {r.values["TPC-H 3/joins"] for r in (spark, quiver)}
    lines += ["", f"Joins of query 3: {'; '.join(sorted(joins))}."]
    return lines


if __name__ == "__main__":
    data = {"data": os.path.abspath(os.environ.get("BENCH_TPCH", ""))}
    runs.main("tpch", [runs.Run(name, name, options=data) for name in ("spark", "quiver")], measure, tables)

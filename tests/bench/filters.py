"""Filters over rows in no order, where statistics cannot leave any batch out: Spark's format, and Quiver with and without filtering rows
while decoding.

usage: spark-submit … filters.py OUT.json spark|quiver      (make bench-filters runs both; the second prints the table)
"""

import json
import statistics
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

ROWS = 5_000_000
COLUMNS = [
    "id",
    "id * 7919 % 1000 k",
    "cast(id * 104729 % 100000 as int) v",
    "concat('name ', cast(id * 31 % 5000 as string)) s",
    "id * 7919 % 1000 / 7.0d d",
    "cast(id * 104729 % 100000 as decimal(9, 2)) m",
]
QUERIES = {
    "bigint, 0.1 %": "select sum(id), max(s), sum(d), sum(m) from t where k = 7",
    "bigint, 10 %": "select sum(id), max(s), sum(d), sum(m) from t where k < 100",
    "bigint, 40 %": "select sum(id), max(s), sum(d), sum(m) from t where k < 400",
    "bigint, 90 %": "select sum(id), max(s), sum(d), sum(m) from t where k < 900",
    "string, 0.02 %": "select sum(id), sum(d), sum(m) from t where s = 'name 77'",
    "double, 1 %": "select sum(id), max(s) from t where d < 1.4",
    "decimal, 0.01 %": "select sum(id), max(s) from t where m between 500 and 510.5",
    "three columns, none": "select sum(id), max(s), sum(d) from t where k = 500 and v = 3 and s = 'zzz'",
    "full rows, 1 %": "select * from t where k < 10",
}
SETTING = "spark.quiver.scan.filter.enabled"


def measure(spark: SparkSession, modes: list[str]) -> dict[str, float]:
    """Median of five after two, in ms, by query and mode; modes take turns."""
    times: dict[str, list[float]] = {}
    for _ in range(7):
        for name, query in QUERIES.items():
            for mode in modes:
                if mode != "spark":
                    spark.conf.set(SETTING, str(mode == "filtered").lower())
                start = time.monotonic()
                spark.sql(query).write.format("noop").mode("overwrite").save()
                times.setdefault(f"{name}|{mode}", []).append((time.monotonic() - start) * 1000)
    return {key: statistics.median(values[2:]) for key, values in times.items()}


def main() -> None:
    out, which = Path(sys.argv[1]), sys.argv[2]
    spark = SparkSession.builder.config("spark.sql.adaptive.enabled", "false").getOrCreate()
    df = spark.range(0, ROWS, 1, 1).selectExpr(*COLUMNS).cache()
    df.createOrReplaceTempView("t")
    df.count()
    found = json.loads(out.read_text()) if which == "quiver" else {}
    found |= measure(spark, ["spark"] if which == "spark" else ["filtered", "all rows"])
    out.write_text(json.dumps(found))
    if which == "quiver":
        print("| filter, share of the rows | Spark's format, ms | Quiver, all rows to the filter | Quiver, filtered while decoding |")
        print("|---|---:|---:|---:|")
        for name in QUERIES:
            print(f"| {name} |" + "".join(f" {found[f'{name}|{mode}']:.0f} |" for mode in ("spark", "all rows", "filtered")))


if __name__ == "__main__":
    main()

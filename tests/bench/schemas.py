"""Whether reading relations of many schemas in one JVM makes the last of them slower than it is alone.

usage: spark-submit … schemas.py OUT.json alone|last        (make bench-schemas runs both and compares)

The generated code of a query is a class of its own; what all of them share (readers, decoder, vector classes) must not lose its compiled
form, or fall back to slower calls, because other types were read before.
"""

import json
import sys
import time

from pyspark.sql import SparkSession

ROWS = 2_000_000
TYPES = {
    "bigint": "id * 31",
    "int": "cast(id % 100000 as int)",
    "double": "id / 7",
    "string": "concat('name_', id % 5000)",
    "decimal": "cast(id as decimal(12,2))",
    "wide": "cast(id as decimal(38,10))",
    "boolean": "id % 3 = 0",
    "date": "date_add(date'1970-01-01', cast(id % 20000 as int))",
    "array": "array(id, id + 1)",
    "mixed": "named_struct('a', id, 'b', cast(id as string))",
}
READ = {
    "string": "max(length(c))",
    "boolean": "sum(if(c, 1, 0))",
    "date": "sum(datediff(c, date'1970-01-01'))",
    "array": "sum(c[0])",
    "mixed": "sum(c.a + length(c.b))",
}


def best(spark: SparkSession, name: str, seconds: float) -> float:
    query = f"select {READ.get(name, 'sum(c)')} from {name}"
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 10:
        start = time.monotonic()
        spark.sql(query).collect()
        times.append((time.monotonic() - start) * 1000)
    return min(times)


def main() -> None:
    out, which = sys.argv[1:]
    spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    names = list(TYPES)
    for name in names if which == "last" else names[-1:]:
        df = spark.range(0, ROWS, 1, 4).selectExpr(f"if(id % 9 = 0, null, {TYPES[name]}) c").cache()
        df.createOrReplaceTempView(name)
        df.count()
        ms = best(spark, name, 20 if name == names[-1] else 5)
    with open(out, "w") as f:
        json.dump({"relation": names[-1], "ms": ms}, f)
    print(f"[bench] {names[-1]} {which}: {ms:.1f} ms")


if __name__ == "__main__":
    main()

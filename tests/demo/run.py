"""One run of the demonstration, inside spark-submit: caches the tables once for each codec, times the queries, writes JSON."""

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import queries
from pyspark.sql import SparkSession


def median_ms(body, rounds: int) -> float:
    """Median of timed rounds after a warm-up as long."""
    times = []
    for i in range(2 * rounds):
        start = time.perf_counter()
        body()
        if i >= rounds:
            times.append((time.perf_counter() - start) * 1000)
    return sorted(times)[len(times) // 2]


def build(spark: SparkSession, data: Path) -> float:
    """Reads the Parquet files into cached tables; seconds."""
    start = time.perf_counter()
    for table in queries.TABLES:
        df = spark.read.parquet(str(data / table))
        df.createOrReplaceTempView(table)
        spark.catalog.cacheTable(table)
        spark.table(table).count()
    return time.perf_counter() - start


def memory(spark: SparkSession) -> int:
    return sum(info.memSize() for info in spark.sparkContext._jsc.sc().getRDDStorageInfo())


def measure(spark: SparkSession, data: Path, rounds: int) -> dict:
    # the first build compiles the code and pages in the files; the faster of the others counts
    seconds = []
    for _ in range(3):
        spark.catalog.clearCache()
        seconds.append(build(spark, data))
    result = {"build": min(seconds[1:]) * 1000, "memory": memory(spark), "ms": {}, "answers": {}}
    for name, sql in queries.QUERIES.items():
        result["ms"][name] = median_ms(lambda sql=sql: spark.sql(sql).collect(), rounds)
        result["answers"][name] = [str(r) for r in spark.sql(sql).collect()]
    read = spark.sql(queries.FULL_READ_SQL)
    result["ms"][queries.FULL_READ] = median_ms(lambda: read.write.format("noop").mode("overwrite").save(), rounds)
    result["answers"][queries.FULL_READ] = [str(r) for r in spark.sql(queries.FULL_CHECK).collect()]
    relation = spark.table("lineitem")._jdf.queryExecution().withCachedData()
    result["serializer"] = relation.cacheBuilder().serializer().getClass().getSimpleName()
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--codecs", required=True, help="comma-separated; 'spark' is Spark's own format")
    parser.add_argument("--rounds", type=int, required=True)
    args = parser.parse_args()
    spark = SparkSession.builder.appName("quiver-demo").getOrCreate()
    results = {}
    for codec in args.codecs.split(","):
        label = "Spark's own format" if codec == "spark" else f"Quiver, codec {codec}"
        print(f"[demo]   {label}: building the cache and running {len(queries.QUERIES) + 1} queries", file=sys.stderr, flush=True)
        if codec != "spark":
            spark.conf.set("spark.quiver.compression.codec", codec)
        results[codec] = measure(spark, args.data, args.rounds)
        spark.catalog.clearCache()
    args.out.write_text(json.dumps(results))
    spark.stop()


if __name__ == "__main__":
    main()

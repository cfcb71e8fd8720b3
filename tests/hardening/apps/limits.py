"""Caches and joins with batches of the given size, once with each codec; says how each ended. Argument: spark.quiver.batch.maxBytes."""

import sys

from common import CODECS, found, native_bytes
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("limits").getOrCreate()
COLUMNS = ("id", "concat('name ', id) s", "cast(id as decimal(38,4)) d", "array(id, null) a", "id / 3 f")


def outcome(codec: str) -> str:
    """The answer's check, or the message of the failure."""
    spark.conf.set("spark.quiver.compression.codec", codec)
    spark.conf.set("spark.quiver.batch.maxBytes", sys.argv[1])
    spark.conf.set("spark.sql.inMemoryColumnarStorage.batchSize", 10_000_000)
    df = spark.range(0, 100_000, 1, 2).selectExpr(*COLUMNS, f"'{codec}' x").cache()
    try:
        row = df.selectExpr("count(*)", "sum(id)", "sum(d)", "max(length(s))", "sum(size(a))").collect()[0]
        # reading as rows, in the same task as another reader
        pairs = df.join(df.select("id", "s").withColumnRenamed("s", "t"), "id").where("s = t").count()
        right = [str(x) for x in row] == ["100000", "4999950000", "4999950000.0000", "10", "200000"] and pairs == 100_000
        return "right" if right else f"wrong: {row} {pairs}"
    except Exception as e:
        return str(e)
    finally:
        df.unpersist(blocking=True)


found(outcomes=[outcome(codec) for codec in CODECS], native=native_bytes(spark))
spark.stop()

"""Caches, reads and drops small relations: resident memory must not grow with their number. Argument: how many."""

import sys

from common import codecs, found, native_bytes, resident_bytes, slope, use
from pyspark.sql import SparkSession

count = int(sys.argv[1])
spark = SparkSession.builder.appName("relations").getOrCreate()
# until the pools of the block manager and of the scheduler have their threads, hundreds of them
warm_up = count // 2
points = []
wrong = 0
for i in range(-warm_up, count):
    use(spark, codecs(spark)[i % len(codecs(spark))])
    n = 2000 + i % 7
    df = spark.range(0, n, 1, 1).selectExpr("id", "concat('name ', id % 100) s", "cast(id as decimal(20,2)) d").cache()
    row = df.selectExpr("count(*)", "sum(id)", "max(s)").collect()[0]
    wrong += tuple(row) != (n, n * (n - 1) // 2, "name 99")
    df.unpersist(blocking=True)
    if i >= 0 and i % max(1, count // 50) == 0:
        points.append((i, resident_bytes(spark)))
found(relations=count, wrong=wrong, slope=slope(points), first=points[0][1], last=points[-1][1], native=native_bytes(spark))
spark.stop()

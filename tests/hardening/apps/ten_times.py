"""Caches and reads data of many times the heap with MEMORY_AND_DISK. Argument: how many times."""

import sys

from common import found, native_bytes, stored_memory, stored_on_disk
from pyspark import StorageLevel
from pyspark.sql import SparkSession

times = float(sys.argv[1])
spark = SparkSession.builder.appName("ten times").getOrCreate()
heap = spark.sparkContext._jvm.java.lang.Runtime.getRuntime().maxMemory()
ROW = 8192
rows = int(times * heap / ROW)
# every row has other text, which does not compress in codec none: what is stored is as large as what was cached
df = spark.range(0, rows, 1, max(8, rows // 20000)).selectExpr("id", f"concat(cast(id as string), repeat('x', {ROW - 24})) s")
df = df.persist(StorageLevel(True, True, False, True))
row = df.selectExpr("count(*)", "sum(length(s) - length(cast(id as string)))", "max(id)").collect()[0]
again = df.where("id % 1000 = 7").selectExpr("count(*)", "sum(cast(substring(s, 1, instr(s, 'x') - 1) as long) - id)").collect()[0]
right = tuple(row) == (rows, rows * (ROW - 24), rows - 1) and tuple(again) == (len(range(7, rows, 1000)), 0)
found(wrong=int(not right), heap=heap, data=rows * ROW, memory=stored_memory(spark), disk=stored_on_disk(spark), native=native_bytes(spark))
spark.stop()

"""What the block manager counts for cached tables, beside the heap that is free once they are dropped.

Not beside its growth: Spark keeps a megabyte of its own of every query, whether the table is there or not.
"""

from common import CODECS, found, heap_bytes, stored_memory
from pyspark import StorageLevel
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("sizes").getOrCreate()
MEMORY = StorageLevel(False, True, False, True)
COLUMNS = ("id * 7919 % 1000003 k", "sha2(cast(id as string), 256) s", "id / 7 f", "cast(id as decimal(25,3)) d", "array(id, id + 1) a")
# enough that what Spark frees of its own at the same time, most of a megabyte, is little beside it
ROWS = 600_000
cases = []
# the first caching loads classes and compiles code that stay on the heap
spark.range(0, 5000).selectExpr(*COLUMNS).cache().count()
spark.catalog.clearCache()
for codec in CODECS:
    for rows_of_batch in (100, 10_000):
        spark.conf.set("spark.quiver.compression.codec", codec)
        spark.conf.set("spark.sql.inMemoryColumnarStorage.batchSize", rows_of_batch)
        df = spark.range(0, ROWS, 1, 4).selectExpr(*COLUMNS).persist(MEMORY)
        df.count()
        counted, before = stored_memory(spark), heap_bytes(spark)
        df.unpersist(blocking=True)
        cases.append({"codec": codec, "rows": rows_of_batch, "counted": counted, "freed": before - heap_bytes(spark)})
found(cases=cases)
spark.stop()

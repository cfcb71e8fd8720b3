"""What the block manager counts for cached tables, beside the objects that are gone once they are dropped, and beside the heap in use that
is then free.

Not beside what caching adds: Spark keeps a megabyte of its own of every query, whether the table is there or not.
"""

from common import codecs, found, live_bytes, stored_memory, use, used_heap
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
for codec in codecs(spark):
    for rows_of_batch in (100, 10_000):
        use(spark, codec)
        spark.conf.set("spark.sql.inMemoryColumnarStorage.batchSize", rows_of_batch)
        df = spark.range(0, ROWS, 1, 4).selectExpr(*COLUMNS).persist(MEMORY)
        df.count()
        counted, used, live = stored_memory(spark), used_heap(spark), live_bytes(spark)
        df.unpersist(blocking=True)
        live -= live_bytes(spark)
        used -= used_heap(spark)
        cases.append({"codec": codec, "rows": rows_of_batch, "counted": counted, "live": live, "used": used})
found(cases=cases)
spark.stop()

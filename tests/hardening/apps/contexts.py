"""A second SparkContext in the JVM of the first: both store with Quiver, and the first one's settings are not the second one's."""

from common import found, native_bytes
from pyspark.sql import SparkSession

BATCH = "io.github.quiverspark.QuiverCachedBatch"


def use(spark) -> list:
    df = spark.range(0, 5000, 1, 2).selectExpr("id", "concat('s', id) s").cache()
    answer = [str(x) for x in df.selectExpr("count(*)", "sum(id)", "max(s)").collect()[0]]
    kinds = list(spark.sparkContext._jvm.io.github.quiverspark.harness.Caches.batchTypes(df._jdf))
    return [answer, kinds, spark.conf.get("spark.quiver.status"), native_bytes(spark)]


results = []
for _ in range(3):
    session = SparkSession.builder.appName("contexts").getOrCreate()
    results.append(use(session))
    session.stop()
found(results=results, batch=BATCH)

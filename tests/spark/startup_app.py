"""Started by test_startup.py: caches a table and says on standard output, as one line of JSON, how it was stored and read."""

import json

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("startup").getOrCreate()
caches = spark.sparkContext._jvm.io.github.quiverspark.harness.Caches
df = spark.range(0, 5000, 1, 2).selectExpr("id", "concat('s', id) s", "cast(id as decimal(20,2)) d").cache()
df.createOrReplaceTempView("c")
answer = [str(x) for x in spark.sql("select count(*), sum(id), max(s), sum(d) from c where id >= 100").collect()[0]]
found = {
    "answer": answer,
    "serializers": list(caches.serializers(df._jdf)),
    "batches": list(caches.batchTypes(df._jdf)),
    "status": spark.conf.get("spark.quiver.status", None),
    "version": spark.conf.get("spark.quiver.version", None),
    "plan": spark.sql("explain select max(s) from c where id > 3").collect()[0][0],
}
spark.conf.set("spark.quiver.scan.enabled", "false")
for bound in (100, 200):
    assert spark.sql(f"select count(*) from c where id >= {bound}").collect()[0][0] == 5000 - bound
print("FOUND " + json.dumps(found), flush=True)
spark.stop()

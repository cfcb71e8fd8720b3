"""Started by tests/cluster/test_startup.py: three SparkContexts in one JVM, the second without the plugin."""

import json

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

found = {"rounds": [], "sums": [], "native": []}
for plugin in (True, False, True):
    spark = SparkSession.builder.getOrCreate() if not found["rounds"] else None
    if spark is None:
        conf = SparkConf()
        if not plugin:
            conf.set("spark.plugins", "")
        spark = SparkSession(SparkContext(conf=conf))
    jvm = spark.sparkContext._jvm
    caches = jvm.io.github.quiverspark.harness.Caches
    df = spark.range(0, 3000, 1, 2).selectExpr("id", "cast(id as string) s").cache()
    found["sums"].append(df.selectExpr("sum(id)", "max(s)").collect()[0][0])
    serializer, batch = list(caches.serializers(df._jdf)), list(caches.batchTypes(df._jdf))
    found["rounds"].append([serializer[0], batch[0], spark.conf.get("spark.quiver.status", None)])
    found["native"].append(jvm.io.github.quiverspark.nativelib.Native.nativeBytes())
    spark.stop()
print("FOUND " + json.dumps(found), flush=True)

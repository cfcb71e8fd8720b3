"""Jobs over a cached table, and jobs that build one, are cancelled at random points on local[4]; answers stay right. Argument: how many."""

import random
import sys
import threading
import time

from common import CODECS, found, native_bytes
from pyspark.sql import SparkSession

count = int(sys.argv[1])
spark = SparkSession.builder.appName("kills").getOrCreate()
sc = spark.sparkContext
chance = random.Random(20261202)
ROWS = 400_000
COLUMNS = ("id", "concat('name ', id % 1000) s", "cast(id as double) / 8 f", "cast(id as decimal(20,2)) d", "array(id, null, id % 5) a")
QUERIES = (
    "select sum(id), max(s), sum(f), sum(d), sum(a[2]) from {}",
    "select count(*), count(distinct s) from {} where id % 7 = 3",
    "select max(x) from (select id + 1 x, upper(s), a from {} order by f desc limit 1000)",
)
table = spark.range(0, ROWS, 1, 8).selectExpr(*COLUMNS)
table.createOrReplaceTempView("plain")
right = [spark.sql(q.format("plain")).collect() for q in QUERIES]

killed = wrong = 0


def attempt(group: str, query: int, view: str) -> None:
    """Runs a query; whether it was killed or answered is told by `outcome`."""
    sc.setJobGroup(group, group, interruptOnCancel=True)
    try:
        outcome[group] = spark.sql(QUERIES[query].format(view)).collect()
    except Exception as e:
        assert "cancelled" in str(e).lower() or "killed" in str(e).lower() or "interrupt" in str(e).lower(), str(e)[:3000]
        outcome[group] = None


outcome = {}
for i in range(count):
    spark.conf.set("spark.quiver.compression.codec", CODECS[i % 4])
    if i % 8 == 0:  # a new table, so that building is killed, too
        spark.catalog.clearCache()
        cached = spark.range(0, ROWS, 1, 8).selectExpr(*COLUMNS, f"{i} i").cache()
        cached.createOrReplaceTempView("c")
    query = i % len(QUERIES)
    group = f"job-{i}"
    thread = threading.Thread(target=attempt, args=(group, query, "c"))
    started = time.monotonic()
    thread.start()
    time.sleep(chance.random() * (1.0 if i % 8 == 0 else 0.3))
    sc.cancelJobGroup(group)
    thread.join(120)
    assert not thread.is_alive()
    if outcome[group] is None:
        killed += 1
    else:
        wrong += outcome[group] != right[query]
    if i % 8 == 7:
        wrong += [spark.sql(q.format("c")).collect() for q in QUERIES] != right
spark.catalog.clearCache()
deadline = time.monotonic() + 30
while native_bytes(spark) and time.monotonic() < deadline:
    time.sleep(0.1)
found(jobs=count, killed=killed, wrong=wrong, native=native_bytes(spark))
spark.stop()

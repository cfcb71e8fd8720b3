"""Tasks that fail, stop early or are cancelled; tables made and dropped by many threads; levels that leave the heap."""

import threading
import time

from harness.registry import case


@case()
def udf_that_fails_the_first_time(t):
    """Field report 17 [SPARK-49982]: the retry is right."""
    import os
    import tempfile

    from pyspark.sql import functions as F

    with tempfile.TemporaryDirectory() as folder:
        mark = os.path.join(folder, "failed")

        @F.udf("long")
        def once(i):
            if i == 1500 and not os.path.exists(mark):
                open(mark, "w").close()
                raise ValueError("the first time")
            return i * 2

        df = t.spark.range(0, 2000, 1, 2).select("id", once("id").alias("d")).cache()
        try:
            df.count()
            raise AssertionError("the first attempt should fail")
        except Exception as e:
            assert "the first time" in str(e), str(e)[:500]
        assert df.count() == 2000
        t.check_stored(df)
        for reading in t.readers("row", "fused"):
            with reading:
                total = df.selectExpr("sum(d)")
                assert total.collect()[0][0] == sum(2 * i for i in range(2000))
                t.check_reader(total, t.reader)


@case()
def cancelled_while_building(t):
    """Field report 17: a job cancelled half-way leaves no native memory, and the table can be built afterwards."""
    from pyspark.sql import functions as F

    @F.udf("long")
    def slow(i):
        if i % 50 == 0:
            time.sleep(0.05)
        return i

    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 100)
    df = t.spark.range(0, 8000, 1, 2).select("id", slow("id").alias("v")).cache()
    failures = []

    def build():
        t.sc.setJobGroup("slow build", "", interruptOnCancel=True)
        try:
            df.count()
        except Exception as e:
            failures.append(e)

    thread = threading.Thread(target=build)
    thread.start()
    deadline = time.monotonic() + 60
    while not t.sc.statusTracker().getJobIdsForGroup("slow build") and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    t.sc.cancelJobGroup("slow build")
    thread.join(60)
    assert failures, "the job was not cancelled"
    # the job is over before its tasks are; one that still gives its block up makes unpersist fail, in Spark
    executors = t.sc._jsc.sc().statusTracker().getExecutorInfos
    while any(e.numRunningTasks() for e in executors()):
        assert time.monotonic() < deadline, "cancelled tasks still run"
        time.sleep(0.05)
    if t.quiver:
        t.check_native_memory()
    df.unpersist(blocking=True)
    t.cache("c", lambda s: s.range(0, 8000, 1, 2).selectExpr("id", "id * 2 v"))
    for reading in t.readers("row", "fused"):
        with reading:
            t.value("select sum(v) from c", 2 * sum(range(8000)), reads=t.reader)


@case()
def readers_that_stop_early(t):
    """Limits and failing consumers leave batches half read."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 500)
    t.cache("c", lambda s: s.range(0, 20000, 1, 2).selectExpr("id", "concat('s', id) s"))
    for reading in t.readers():
        with reading:
            for _ in range(5):
                assert len(t.spark.sql("select id, s from c limit 3").collect()) == 3
                assert len(t.spark.sql("select id + 1, upper(s) from c where id > 10 limit 3").collect()) == 3
                assert len(t.spark.table("c").take(700)) == 700
            try:
                t.spark.sql("select sum(if(id = 700, raise_error('stop'), id)) from c").collect()
                raise AssertionError("no failure")
            except Exception as e:
                assert "stop" in str(e), str(e)[:500]
            next(iter(t.spark.table("c").toLocalIterator()))


@case(params=["8"])
def threads_cache_and_drop(t, count):
    """Field report 18 [SPARK-39104, SPARK-53435]: threads that cache, count, filter and unpersist the same and other tables.

    In a full run for a minute with each codec.
    """
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            cache_and_drop(t, int(count), 15 if t.every else 4)


def cache_and_drop(t, count, seconds):
    errors = []
    end = time.monotonic() + seconds

    def work(n):
        try:
            i = 0
            while i < 2 or time.monotonic() < end:
                i += 1
                size = 1000 + 100 * (i % 2)
                own = t.spark.range(0, size + n, 1, 2).selectExpr("id", "concat('s', id) s").cache()
                shared = t.spark.range(0, 3000, 1, 2).selectExpr("id", "id % 7 k", "repeat('x', 20) x").cache()
                assert own.count() == size + n
                assert own.where("id >= 990").count() == size + n - 990
                assert shared.groupBy("k").count().count() == 7
                assert shared.count() == 3000
                own.unpersist()
                if n % 2:
                    shared.unpersist()
        except Exception as e:
            errors.append(f"thread {n}: {type(e).__name__} {str(e)[:1500]}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 200)
    assert not errors, "\n".join(errors[:2])
    assert not any(x.is_alive() for x in threads)


_LEVELS = ["MEMORY_ONLY", "DISK_ONLY", "MEMORY_AND_DISK", "MEMORY_ONLY_SER", "OFF_HEAP"]


def _level(name):
    from pyspark import StorageLevel

    # PySpark's own constants are serialized levels for RDDs; these are Java's
    return {
        "MEMORY_ONLY": StorageLevel(False, True, False, True),
        "DISK_ONLY": StorageLevel(True, False, False, False),
        "MEMORY_AND_DISK": StorageLevel(True, True, False, True),
        "MEMORY_ONLY_SER": StorageLevel(False, True, False, False),
        "OFF_HEAP": StorageLevel(True, True, True, False),
    }[name]


def _types(s):
    columns = [
        "id",
        "cast(id as string) s",
        "cast(id as decimal(10,2)) d",
        "cast(id as decimal(38,2)) e",
        "date_add(date'2000-01-01', cast(id % 1000 as int)) t",
        "array(id, null) a",
        "map('k', id) m",
        "named_struct('x', id, 'y', 'v') r",
        "cast(id as double) / 7 f",
    ]
    return s.range(0, 12000, 1, 2).selectExpr(*columns)


@case(params=_LEVELS)
def levels(t, name):
    """Every storage level, with Java serialization."""
    t.cache("c", _types, level=_level(name))
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            t.full("c")


@case(params=["DISK_ONLY", "MEMORY_ONLY_SER"], group="kryo")
def levels_with_kryo(t, name):
    """Field report 8 [SPARK-51777, SPARK-56411]: registrationRequired=true and our registrator."""
    t.cache("c", _types, level=_level(name))
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            t.same("select * from c", order="partition", reads=None)
            t.same("select sum(d), max(s), max(t) from c where id > 100", reads=None)


@case(group="by-hand")
def serializer_set_by_hand(t):
    """spark.sql.cache.serializer without the plugin: stored by Quiver, read by Spark's own scan."""
    t.cache("c", _types)
    for reading in t.readers("row", "columnar"):
        with reading:
            t.full("c")
    for reading in t.readers("row", "fused"):
        with reading:
            t.same("select sum(d), max(s), count(m), sum(r.x) from c where id > 100", reads=None)
            t.same("select count(*) from c where f = double('NaN') or d > 11000", reads=None)

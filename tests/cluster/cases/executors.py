"""Two executors: blocks read from each other, replicated, moved and lost; tasks that run twice, fail and are cancelled."""

import os
import signal
import threading
import time

from harness.registry import case

CODECS = ("pack", "zstd")
COLUMNS = ("id", "concat('s', id % 977) s", "cast(id as decimal(20,2)) d", "if(id % 3 = 0, null, id * 0.5D) f", "array(id, null) a")
QUERIES = (
    "select count(*), sum(id), max(s), sum(d), sum(f), sum(a[0]) from c",
    "select s, count(*), max(d) from c where id >= 100 group by s",
)
#: a column whose values take 20 ms each time that another 64 rows have been made
SLOWLY = "if(id % 64 = 0, java_method('java.lang.Thread', 'sleep', 20L), '') w"


def level(disk=True, memory=True, off_heap=False, deserialized=True, replication=1):
    from pyspark import StorageLevel

    return StorageLevel(disk, memory, off_heap, deserialized, replication)


def table(columns=COLUMNS, rows=20_000, partitions=4):
    return lambda s: s.range(0, rows, 1, partitions).selectExpr(*columns)


def answers(t):
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            for sql in QUERIES:
                t.same(sql, reads=None)


def kill(t, executor):
    """As the kernel would do it."""
    os.kill(executor.pid, signal.SIGKILL)


def wait_until(what, seconds=60.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if what():
            return True
        time.sleep(0.2)
    return False


def in_background(work):
    """Starts a thread; the function that it returns waits for the end and raises what failed."""
    failures = []

    def run():
        try:
            work()
        except Exception as e:
            failures.append(e)

    thread = threading.Thread(target=run)
    thread.start()

    def join(seconds=200):
        thread.join(seconds)
        assert not thread.is_alive(), "the work does not end"
        if failures:
            raise failures[0]

    return join


def spread(t, df):
    """Blocks are on more than one executor."""
    return len(set(t.processes.locations(df._jdf))) > 1


@case(group="executors", codecs=CODECS, quick=True)
def read_from_another_executor(t):
    """One task reads the blocks of both executors."""
    df = t.cache("c", table())
    assert spread(t, df), list(t.processes.locations(df._jdf))
    total = df.coalesce(1).selectExpr("sum(id)", "count(s)", "sum(d)").collect()[0]
    assert [int(x) for x in total] == [199990000, 20000, 199990000]
    answers(t)


@case(group="standalone", codecs=CODECS, quick=True)
def read_from_another_executor_by_kryo(t):
    """The same where bytes are encrypted, compressed and written by Kryo with registrationRequired; the jar came by --packages."""
    read_from_another_executor(t)


@case(group="executors", codecs=CODECS)
def replicated(t):
    """Level _2: each block is on both executors, and one of them is enough."""
    df = t.cache("c", table(), level=level(replication=2))
    assert wait_until(lambda: all("," in x for x in t.processes.locations(df._jdf))), list(t.processes.locations(df._jdf))
    answers(t)
    kill(t, t.executors()[0])
    answers(t)


@case(group="executors", codecs=CODECS)
def executor_killed_while_building(t):
    """Field report 17."""
    before = {e.name for e in t.executors()}
    df = t.spark.range(0, 20_000, 1, 8).selectExpr(*COLUMNS, SLOWLY).cache()
    join = in_background(df.count)
    assert wait_until(lambda: 0 < sum(x != "" for x in t.processes.locations(df._jdf)) < 8)
    kill(t, t.executors()[0])
    join()
    t.cached["c"] = df
    table((*COLUMNS, "'' w"), partitions=8)(t.raw).createOrReplaceTempView("c_plain")
    answers(t)
    assert {e.name for e in t.executors()} != before


@case(group="executors", codecs=CODECS, quick=True)
def executor_killed_while_reading(t):
    df = t.cache("c", table(partitions=8))
    slow = df.selectExpr("id", SLOWLY).selectExpr("sum(id)", "sum(length(w))")  # 'null' from each of 313 rows that slept
    got = []
    join = in_background(lambda: got.extend(slow.collect()))
    assert wait_until(lambda: t.sc.statusTracker().getActiveStageIds())
    kill(t, t.executors()[0])
    join()
    assert list(got[0]) == [199990000, 4 * 313]
    answers(t)


@case(group="standalone", codecs=("pack",))
def executors_killed_on_workers(t):
    """The same on a standalone cluster, where what is fetched, replicated and made again is encrypted and written by Kryo."""
    for lose in (replicated, executor_killed_while_building, executor_killed_while_reading):
        lose(t)
        t.drop()


@case(group="standalone", codecs=CODECS)
def speculative_tasks(t):
    """A task is slow on one executor only: its second copy builds the same block on the other, and rows are counted once."""
    slow_one = t.executors()[0].name
    hesitates = f"if(id = 15000, java_method('io.github.quiverspark.harness.Processes', 'sleepOn', '{slow_one}'), '') w"
    df = t.spark.range(0, 20_000, 1, 4).selectExpr(*COLUMNS, hesitates).cache()
    start = time.monotonic()
    assert df.count() == 20_000
    assert time.monotonic() - start < 119, "no speculative copy ended before the slow task, which takes 120 s"
    assert df.selectExpr("sum(id)").collect()[0][0] == 199990000
    t.check_stored(df)
    assert t.caches.plannerRows(df._jdf) == 20_000


@case(group="executors", codecs=CODECS)
def cancelled_half_way(t):
    """Field report 17: what was built before the job was cancelled is right, and so is the rest afterwards."""
    df = t.spark.range(0, 20_000, 1, 8).selectExpr(*COLUMNS, SLOWLY).cache()

    def build():
        t.sc.setJobGroup("half", "", interruptOnCancel=True)
        df.count()

    join = in_background(build)
    assert wait_until(lambda: sum(x != "" for x in t.processes.locations(df._jdf)) >= 2)
    t.sc.cancelJobGroup("half")
    try:
        join()
        raise AssertionError("the job was not cancelled")
    except Exception as e:
        assert "cancelled" in str(e), str(e)[:500]
    t.check_native_memory()
    assert df.selectExpr("count(*)", "sum(id)", "sum(d)").collect()[0][:2] == (20_000, 199990000)


#: 57 MB at least, whatever the codec, where two executors have 25 MB each
BIG = ("id", "sha2(cast(id as string), 512) || sha2(cast(-id as string), 512) s", "transform(sequence(1, 12), i -> xxhash64(id, i)) a")


def too_much(t, memory_level):
    df = t.cache("c", lambda s: s.range(0, 250_000, 1, 12).selectExpr(*BIG), level=memory_level)
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            t.same("select count(*), sum(id), max(s), bit_xor(a[3]) from c", reads=None)
            t.same("select bit_xor(a[11]), min(s) from c where id >= 200000", reads=None)
    return list(t.processes.stored(df._jdf))


@case(group="executors", codecs=("pack", "none"))
def memory_only_that_does_not_fit(t):
    """What is not kept is made again."""
    memory, disk = too_much(t, level(disk=False))
    assert disk == 0
    assert sum(x == "" for x in t.processes.locations(t.cached["c"]._jdf)) > 0, f"all of {memory} bytes fit"


@case(group="executors", codecs=("pack", "none"))
def memory_and_disk_that_spills(t):
    memory, disk = too_much(t, level())
    assert memory > 0 and disk > 0, f"{memory} bytes in memory, {disk} on disk"


@case(group="executors", codecs=CODECS)
def decommission(t):
    """An executor that leaves hands its blocks over: nothing is made again."""
    df = t.cache("c", table(), level=level())
    assert spread(t, df)
    leaving = t.processes.locations(df._jdf)[0]
    t.processes.decommission(t.sc._jsc, leaving)
    assert wait_until(lambda: all(x not in ("", leaving) for x in t.processes.locations(df._jdf)), 60), list(t.processes.locations(df._jdf))
    answers(t)


LEVELS = {
    "DISK_ONLY": {"memory": False, "deserialized": False},
    "MEMORY_AND_DISK": {},
    "MEMORY_ONLY_SER": {"disk": False, "deserialized": False},
    "MEMORY_AND_DISK_SER_2": {"deserialized": False, "replication": 2},
    "OFF_HEAP": {"off_heap": True, "deserialized": False},
}


@case(group="standalone", codecs=CODECS, params=list(LEVELS))
def levels(t, name):
    """Field report 8: every level, through Kryo with registrationRequired, compression and encryption."""
    df = t.cache("c", table(), level=level(**LEVELS[name]))
    answers(t)
    total = df.coalesce(1).selectExpr("sum(id)", "count(s)", "sum(d)").collect()[0]
    assert [int(x) for x in total] == [199990000, 20000, 199990000]


@case(group="executors", codecs=CODECS, quick=True)
def unpersisted_during_scans(t):
    """8 threads read tables while others drop them."""
    work = table(("id", "concat('s', id % 77) s"), rows=6000)
    tables = [work(t.spark).selectExpr("id", "s", f"{i} n") for i in range(3)]

    def reader(n):
        for i in range(4):
            df = tables[(n + i) % 3]
            df.cache()
            row = df.where("id >= 1000").selectExpr("count(*)", "sum(id)", "max(s)").collect()[0]
            assert row == (5000, sum(range(1000, 6000)), "s9"), row
            if (n + i) % 2:
                df.unpersist()

    for join in [in_background(lambda n=n: reader(n)) for n in range(8)]:
        join()


@case(group="executors", codecs=("pack",))
def two_hundred_relations(t):
    frames = [t.spark.range(i, i + 50, 1, 1).selectExpr("id", "cast(id as string) s").cache() for i in range(200)]
    everything = frames[0]
    for df in frames[1:100]:
        everything = everything.unionAll(df)
    for df in frames[100:]:
        assert df.count() == 50
    row = everything.selectExpr("count(*)", "sum(id)", "count(s)").collect()[0]
    assert row == (5000, sum(sum(range(i, i + 50)) for i in range(100)), 5000)
    for i, df in enumerate(frames):
        t.check_stored(df)
        assert df.selectExpr("sum(id)").collect()[0][0] == sum(range(i, i + 50))


@case(group="executors", codecs=CODECS, quick=True)
def two_sessions(t):
    """Sessions share what is cached; each has settings of its own."""
    t.cache("c", table())
    other = t.spark.newSession()
    other.conf.set("spark.quiver.compression.codec", "lz4")
    other.conf.set("spark.sql.inMemoryColumnarStorage.enableVectorizedReader", "false")
    df = table()(other)
    assert t.caches.count(df._jdf) == 1
    mine = other.range(0, 5000, 1, 2).selectExpr("id", "cast(id as string) s").cache()
    assert mine.selectExpr("sum(id)", "max(s)").collect()[0] == (sum(range(5000)), "999")
    t.check_stored(mine)
    assert [int(x) for x in df.selectExpr("sum(id)", "sum(d)").collect()[0]] == [199990000, 199990000]
    answers(t)


@case(group="dynamic", codecs=("pack",))
def executors_come_and_go(t):
    """Dynamic allocation: idle executors leave with their blocks, which are made again when they are asked for."""
    df = t.cache("c", table(("id", "concat('s', id % 977) s", SLOWLY), partitions=8))
    assert wait_until(lambda: t.processes.count(t.sc._jsc) == 0, 90), "idle executors stay"
    assert all(x == "" for x in t.processes.locations(df._jdf))
    assert df.selectExpr("count(*)", "sum(id)", "max(s)").collect()[0] == (20_000, 199990000, "s99")
    assert t.processes.count(t.sc._jsc) > 0

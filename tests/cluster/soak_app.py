"""The application of soak.py."""

import argparse
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "spark"))

from harness import groups
from harness.registry import CODECS
from harness.tables import READERS, Tables
from pyspark import StorageLevel
from pyspark.sql import SparkSession

COLUMNS = {
    "s": "concat('s', id % 977)",
    "long_s": "sha2(cast(id as string), 512)",
    "d": "cast(id as decimal(20,2)) / 3",
    "f": "if(id % 3 = 0, null, id * 0.5D)",
    "n": "if(id % 11 = 0, double('NaN'), cast(id % 100 as double))",
    "t": "timestamp_micros(id * 1000003)",
    "b": "id % 7 = 0",
    "a": "transform(sequence(1, 4), i -> xxhash64(id, i))",
    "m": "map('k', id, 'l', null)",
    "r": "named_struct('x', id, 'y', cast(id as string))",
    "v": "cast(null as void)",
}
QUERIES = (
    "select count(*) from c",
    "select * from c",
    "select count(*), sum(id), min(id), max(id) from c where id >= {n}",
    "select k, count(*), max(id) from c group by k",
    "select * from c where id between {n} and {n} + 50 order by id",
    "select x.k, count(*) from c x join c y on x.id = y.id + 1 group by x.k",
    "select id, k from c where k in (1, 2, {n}) and id % 2 = 0",
    "select k, sum(id) over (partition by k order by id) w from c where id < {n}",
)
LEVELS = (
    StorageLevel(True, True, False, True),
    StorageLevel(False, True, False, True),
    StorageLevel(True, False, False, False),
    StorageLevel(True, True, False, False),
    StorageLevel(True, True, False, True, 2),
)


class Soak:
    """Counts what happened; the rest is in Tables."""

    def __init__(self, tables: Tables, chance: random.Random):
        self.t = tables
        self.chance = chance
        self.compared = self.killed = self.relations = self.spilled = 0
        self.by_threads = 0
        self.failures: list[str] = []

    def round(self, number: int) -> None:
        t, chance = self.t, self.chance
        t.begin(f"round {number}", chance.choice(CODECS))
        t.conf("spark.sql.inMemoryColumnarStorage.batchSize", chance.choice((100, 1000, 10000)))
        names = chance.sample(sorted(COLUMNS), chance.randint(1, 5))
        big = number % 5 == 4  # more than the executors' memory holds
        if big:
            names = ["long_s", "a", "s"]
        columns = ["id", "id % 13 k", *(f"{COLUMNS[n]} {n}" for n in names)]
        rows, partitions = (250_000, 12) if big else (chance.randint(0, 12_000), chance.randint(1, 6))
        level = LEVELS[0] if big else chance.choice(LEVELS)
        t.cache("c", lambda s: s.range(0, rows, 1, partitions).selectExpr(*columns), level=level)
        self.relations += 1
        if level.useMemory:
            self.spilled += t.processes.stored(t.cached["c"]._jdf)[1]
        threads = [threading.Thread(target=self.cache_and_drop, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        queries = chance.sample(QUERIES[2:5] if big else QUERIES, 3)
        for reading in t.readers(chance.choice(READERS[:2]), chance.choice(READERS), aqe=(chance.random() < 0.5,)):
            with reading:
                for sql in queries:
                    killer = self.kill_soon() if chance.random() < 0.12 else None
                    t.same(sql.format(n=chance.randint(0, max(rows, 1))), reads=None)
                    self.compared += 1
                    if killer:
                        killer.join()
        for thread in threads:
            thread.join()
        t.failures += self.failures
        t.end()

    def cache_and_drop(self, i: int) -> None:
        """What other users of the same executors do meanwhile."""
        try:
            df = self.t.spark.range(0, 3000 + i, 1, 3).selectExpr("id", "concat('x', id) s").cache()
            for _ in range(2):
                got = df.where("id >= 10").selectExpr("count(*)", "sum(id)", "count(s)").collect()[0]
                assert got == (2990 + i, sum(range(10, 3000 + i)), 2990 + i), got
                self.by_threads += 1
            df.unpersist()
            self.relations += 1
        except Exception as e:
            self.failures.append(f"thread {i}: {type(e).__name__} {str(e)[:2000]}")

    def kill_soon(self) -> threading.Thread:
        """Kills an executor while the query runs that comes next."""
        victim = self.chance.choice(self.t.executors())

        def kill() -> None:
            time.sleep(0.2)
            os.kill(victim.pid, signal.SIGKILL)

        self.killed += 1
        thread = threading.Thread(target=kill)
        thread.start()
        return thread


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    args = parser.parse_args()
    spark = SparkSession.builder.appName("soak").getOrCreate()
    tables = Tables(spark, groups.GROUPS["executors"], True, list(READERS))
    soak = Soak(tables, random.Random(args.seed))
    end = time.monotonic() + 60 * args.minutes
    number, code = 0, 0
    try:
        while time.monotonic() < end:
            soak.round(number)
            number += 1
    except Exception as e:
        print(f"round {number} failed: {type(e).__name__}: {str(e)[:4000]}", flush=True)
        code = 1
    print(f"rounds            {number}")
    print(f"queries           {2 * soak.compared + soak.by_threads}")
    print(f"answers compared  {soak.compared + soak.by_threads}")
    print(f"executors killed  {soak.killed}")
    print(f"relations cached  {soak.relations}")
    print(f"bytes spilled     {soak.spilled}")
    tables.drop()
    print(f"native bytes      {tables.native_bytes()}", flush=True)
    spark.stop()
    return code


if __name__ == "__main__":
    sys.exit(main())

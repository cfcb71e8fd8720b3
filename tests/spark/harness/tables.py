"""What a case works with: the same tables cached in one session and uncached in another, read by every reader, and compared."""

import contextlib
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from . import groups
from .settings import AGGREGATES, AQE, CODEC, VECTORIZED

#: reader -> what the plan must show for a full read
READERS = ("row", "fused", "columnar")


@dataclass(frozen=True)
class Executor:
    """An executor that is a process of its own."""

    name: str
    pid: int
    native_bytes: int


class Tables:
    """Handed to each case. `spark` is the session that caches; `raw` has a cache manager of its own and never caches."""

    def __init__(self, spark: SparkSession, group: groups.Group, quiver: bool, readers: list[str], every: bool = False):
        """every: what a case leaves out to save time is not left out."""
        self.spark = spark
        self.sc = spark.sparkContext
        self.jvm = self.sc._jvm
        session = "org.apache.spark.sql.SparkSession" if spark.version < "4" else "org.apache.spark.sql.classic.SparkSession"
        self.raw = SparkSession(self.sc, getattr(self.jvm, session)(self.sc._jsc.sc()))
        self.group = group
        self.quiver = quiver
        self.wanted_readers = readers
        self.every = every
        helper = self.jvm.io.github.quiverspark.harness
        self.rows, self.plans, self.caches, self.processes = helper.Rows, helper.Plans, helper.Caches, helper.Processes
        self.codec = ""
        self.reader = "row"
        self.cached: dict[str, DataFrame] = {}
        self.failures: list[str] = []
        self.changed: dict[str, str | None] = {}
        self.expected: dict[tuple, tuple] = {}
        self.title = ""
        self.phase = 0

    # ---- life of a case

    def begin(self, title: str, codec: str) -> None:
        """title: the case and its parameter; what the uncached queries gave is kept until it changes."""
        if title != self.title:
            self.title, self.expected = title, {}
        self.codec, self.reader, self.phase = codec, "row", 0
        self.failures = []
        self.cached = {}
        if codec and self.quiver:
            self.spark.conf.set(CODEC, codec)

    def end(self) -> None:
        """Drops all that the case made; then no native memory may be left."""
        self.drop()
        for key, old in self.changed.items():
            for session in (self.spark, self.raw):
                session.conf.unset(key) if old is None else session.conf.set(key, old)
        self.changed = {}
        if self.quiver:
            self.check_native_memory()
        if self.failures:
            raise AssertionError("\n".join(self.failures))

    def check_native_memory(self) -> None:
        """Task threads of Python readers may end a little after the job."""
        deadline = time.monotonic() + 5
        while (left := self.native_bytes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left == 0, f"{left} native bytes are still in use after the case"

    def native_bytes(self) -> int:
        here = self.jvm.io.github.quiverspark.nativelib.Native.nativeBytes()
        return here + sum(e.native_bytes for e in self.executors())

    def executors(self) -> list[Executor]:
        """The executors that run, asked by tasks; those that have just been replaced are waited for."""
        wanted = self.group.executors
        found = [line.split() for line in self.processes.executors(self.sc._jsc, wanted, 90_000)] if wanted else []
        return [Executor(name, int(pid), int(native)) for name, pid, native in found]

    def drop(self) -> None:
        """Drops the tables; the case goes on with others, perhaps of the same names."""
        self.phase += 1
        self.cached = {}
        self.spark.catalog.clearCache()
        for session in (self.spark, self.raw):
            session._jsparkSession.sessionState().catalog().clearTempTables()

    # ---- making tables

    def conf(self, key: str, value: object) -> None:
        """Sets a run-time setting in both sessions until the end of the case."""
        if key not in self.changed:
            self.changed[key] = self.spark.conf.get(key, None)
        for session in (self.spark, self.raw):
            session.conf.set(key, str(value))

    def cache(
        self,
        name: str,
        build: Callable[[SparkSession], DataFrame],
        level: object = None,
        stored: bool = True,
        eager: bool = True,
    ) -> DataFrame:
        """Makes view `name`: cached in `spark`, uncached in `raw`.

        build: makes the table in a session; must be deterministic
        stored: whether Quiver is expected to store it (False: Spark's serializer gets the relation)
        """
        for view in (name, f"{name}_plain"):
            build(self.raw).createOrReplaceTempView(view)
        df = build(self.spark)
        df = df.persist(level) if level is not None else df.cache()
        if eager:
            df.count()
        df.createOrReplaceTempView(name)
        self.cached[name] = df
        if eager:
            self.check_stored(df, stored)
        return df

    def check_stored(self, df: DataFrame, stored: bool = True) -> None:
        """The relation is held by the serializer and as the batches that the group promises: no case passes for want of Quiver."""
        ours = self.quiver and self.group.stores
        assert self.caches.count(df._jdf) > 0, "the table is not cached"
        serializers = set(self.caches.serializers(df._jdf))
        assert serializers == {groups.SERIALIZER if ours else groups.SPARK_SERIALIZER}, f"serializer {serializers}"
        types = set(self.caches.batchTypes(df._jdf))
        right = groups.BATCH if ours and stored else groups.SPARK_BATCH
        assert types <= {right}, f"stored batches are {types}"
        assert types or df.count() == 0, "rows, yet no batch"

    # ---- reading by every reader

    def readers(self, *names: str, aqe: tuple[bool, ...] | None = None) -> Iterator[contextlib.AbstractContextManager]:
        """For each reader, with adaptive execution off and on (in a short run only `aqe`): a context in which that reader is used.

        row: Spark's row reader. fused: vectors under generated code (where the plan allows). columnar: views are unions of a table with
        itself, so that the scan's parent takes vectors. A failure inside is noted with the reader's name, and the next one has its turn.
        """
        for name in names or READERS:
            if name not in READERS:
                raise ValueError(name)
            if name in self.wanted_readers:
                for adaptive in (False, True) if aqe is None or self.every else aqe:
                    yield self._reading(name, adaptive)

    @contextlib.contextmanager
    def _reading(self, reader: str, adaptive: bool) -> Iterator[None]:
        self.reader = reader
        self.conf(VECTORIZED, str(reader != "row").lower())
        self.conf(AQE, str(adaptive).lower())
        # counts without a filter: answered from statistics, and decoded
        self.conf(AGGREGATES, str(not adaptive).lower())
        for name, df in self.cached.items():
            self._view(name, df)
        try:
            yield
        except Exception as e:  # noted; reported by end()
            where = f"reader {reader}, adaptive execution {'on' if adaptive else 'off'}, codec {self.codec}"
            frames = [f for f in traceback.extract_tb(e.__traceback__) if "harness" not in f.filename and "pyspark" not in f.filename]
            at = f" at {frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno}" if frames else ""
            self.failures.append(f"[{where}]{at} {type(e).__name__}: {str(e)[:3000]}")
        finally:
            self.reader = "row"
            for name, df in self.cached.items():
                self._view(name, df)

    def _view(self, name: str, df: DataFrame) -> None:
        raw = self.raw.table(f"{name}_plain")
        if self.reader == "columnar":
            df, raw = df.unionAll(df), raw.unionAll(raw)
        for frame, session in ((df, self.spark), (raw, self.raw)):
            # gone first: where a view takes the place of another, Spark 3 drops the cached data of the other's plan
            session._jsparkSession.sessionState().catalog().dropTempView(name)
            frame.createOrReplaceTempView(name)

    # ---- comparing

    @staticmethod
    def schema(df: DataFrame) -> str:
        """Names, types, nullability and metadata, as the JVM has them: Python before 4.0 knows no calendar intervals."""
        return df._jdf.schema().json()

    def full(self, name: str, exact_bytes: bool = True) -> DataFrame:
        """Reads all of a table and compares it with the uncached one: the same rows, bit for bit, in the same order in the same partitions.

        The row reader must also give the same UnsafeRow bytes (exact_bytes), which Spark hashes and compares.
        """
        sql = f"select * from {name}"
        # a filter in generated code that drops no row makes the reader a fused one
        df = self.spark.sql(f"{sql} where monotonically_increasing_id() >= 0" if self.reader == "fused" else sql)
        want, schema = self._expected(sql, "bytes")
        if self.reader == "columnar":  # the view is the union of the table with itself
            want = want + want
        got = self._answer(df, "bytes")
        assert self.schema(df) == schema, f"{sql}: the schema is {self.schema(df)}, not {schema}"
        if [p[:2] for p in got] != [p[:2] for p in want]:
            raise AssertionError(f"{sql}: {self._difference(df, self.raw.sql(sql), 'partition')}")
        if self.reader == "row" and self.quiver and exact_bytes:
            assert got == want, f"{sql}: equal values, yet other UnsafeRow bytes"
        self.check_reader(df, self.reader)
        return df

    def same(self, sql: str, order: str = "set", reads: str | None = "default") -> DataFrame:
        """Runs a query in both sessions and compares.

        order: "set" (any order), "list" (row after row), "partition" (row after row in each partition)
        reads: the reader that the plan must show (None: any; "default": the current one, if it is row or fused)
        Returns the cached query, which has run.
        """
        df = self.spark.sql(sql)
        want, schema = self._expected(sql, order)
        assert self.schema(df) == schema, f"{sql}: the schema is {self.schema(df)}, not {schema}"
        if self._answer(df, order) != want:
            raise AssertionError(f"{sql}: {self._difference(df, self.raw.sql(sql), order)}")
        if reads == "default":  # expressions and filters are pushed below a union, so that its scans are read otherwise
            reads = None if self.reader == "columnar" else self.reader
        self.check_reader(df, reads)
        return df

    def value(self, sql: str, right: object, reads: str | None = None) -> None:
        """A query with one value: the literal right answer, and the uncached one."""
        df = self.same(sql, reads=reads)
        got = df.collect()[0][0]
        assert got == right, f"{sql}: {got!r}, not {right!r}"

    def check_reader(self, df: DataFrame, reader: str | None) -> None:
        if reader is None or not (self.quiver and self.group.stores):
            return
        assert self.caches.count(df._jdf) > 0, "the query does not read the cache"
        used = set(self.plans.readers(df._jdf))
        assert reader in used or used == {"aggregate"}, (
            f"read by {used or 'no scan'}, not by {reader}: {' < '.join(self.plans.operators(df._jdf))}"
        )

    def _expected(self, sql: str, order: str) -> tuple:
        """Answer and schema of the uncached query; kept while the codec is all that changes."""
        # the columnar reader's views have twice the rows
        key = (self.title, self.phase, sql, order, self.reader == "columnar" and order != "bytes")
        if key not in self.expected:
            if order == "bytes":  # always of the tables themselves
                for name in self.cached:
                    self.raw.table(f"{name}_plain").createOrReplaceTempView(name)
            df = self.raw.sql(sql)
            assert self.caches.count(df._jdf) == 0, "the uncached query reads a cache"
            self.expected[key] = (self._answer(df, order), self.schema(df))
        return self.expected[key]

    def _answer(self, df: DataFrame, order: str) -> object:
        if order == "list":
            return list(self.rows.hashes(df._jdf))
        digests = [list(p) for p in self.rows.digests(df._jdf)]
        if order == "bytes":
            return [(p[0], p[1], p[3]) for p in digests]
        if order == "partition":
            return [(p[0], p[1]) for p in digests]
        return sum(p[0] for p in digests), sum(p[2] for p in digests) & (2**64 - 1)

    def _difference(self, got: DataFrame, want: DataFrame, order: str) -> str:
        texts = [list(self.rows.texts(x._jdf, 20000)) for x in (got, want)]
        if order != "partition":
            texts = [[x.split(": ", 1)[1] for x in t] for t in texts]
        if order == "set":
            texts = [sorted(t) for t in texts]
        for i, (a, b) in enumerate(zip(*texts, strict=False)):
            if a != b:
                return f"row {i} of {len(texts[0])} is\n  {a}\nbut uncached\n  {b}"
        return f"{len(texts[0])} rows, uncached {len(texts[1])}: {(texts[0] + texts[1])[-1:]}"

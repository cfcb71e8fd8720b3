"""Python consumers of cached tables: they read on another thread, and may stop early. (Field report 23.)"""

from harness.registry import case


@case()
def pandas_and_arrow(t):
    """toPandas, mapInPandas, mapInArrow; a pandas UDF under a limit, more than fifty times over [SPARK-37088, SPARK-27832, SPARK-58241]."""
    import pandas as pd
    from pyspark.sql import functions as F

    t.conf("spark.sql.execution.arrow.pyspark.enabled", "true")
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 500)
    t.cache("c", lambda s: s.range(0, 4000, 1, 2).selectExpr("id", "concat('s', id) s", "if(id % 3 = 0, null, id / 7) d", "array(id) a"))
    once = t.raw.table("c").toPandas()

    @F.pandas_udf("string")
    def upper(s: pd.Series) -> pd.Series:
        return s.str.upper()

    def same_frames(batches):
        yield from batches

    for reading in t.readers():
        with reading:
            want = pd.concat([once, once], ignore_index=True) if t.reader == "columnar" else once
            df = t.spark.table("c")
            pd.testing.assert_frame_equal(df.toPandas(), want)
            pd.testing.assert_frame_equal(df.mapInPandas(same_frames, df.schema).toPandas(), want)
            pd.testing.assert_frame_equal(df.mapInArrow(same_frames, df.schema).toPandas(), want)
            for _ in range(9):
                rows = df.select(upper("s").alias("u")).limit(5).collect()
                assert len(rows) == 5 and all(r.u.startswith("S") for r in rows), rows


@case()
def python_udf(t):
    """A plain Python UDF over a cached table, then a filter on its result."""
    from pyspark.sql import functions as F

    t.cache("c", lambda s: s.range(0, 3000, 1, 2).selectExpr("id", "concat('s', id % 50) s"))
    length = F.udf(lambda s, n: len(s) + n, "long")
    for reading in t.readers():
        with reading:
            got, want = (x.table("c").select("id", length("s", "id").alias("n")).where("n % 2 = 0").collect() for x in (t.spark, t.raw))
            assert sorted(got) == sorted(want)


@case()
def chained_python_udfs(t):
    """Python UDFs of both kinds over each other and over a union of cached tables, with a column that passes by. [SPARK-58241]"""
    import pandas as pd
    from pyspark.sql import functions as F

    t.cache("c", lambda s: s.range(0, 1200, 1, 2).selectExpr("id", "concat('s', id % 50) s"))
    length = F.udf(lambda s: len(s), "long")
    twice = F.udf(lambda n: 2 * n, "long")

    @F.pandas_udf("long")
    def half(n: pd.Series) -> pd.Series:
        return n // 2

    def chain(df):
        lengths = df.union(df).select("id", length("s").alias("n"))
        return lengths.select("id", half(twice("n")).alias("a"), twice(half("n")).alias("b")).where("b = 2 and id % 2 = 0").limit(100_000)

    for reading in t.readers():
        with reading:
            got, want = (chain(x.table("c")).collect() for x in (t.spark, t.raw))
            assert want and sorted(got) == sorted(want)


@case()
def rdd_of_rows(t):
    """The RDD of a cached table, its Python rows and its persisted copies."""
    t.cache("c", lambda s: s.range(0, 2500, 1, 3).selectExpr("id", "concat('s', id) s", "map('k', id) m"))
    want = t.raw.table("c").collect()
    for reading in t.readers("row", "fused"):
        with reading:
            assert t.spark.table("c").rdd.map(lambda r: r).collect() == want
            assert t.spark.table("c").rdd.map(lambda r: r.m["k"]).sum() == sum(r.id for r in want)

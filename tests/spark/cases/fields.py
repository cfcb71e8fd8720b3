"""What has gone wrong with cached tables in the field, one case each (../shared/field-reports.md of the project; tickets in brackets)."""

from harness.registry import case


@case()
def same_column_read_under_two_names(t):
    """Field report 4 [SPARK-6743, SPARK-58390]."""
    t.cache("c", lambda s: s.range(0, 3000, 1, 3).selectExpr("id % 10 a", "cast(id % 7 as string) b", "id c"))
    for reading in t.readers("row", "fused"):
        with reading:
            t.same("select t1.b from c, (select * from c where c < 40) t1 group by t1.b", reads=None)
            t.value("select count(*) from c", 3000)
            t.same("select 1 from c where false", reads=None)
            t.same("select 1 from c where c > 2990", reads=None)
            t.same("select b, a, b, c, a from c", reads=None)
            t.same("select count(1), count(a) from c where a is not null", reads=None)
            t.value("select count(*) from (select a from c limit 7)", 7)


@case()
def level_none(t):
    """Field report 5 [SPARK-45386]: a level that keeps nothing still gives the rows."""
    from pyspark import StorageLevel

    df = t.cache("c", lambda s: s.range(0, 100, 1, 3).selectExpr("id", "cast(id as string) s"), level=StorageLevel.NONE, eager=False)
    assert df.count() == 100
    for reading in t.readers("row", "fused"):
        with reading:
            t.same("select * from c", order="partition", reads=None)
            t.same("select sum(id), max(s) from c where id > 5", reads=None)


@case()
def order_is_kept(t):
    """Field report 6 [SPARK-14193, SPARK-59009]: Spark leaves out sorts and exchanges because the cached plan has done them."""

    def build(session):
        ids = session.range(0, 20000, 1, 3).selectExpr("hash(id) % 997 k", "id v", "cast(id as string) s")
        return ids.repartition(4).sortWithinPartitions("k", "v")

    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 700)
    t.conf("spark.sql.autoBroadcastJoinThreshold", -1)
    t.cache("c", build)
    for reading in t.readers():
        with reading:
            t.full("c")
    for reading in t.readers("row", "fused"):
        with reading:
            t.same("select a.k, a.v, b.s from c a join (select * from c where v < 2000) b on a.k = b.k", reads=None)
            t.same("select k, v, row_number() over (partition by k order by k, v) n from c", reads=None)
            t.same("select k, first(v), last(s) from (select * from c where v < 100) group by k", reads=None)
            t.same("select k, v from c order by k, v", order="list", reads=None)
            t.same("select s, v from c order by v desc limit 20", order="list", reads=None)
            t.same("select k from (select s, k, v from c union all select s, k, v from c) order by k", order="list", reads=None)


@case()
def observed_metrics(t):
    """Field report 7: an observation over a cached plan is complete within seconds."""
    import threading

    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    for reading in t.readers("row", "fused"):
        with reading:
            observation = Observation()
            df = t.spark.range(10).observe(observation, F.sum("id").alias("s")).persist()
            again = df.where("id >= 0")
            assert len(df.collect()) == len(again.collect()) == 10
            got = []
            waiter = threading.Thread(target=lambda o=observation, g=got: g.append(o.get["s"]), daemon=True)
            waiter.start()
            waiter.join(30)
            assert got == [45], f"observed {got}"
            t.check_stored(df)
            t.check_reader(again, t.reader)
            df.unpersist()


@case(params=["zero", "negative", "one"])
def batch_sizes(t, name):
    """Field report 9: a batch size that makes no sense gives right rows or an error that says so; never a loop or nothing."""
    size = {"zero": 0, "negative": -1, "one": 1}[name]
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", size)
    try:
        t.cache("c", lambda s: s.range(0, 300, 1, 2).selectExpr("id", "cast(id as string) s"))
    except Exception as e:
        assert size < 1 and "batchSize" in str(e), str(e)
        return
    for reading in t.readers():
        with reading:
            t.full("c")


@case(params=["0", "1", "7", "4g", "many"], quiver_only=True)
def batch_bytes(t, size):
    """Field report 9 for our own limit: values out of its range are refused with the range; the smallest gives right rows."""
    key = "spark.quiver.batch.maxBytes"
    try:
        t.conf(key, size)
        t.cache("c", lambda s: s.range(0, 300, 1, 2).selectExpr("id", "cast(id as string) s"))
    except Exception as e:
        assert size in ("0", "4g", "many") and key in str(e), str(e)
        return
    assert size in ("1", "7"), f"{size} was taken"
    for reading in t.readers():
        with reading:
            t.full("c")


@case()
def equal_names(t):
    """Field report 10: columns and fields that share a name."""

    def build(session):
        three = session.range(0, 500, 1, 2).selectExpr("id a", "cast(id as string) a", "id * 2 a")
        return three.toDF("a", "a", "a")

    t.cache("c", build)
    t.cache(
        "n",
        lambda s: s.range(0, 500, 1, 2).selectExpr(
            "struct(id as a, cast(id as string) as a) s", "array(struct(id as a, id as a)) r", "struct(struct(id as a, -id as a) as a) d"
        ),
    )
    for reading in t.readers():
        with reading:
            t.full("c")
            t.full("n")


@case()
def parquet_scan_cached_directly(t):
    """Field report 12: the vectors are Spark's own, on or off the heap: nested, dictionaries, partition columns, an all-null column."""
    parquet(t, "false")
    parquet(t, "true")


def parquet(t, off_heap):
    import tempfile

    t.conf("spark.sql.columnVector.offheap.enabled", off_heap)
    t.conf("spark.sql.parquet.enableNestedColumnVectorizedReader", "true")
    # several batches of the reader and several row groups a file
    t.conf("spark.sql.parquet.columnarReaderBatchSize", 1000)
    with tempfile.TemporaryDirectory() as folder:
        t.raw.range(0, 9000, 1, 1).selectExpr(
            "id",
            "concat('category ', id % 9) category",
            "if(id % 3 = 0, null, cast(id as decimal(9,2))) d9",
            "cast(id as decimal(30,5)) d30",
            "if(id % 4 = 0, null, named_struct('x', id, 'y', concat('s', id), 'z', array(id, null))) s",
            "if(id % 5 = 0, null, array(concat('e', id % 3), null)) a",
            "map(concat('k', id % 2), named_struct('v', id)) m",
            "cast(null as string) nothing",
            "date_add(date'2020-01-01', cast(id % 700 as int)) day",
            "timestamp_micros(id * 1000003) ts",
            "cast(timestamp_micros(id) as timestamp_ntz) ntz",
            "id % 2 = 0 flag",
            "cast(id % 120 as byte) b",
            "cast(id as short) h",
            "cast(id as float) f",
            "cast(id as double) / 3 e",
            "cast(cast(id as string) as binary) bin",
            "id % 3 part",
            "concat('p', id % 2) word",
        ).write.option("parquet.block.size", 65536).partitionBy("part", "word").parquet(f"{folder}/t")
        df = t.cache("c", lambda s: s.read.parquet(f"{folder}/t"))
        assert not t.quiver or t.caches.builtFromColumns(df._jdf), "the relation was built from rows"
        for reading in t.readers():
            with reading:
                t.full("c")
                t.same("select count(*), sum(part), max(word), min(category), sum(d30), count(nothing), max(s.y) from c", reads=None)
                t.same("select id, word from c where part = 1 and category = 'category 4'", reads=None)
        t.drop()
        # projection of files: only some columns are read, and those vectors are reused between batches
        t.cache("c", lambda s: s.read.parquet(f"{folder}/t").select("word", "category", "id", "nothing"))
        for reading in t.readers():
            with reading:
                t.full("c")
        t.drop()


@case()
def last_row_survives(t):
    """Field report 14: a row stays what it was when the reader is asked whether there is another."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 13)
    t.cache("c", lambda s: s.range(0, 500, 1, 5).selectExpr("id", "concat('s', id % 17, repeat('y', cast(id % 5 as int))) s"))
    rows = t.raw.table("c").collect()
    for reading in t.readers():
        with reading:
            want = rows * 2 if t.reader == "columnar" else rows
            df = t.spark.table("c")
            assert [r for r, _ in df.rdd.zipWithIndex().collect()] == want
            assert list(df.toLocalIterator()) == want
            assert list(df.toLocalIterator(prefetchPartitions=True)) == want
            assert df.coalesce(1).collect() == want
            t.same("select s, id from c order by s, id", order="list", reads=None)
            t.same("select * from c a cross join (select id x, s y from c where id % 50 = 0) b", reads=None)
    from pyspark.sql import functions as F

    for reading in t.readers("row", "fused"):
        with reading:
            left, right = (x.table("c").where("id % 9 = 0") for x in (t.spark, t.raw))
            # a join without a condition over non-broadcast sides reads the right side again for each row of the left
            t.conf("spark.sql.autoBroadcastJoinThreshold", -1)
            got = left.crossJoin(left.select(F.col("id").alias("i"), F.col("s").alias("r"))).collect()
            want = right.crossJoin(right.select(F.col("id").alias("i"), F.col("s").alias("r"))).collect()
            assert sorted(got) == sorted(want)


@case()
def strings_kept_across_batches(t):
    """Field report 15: ungrouped aggregates keep a string of an earlier batch without copying it."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 100)
    t.cache("c", lambda s: s.range(0, 5000, 1, 3).selectExpr("id", "sha2(cast(id as string), 256) s", "sha2(cast(id as string), 224) u"))
    for reading in t.readers():
        with reading:
            t.same("select max(s), min(s), count(s) from c", reads=None)
            t.same("select max_by(s, id), min_by(u, id), max_by(u, s) from c", reads=None)
            t.same("select max(struct(s, u)), max(array(u, s)) from c", reads=None)
    for reading in t.readers("row", "fused"):
        with reading:
            # first and last depend on the order of partitions' results: one partition
            t.same("select first(s), last(s), any_value(u), first(u) from (select /*+ coalesce(1) */ * from c)", reads=None)
            t.same("select id % 10 g, max(s), min(u) from c group by id % 10", reads=None)


@case(params=["201", "1500", "8200"], group="wide")
def wide(t, columns):
    """Field report 13 [SPARK-16664, SPARK-14138]: one column, the last, all of them."""
    n = int(columns)
    rows = 400000 // n
    t.cache("c", lambda s: s.range(0, rows, 1, 2).selectExpr(*[f"if((id + {i}) % 8 = 0, null, id * {i}) c{i}" for i in range(n)]))
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            # Spark's own scan gives up on relations of more than spark.sql.codegen.maxFields fields; a narrow read of ours does not
            t.same("select sum(c7) from c", reads=t.reader)
            t.same(f"select sum(c{n - 1}), count(c0) from c", reads=t.reader)
            t.same(f"select c{n - 1}, c1 from c where c3 is null", reads=None)
            if n < 8000:
                t.same("select * from c", order="partition", reads=None)
    if n >= 8000:
        last = t.spark.table("c").where("c1 = 6").collect()
        assert last == t.raw.table("c").where("c1 = 6").collect() and len(last) == 1


@case(codecs=("pack", "zstd", "none"), params=["2000", "10000"], group="small-heap")
def large_strings_in_a_small_heap(t, rows):
    """200 kB strings, 10,000 rows to a batch by Spark's setting: batches are bounded by bytes, or the heap would not do."""
    value = "repeat(lpad(cast(id as string), 4, '0'), 50000) s"
    t.cache("c", lambda s: s.range(0, int(rows), 1, 4).selectExpr("id", value), level=disk_only())
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            t.same("select id, length(s), substr(s, 150000, 5), md5(s) from c", reads=None)
    largest = max(t.caches.batchBytes(t.cached["c"]._jdf))
    assert not t.quiver or largest < 8 << 20, f"a batch of {largest} bytes"


@case(codecs=("pack",), group="small-heap")
def large_strings_after_an_exchange(t):
    """As above, out of an adaptive plan, which Spark would convert to vectors, 10,000 rows at a time, for a serializer that takes them."""
    value = "repeat(lpad(cast(id as string), 4, '0'), 50000) s"
    df = t.cache(
        "c",
        lambda s: s.range(0, 4000, 1, 4).repartition(2, "id").where("id % 2 = 0").selectExpr("id", value),
        level=disk_only(),
    )
    assert not t.caches.builtFromColumns(df._jdf)
    for reading in t.readers("row", aqe=(True,)):
        with reading:
            t.same("select id, length(s), substr(s, 150000, 5), md5(s) from c", reads=None)


@case(codecs=("pack", "zstd"), group="small-heap")
def large_variants_in_a_small_heap(t):
    """Documents of 100 kB, 2,000 of them."""
    document = """concat('{"id":', id, ',"text":"', repeat(lpad(cast(id as string), 4, '0'), 24000), '","list":[', id, ',null,{"a":"',
        repeat('z', 2000), '"}]}')"""
    t.cache("c", lambda s: s.range(0, 2000, 1, 4).selectExpr("id", f"parse_json({document}) v"), level=disk_only())
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            t.same(
                "select id, variant_get(v, '$.id', 'bigint') i, md5(variant_get(v, '$.text', 'string')) x,"
                " variant_get(v, '$.list[2].a', 'string') a from c",
                reads=None,
            )
    largest = max(t.caches.batchBytes(t.cached["c"]._jdf))
    assert not t.quiver or largest < 8 << 20, f"a batch of {largest} bytes"


def disk_only():
    from pyspark import StorageLevel

    return StorageLevel.DISK_ONLY


@case()
def dates_out_of_range(t):
    """Field report 19: dates and timestamps before 1582 and after 9999, as arithmetic makes them."""
    t.cache(
        "c",
        lambda s: s.range(0, 500, 1, 2).selectExpr(
            "id",
            "date_add(date'0001-01-01', cast(-id * 1000 as int)) early",
            "date_add(date'9999-12-31', cast(id * 100000 as int)) late",
            "timestamp_micros(-62135596800000000 - id * 86400000000) t0",
            "timestamp_micros(253402300800000000 + id * 3600000000000) t1",
            "cast(timestamp_micros(-62135596800000000 - id) as timestamp_ntz) n0",
        ),
    )
    for reading in t.readers():
        with reading:
            t.full("c")
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            t.same("select count(*) from c where early < date'0001-01-01'", reads=None)
            t.same("select id from c where late > date'9999-12-31' and t0 < timestamp'0001-01-01 00:00:00Z'", reads=None)


@case()
def struct_of_nulls_over_required_fields(t):
    """Field report 19: a null struct whose fields are not nullable; maps with struct values; empty arrays."""
    from pyspark.sql import types as T

    inner = T.StructType([T.StructField("a", T.LongType(), False), T.StructField("b", T.StringType(), False)])
    schema = T.StructType(
        [
            T.StructField("id", T.LongType(), False),
            T.StructField("s", inner, True),
            T.StructField("m", T.MapType(T.StringType(), inner, True), True),
            T.StructField("e", T.ArrayType(inner, False), False),
        ]
    )
    data = [
        (i, None if i % 2 else (i, f"b{i}"), None if i % 3 == 0 else {"k": None if i % 5 else (i, "v")}, [(i, "x")] * (i % 3))
        for i in range(300)
    ]
    t.cache("c", lambda s: s.createDataFrame(data, schema))
    for reading in t.readers():
        with reading:
            t.full("c")
            t.same("select id, s.b, m['k'].a, get(e, 0).b from c where s.a is null or s.a > 10", reads=None)


@case()
def planning_runs_nothing(t):
    """Field report 20: EXPLAIN, and planning alone, launch no job, built or not."""
    tracker = t.sc.statusTracker()
    t.sc.setJobGroup("planning", "planning only")
    try:
        df = t.spark.range(0, 1000, 1, 2).selectExpr("id", "cast(id as string) s").cache()
        df.createOrReplaceTempView("c")
        for reading in t.readers("row", "fused"):
            with reading:
                query = t.spark.sql("select s, count(*) from c where id > 10 group by s order by s")
                query._jdf.queryExecution().executedPlan().toString()
                t.spark.sql("explain extended select max(s) from c join (select id i from c) d on id = i").collect()
                t.spark.sql("explain formatted select * from c").collect()
        jobs = tracker.getJobIdsForGroup("planning")
        # EXPLAIN's collect of its own text is no job (it is a local relation)
        assert list(jobs) == [], f"planning launched jobs {list(jobs)}"
        assert t.caches.builtFraction(df._jdf) == 0
    finally:
        t.sc._jsc.clearJobGroup()
    assert df.count() == 1000
    t.check_stored(df)


@case(codecs=(), quiver_only=True)
def codecs_side_by_side(t):
    """Field report 21: tables of all codecs live together, and stay readable when the feature is turned off at run time."""
    tables = ("pack", "zstd", "lz4", "none")
    for codec in tables:
        t.conf("spark.quiver.compression.codec", codec)
        t.cache(
            f"c_{codec}", lambda s: s.range(0, 12000, 1, 2).selectExpr("id", "concat('s', id % 100) s", "cast(id / 3 as decimal(12,3)) d")
        )
    for enabled in ("true", "false"):
        t.conf("spark.quiver.enabled", enabled)
        for reading in t.readers():
            with reading:
                for codec in tables:
                    if enabled == "true":
                        t.full(f"c_{codec}")
                    t.same(f"select s, sum(d), count(*) from c_{codec} where id > 50 group by s", reads=None)
                t.same(
                    "select count(*) from c_pack a join c_zstd b using (id) join c_lz4 using (id) join c_none using (id) where a.s = b.s",
                    reads=None,
                )
    # what is cached while it is off is right, too
    t.cache("late", lambda s: s.range(0, 1000, 1, 2).selectExpr("id", "cast(id as string) s"))
    t.same("select sum(id), max(s) from late", reads="row")


@case(codecs=(), quiver_only=True)
def planner_size_is_the_same_for_every_codec(t):
    """Field report 22: the planner sees the decoded size, so joins are planned alike."""
    # Spark counts 8 bytes a long, 4 a null, 4 and the length for a string
    right = 20000 * 8 + 20000 * 54 + 10000 * (8 + 4)
    sizes = {}
    plans = {}
    # by what is known of the relation, not of the exchanges above it
    t.conf("spark.sql.adaptive.autoBroadcastJoinThreshold", -1)
    for codec in ("pack", "zstd", "lz4", "none"):
        t.conf("spark.quiver.compression.codec", codec)
        df = t.cache("c", lambda s: s.range(0, 20000, 1, 2).selectExpr("id", "repeat('x', 50) s", "if(id % 2 = 0, null, id) n"))
        sizes[codec] = t.caches.plannerSize(df._jdf)
        for reading in t.readers("row", "fused"):
            with reading:
                for threshold, join in ((right, "BroadcastHashJoinExec"), (right - 1, "SortMergeJoinExec")):
                    t.conf("spark.sql.autoBroadcastJoinThreshold", threshold)
                    df = t.same("select * from c a join c b on a.id = b.id where length(b.s) + b.id > 0", reads=None)
                    operators = list(t.plans.operators(df._jdf))
                    assert join in operators, f"{codec}, threshold {threshold}: {operators}"
                    # adaptive execution builds on the side that is ready first
                    moves = sorted(o for o in operators if "Join" in o or "Exchange" in o)
                    key = (t.reader, t.spark.conf.get("spark.sql.adaptive.enabled"), join)
                    assert plans.setdefault(key, moves) == moves, f"{codec}: {operators}, elsewhere {plans[key]}"
        t.drop()
    assert set(sizes.values()) == {right}, f"{sizes}, not {right}"

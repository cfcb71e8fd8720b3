"""How cached tables are read: what of a batch is touched, what plans show, TPC-H, caches of caches."""

from harness import submit
from harness.registry import case


@case(quiver_only=True)
def projection_reads_its_segments_only(t):
    """One column of six: the bytes read are that column's segments; the others are counted as skipped."""
    wide = ["id", "concat('s', id) s", "cast(id / 3 as decimal(30,4)) d", "array(id, id + 1) a", "repeat('x', 100) x", "id % 7 = 0 f"]
    t.cache("c", lambda s: s.range(0, 40000, 1, 2).selectExpr(*wide))
    segments = [list(batch) for batch in t.caches.segmentBytes(t.cached["c"]._jdf)]
    assert len(segments) >= 4 and all(len(b) == 6 for b in segments)
    of_column = [sum(b[k] for b in segments) for k in range(6)]
    whole = sum(of_column)
    for reading in t.readers("row", "fused"):
        with reading:
            for column, sql in ((1, "select sum(length(s)) from c"), (5, "select count(*) from c where f"), (3, "select sum(a[0]) from c")):
                df = t.same(sql)
                read, skipped = (t.plans.metric(df._jdf, name) for name in ("bytesRead", "bytesSkipped"))
                assert read == of_column[column], f"{sql}: {read} bytes were read, the column has {of_column[column]}"
                assert skipped == whole - read
            df = t.same("select f, id from c where id >= 0")
            assert t.plans.metric(df._jdf, "bytesRead") == of_column[0] + of_column[5]


@case(quiver_only=True)
def count_touches_no_payload(t):
    """count(*) uses the stored row counts: it works with the payload gone."""
    t.cache("c", lambda s: s.range(0, 30000, 1, 3).selectExpr("id", "cast(id as string) s"))
    assert t.caches.damage(t.cached["c"]._jdf, "drop-segments", None) > 0
    for reading in t.readers("row", "fused"):
        with reading:
            df = t.same("select count(*) from c", reads=None)
            assert t.plans.metric(df._jdf, "bytesRead") <= 0
            t.same("select 1 from c", reads=None)


@case()
def tpch(t):
    """TPC-H 1, 3 and 6 over cached lineitem, orders and customer."""
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(submit.ROOT) / "tests" / "demo"))
    import queries

    for table in queries.TABLES:
        df = t.cache(table, lambda s, name=table: s.read.parquet(str(submit.TPCH / name)))
        assert not t.quiver or t.caches.builtFromColumns(df._jdf)
    for reading in t.readers("row", "fused"):
        with reading:
            t.same(queries.Q1, order="list")
            t.same(queries.Q3, order="list", reads=None)
            t.same(queries.Q6, order="list")
            t.same("select * from lineitem where l_orderkey = 7 order by l_linenumber", order="list", reads=None)
    for reading in t.readers(aqe=(False,)):
        with reading:
            for table in queries.TABLES:
                t.full(table)


@case(codecs=(), quiver_only=True)
def explain_shows_quiver(t):
    """A person who looks at a plan sees that Quiver reads the cache."""
    t.cache("c", lambda s: s.range(0, 1000, 1, 2).selectExpr("id", "cast(id as string) s"))
    for adaptive in ("true", "false"):
        t.conf("spark.sql.adaptive.enabled", adaptive)
        for mode in ("", "extended", "formatted", "cost"):
            text = t.spark.sql(f"explain {mode} select s, count(*) from c where id > 5 group by s").collect()[0][0]
            assert "Quiver" in text, text
    assert t.spark.conf.get("spark.quiver.status") == "on"
    assert t.spark.sql("set spark.quiver.version").collect()[0][1]


@case(codecs=(), quiver_only=True)
def explain_says_why_not(t):
    """Where our scan steps aside the plan gives the reason."""
    t.cache("c", lambda s: s.range(0, 1000, 1, 2).selectExpr("id", "cast(id as string) s"))
    sql = "select s, count(*) from c where id > 5 group by s"
    for key in ("spark.quiver.enabled", "spark.quiver.scan.enabled", "spark.sql.inMemoryColumnarStorage.enableVectorizedReader"):
        t.conf(key, "false")
        text = t.spark.sql(f"explain formatted {sql}").collect()[0][0]
        assert key in text, text
        t.same(sql, reads="row")
        t.conf(key, "true")


@case(quiver_only=True)
def scan_metrics(t):
    """Batches, rows and bytes, read and pruned, add up."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 1000)
    t.cache("c", lambda s: s.range(0, 50000, 1, 2).selectExpr("id", "cast(id as string) s"))
    stored = sum(sum(b) for b in t.caches.segmentBytes(t.cached["c"]._jdf))
    for reading in t.readers("row", "fused"):
        with reading:
            df = t.same("select id, s from c where id < 5500", reads=None)
            m = {n: t.plans.metric(df._jdf, n) for n in t.plans.metricNames(df._jdf)}
            assert (m["numBatches"], m["numBatchesPruned"], m["numOutputRows"], m["numRowsPruned"]) == (6, 44, 6000, 44000), m
            assert m["bytesRead"] + m["bytesSkipped"] == stored and m["decodeTime"] >= 0, m


@case(quiver_only=True)
def rows_are_filtered_while_decoding(t):
    """Rows that cannot pass the filter are not handed on, whatever the types beside; the same answers with that switched off."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 1000)
    columns = [
        "id",
        "id * 7919 % 1000 k",
        "if(id % 7 = 0, null, concat('name ', id * 31 % 97)) s",
        "if(id % 5 = 0, null, cast(id * 13 % 101 as double) / 7) d",
        "cast(id * 17 % 500 as decimal(9, 2)) m",
        "id % 3 = 0 b",
        "date_add(date'1999-12-31', cast(id * 7 % 400 as int)) t",
        "array(id, null, -id) a",
        "if(id % 4 = 0, null, named_struct('x', id, 'y', array(cast(id as string)))) r",
        "map(cast(id as string), id) p",
        "cast(cast(id as string) as binary) n",
    ]
    t.cache("c", lambda s: s.range(0, 20000, 1, 2).selectExpr(*columns))
    filters = [
        "k = 7",
        "k in (1, 5, 9, 700) and s is not null",
        "s in ('name 5', 'name 50')",
        "s like 'name 5%' and not b",
        "d > 14.0 or d is null",
        "d >= double('NaN')",
        "m between 10 and 20.5 and t < date'2000-03-01'",
        "cast(k as decimal(20, 3)) <= 3.5 and cast(k as int) > 0",
        "r is null and k < 10",
        "k = -1",
    ]
    for enabled in ("true", "false"):
        t.conf("spark.quiver.scan.filter.enabled", enabled)
        for reading in t.readers("row", "fused"):
            with reading:
                filtered = 0
                for condition in filters:
                    df = t.same(f"select * from c where {condition}", reads=None)
                    filtered += max(0, t.plans.metric(df._jdf, "numRowsFiltered"))
                    t.same(f"select count(*), sum(k), max(s), min(a[0]), count(r.y) from c where {condition}", reads=None)
                # of 20,000 rows, all but a few do not pass: what batches show beforehand is not counted here
                assert filtered > 60_000 if enabled == "true" else filtered == 0, filtered


@case()
def cache_of_a_cache(t):
    """A cached table made from a cached table: built from its vectors, of another codec, then read by all readers."""
    columns = [
        "id",
        "if(id % 3 = 0, null, concat('s', id % 77)) s",
        "array(id, null) a",
        "named_struct('x', id, 'y', cast(id as decimal(25,2))) r",
    ]
    t.cache("c", lambda s: s.range(0, 12000, 1, 3).selectExpr(*columns, "map(id, 'm') m", "cast(null as int) n"))
    if t.quiver:
        t.conf("spark.quiver.compression.codec", "zstd" if t.codec != "zstd" else "none")
    all_columns = t.cache("d", lambda s: s.table("c").select("m", "a", "id", "r", "s", "n"))
    # the plan of what is cached is an adaptive one on 3.5, which gives rows to a serializer; 3.4 plans it without
    from_columns = submit.LINE != "3.5"
    assert not t.quiver or t.caches.builtFromColumns(all_columns._jdf) == from_columns
    for reading in t.readers():
        with reading:
            t.full("d")
    twice = t.cache("u", lambda s: s.table("c").unionAll(s.table("c")))
    assert not t.quiver or t.caches.builtFromColumns(twice._jdf) == from_columns
    for reading in t.readers("row", "fused"):
        with reading:
            t.full("u")
    t.cache("f", lambda s: s.table("c").where("id % 2 = 0").selectExpr("id + 1 i", "s", "r.y"))
    for reading in t.readers("row", "fused"):
        with reading:
            t.full("f")


@case()
def joins_and_exchanges(t):
    """Self joins, exchange reuse, coalesced and sampled cached tables, subqueries, windows, limits."""
    t.cache("c", lambda s: s.range(0, 6000, 1, 4).selectExpr("id", "id % 100 k", "concat('s', id % 50) s", "if(id % 7 = 0, null, id) n"))
    t.conf("spark.sql.autoBroadcastJoinThreshold", -1)
    for reading in t.readers("row", "fused"):
        with reading:
            t.same("select a.k, count(*) from c a join c b on a.k = b.k group by a.k", reads=None)
            t.same("select k, sum(n) from c group by k union all select k, sum(n) from c group by k", reads=None)
            t.same("select * from c where id in (select max(id) from c group by s)", reads=None)
            t.same("select s, n, sum(n) over (partition by s order by id) from c", reads=None)
            t.same("select id, s from c order by s, id limit 17", order="list", reads=None)
            t.same("select id, s from c limit 5000", order="set", reads=None)
            t.same("select /*+ coalesce(1) */ * from c", order="list", reads=None)
            t.same("select /*+ repartition(3, k) */ id, k from c", reads=None)
            t.same("select s, collect_list(n) from (select * from c order by id) group by s", reads=None)
            t.same("select * from c a left anti join (select id from c where n is null) b on a.id = b.id", reads=None)
            t.same("select count(distinct s), approx_count_distinct(k) from c", reads=None)
            t.same("select explode(array(id, n)) from c where k = 3", reads=None)


@case(quiver_only=True)
def stages_reused_exchanges_and_products(t):
    """The operators that Spark plans around cached relations are those it plans around its own, and their answers are right."""
    t.cache("c", lambda s: s.range(0, 900, 1, 3).selectExpr("id", "id % 10 k", "concat('s', id % 7) s"))
    t.conf("spark.sql.autoBroadcastJoinThreshold", -1)
    cases = {
        "select a.k, count(*) from c a join c b on a.k = b.k group by a.k": "ReusedExchangeExec",
        "select a.id, b.s from c a join c b on a.id * 2 < b.id - 500": "CartesianProductExec",
        "select s, count(*) from (select * from c union all select * from c) group by s": "UnionExec",
        "select /*+ coalesce(2) */ id, s from c where k > 3": "CoalesceExec",
    }
    for reading in t.readers("row", "fused"):
        with reading:
            for sql, operator in cases.items():
                df = t.same(sql, reads=None)
                operators = list(t.plans.operators(df._jdf))
                # without an exchange and without an adaptive plan below there is nothing to adapt to; on 3.5 a cached relation is enough
                adaptive = t.spark.conf.get("spark.sql.adaptive.enabled") == "true"
                adaptive = adaptive and (submit.LINE == "3.5" or operator in ("ReusedExchangeExec", "UnionExec"))
                assert ("AdaptiveSparkPlanExec" in operators) == adaptive, f"{sql}: {operators}"
                # a fused reader takes the scan out of its stage, once that has run; a union is another operator that reads vectors, a
                # product reads rows, and Spark 3.4 makes no stages of cached relations
                stays = adaptive and submit.LINE != "3.4" and (t.reader == "row" or operator in ("UnionExec", "CartesianProductExec"))
                assert ("TableCacheQueryStageExec" in operators) == stays, f"{sql}: {operators}"
                # Spark tells stages of equal scans apart by their numbers, so that exchanges above them are never equal
                if not (stays and operator == "ReusedExchangeExec"):
                    assert operator in operators, f"{sql}: {operators}"

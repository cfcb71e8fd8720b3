"""Aggregates over whole cached tables that Quiver answers: the same values as without a cache, bit by bit, by the library where it can."""

from harness import submit
from harness.registry import case
from harness.settings import AGGREGATES, AQE, VECTORIZED

_NUMBERS = {
    "tinyint": "cast(hash(id) % 128 as tinyint)",
    "smallint": "cast(hash(id) % 32768 as smallint)",
    "int": "hash(id)",
    "bigint": "xxhash64(id) div 65536",
    "float": "cast(hash(id) / 3 as float)",
    "double": "xxhash64(id) / 7e3",
    "decimal(5,2)": "cast(hash(id) % 99999 / 100 as decimal(5,2))",
    "decimal(18,4)": "cast(xxhash64(id) % 99999999999999 as decimal(18,4)) / 1",
    "decimal(28,6)": "cast(xxhash64(id) as decimal(28,6))",
}


def answers(t):
    """With adaptive execution off and on: the library adds up. Other settings as a user has them."""
    for adaptive in (False, True):
        t.conf(AQE, str(adaptive).lower())
        t.conf(AGGREGATES, "true")
        t.conf(VECTORIZED, "true")
        yield


def added_up(t, sql):
    """The uncached answer, and by no scan that hands values on."""
    df = t.same(sql, order="list", reads=None)
    used = set(t.plans.readers(df._jdf))
    assert used == {"aggregate"} or not t.quiver, f"{sql}: read by {used}: {' < '.join(t.plans.operators(df._jdf))}"


@case()
def sums_of_every_type(t):
    """Batches of nulls only, partitions without a row, one batch that ends in the middle of a partition."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 700)
    columns = [f"if(id % 9 = 4 or id div 700 % 5 = 2, null, {value}) c{i}" for i, value in enumerate(_NUMBERS.values())]
    for rows, partitions in ((20000, 3), (3, 5), (0, 2)):
        t.cache("c", lambda s, n=rows, p=partitions: s.range(0, n, 1, p).selectExpr(*columns, "cast(null as bigint) n"))
        for _ in answers(t):
            names = [f"c{i}" for i in range(len(columns))] + ["n"]
            added_up(t, "select " + ", ".join(f"sum({c}), avg({c}), count({c})" for c in names) + ", count(*) from c")
            for name in names:
                added_up(t, f"select avg({name}), sum({name}) from c")
            added_up(t, "select sum(x) s, count(*) from (select c3 x, c5 from c)")
        t.drop()


@case()
def sums_of_structs_and_texts(t):
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 300)
    struct = "struct(if(id % 5 = 0, null, id) a, struct(concat('ä', id) b, id / 3 d) i)"
    t.cache(
        "c",
        lambda s: s.range(0, 5000, 1, 3).selectExpr("id", f"if(id % 3 = 0, null, {struct}) s", "concat('日', id, '😀') u", "array(id) l"),
    )
    for _ in answers(t):
        added_up(t, "select sum(s.a), avg(s.i.d), sum(length(s.i.b)), count(s.i), sum(length(u)) from c")
        added_up(t, "select sum(id), count(l), min(id), max(id), count(s.i.b) from c")


@case()
def sums_that_overflow(t):
    """Wraps around or fails, as the session has it; the same error as without a cache."""
    most = 2**63 - 1
    values = f"case id when 0 then {most} when 7 then 1 when 8 then -1 else 0 end"
    t.cache("c", lambda s: s.range(0, 1000, 1, 1).selectExpr(f"{values} v", f"if(id = 5, {most}, -id) sound"))
    for _ in answers(t):
        t.conf("spark.sql.ansi.enabled", "false")
        added_up(t, "select sum(v), sum(sound) from c")
        t.conf("spark.sql.ansi.enabled", "true")
        added_up(t, "select sum(sound) from c")
        texts = []
        for session in (t.raw, t.spark):
            try:
                session.sql("select sum(v) from c").collect()
                texts.append("no error")
            except Exception as e:
                texts.append(str(e).split("\n")[0][:200])
        assert "overflow" in texts[0].lower() and texts[0] == texts[1], texts


@case()
def sums_of_lineitem(t):
    """TPC-H: decimals, integers, strings, all at once and one by one, cached from Parquet."""
    t.cache("lineitem", lambda s: s.read.parquet(str(submit.TPCH / "lineitem")))
    for _ in answers(t):
        sums = [
            f"{f}(l_{c})"
            for f in ("sum", "avg", "count")
            for c in ("quantity", "extendedprice", "discount", "tax", "partkey", "linenumber")
        ]
        sums += [f"sum(length(l_{c}))" for c in ("comment", "shipmode", "returnflag")]
        added_up(t, f"select {', '.join(sums)} from lineitem")
        added_up(t, "select sum(l_extendedprice) from lineitem")
        t.same("select sum(l_extendedprice * (1 - l_discount)) from lineitem where l_quantity < 24", reads=None)

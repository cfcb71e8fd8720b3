"""Filters over cached tables: the answer is the uncached one, whatever the batch statistics say. (Field reports 1, 2, 3, 11, 16.)"""

from harness.registry import case


def batches_of(t, rows):
    """Small batches: pruning works by batch."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", rows)


@case(params=["double", "float"], spark_is_wrong=True)
def not_a_number(t, kind):
    """Field report 1. NaN is greater than every number and equal to itself."""
    batches_of(t, 100)
    t.cache("c", lambda s: s.range(0, 1000, 1, 1).selectExpr("id", f"case when id % 2 = 0 then {kind}('NaN') else {kind}(id) end d"))
    for reading in t.readers("row", "fused"):
        with reading:
            t.value("select count(*) from c where d > 1000", 500)
            t.value(f"select count(*) from c where d = {kind}('NaN')", 500)
            t.value(f"select count(*) from c where d < {kind}('NaN')", 500)
            t.value(f"select count(*) from c where d >= {kind}('NaN')", 500)
            t.value(f"select count(*) from c where d <=> {kind}('NaN')", 500)
            t.value(f"select count(*) from c where d in ({kind}('NaN'), 1)", 501)
            t.value(f"select count(*) from c where not (d <= {kind}(999))", 500)
            t.value(f"select count(*) from c where d between {kind}(990) and {kind}('NaN')", 505)


@case(params=["double", "float"])
def batches_of_only_nan_and_zeros(t, kind):
    """A batch of nothing but NaN; NaN with nulls; -0.0 equals 0.0 in filters and keeps its sign in the rows."""
    batches_of(t, 100)
    t.cache(
        "c",
        lambda s: s.range(0, 600, 1, 1).selectExpr(
            "id",
            f"case when id < 100 then {kind}('NaN') when id < 200 then if(id % 2 = 0, null, {kind}('NaN'))"
            f" when id < 300 then {kind}('-0.0') when id < 400 then {kind}('0.0') when id < 500 then null else {kind}(id) end d",
        ),
    )
    for reading in t.readers("row", "fused"):
        with reading:
            t.full("c")
            t.value(f"select count(*) from c where d = {kind}('0.0')", 200)
            t.value(f"select count(*) from c where d = {kind}('-0.0')", 200)
            t.value(f"select count(*) from c where d >= {kind}('0.0') and d < 1", 200)
            t.value(f"select count(*) from c where d <= {kind}('-0.0')", 200)
            t.value(f"select count(*) from c where d in ({kind}('-0.0'), {kind}('17'))", 200)
            t.value("select count(*) from c where d is null", 150)
            t.value(f"select count(*) from c where d <=> {kind}('0.0')", 200)
            t.value("select count(*) from c where d < 0", 0)


@case(params=["UTF8_LCASE", "UNICODE_CI", "UNICODE"], spark_is_wrong=["UTF8_LCASE"])
def collated_strings(t, collation):
    """Field report 2. Bounds in byte order say nothing about strings with a collation."""
    batches_of(t, 2)
    t.cache("c", lambda s: s.range(0, 5, 1, 1).selectExpr("id", f"concat('\u0130', cast(id as string)) collate {collation} s"))
    t.cache("e", lambda s: s.range(0, 60, 1, 1).selectExpr("id", f"(if(id % 2 = 0, 'NAME ', 'Name ') || id) collate {collation} s"))
    right = 5 if collation == "UTF8_LCASE" else None
    for reading in t.readers("row", "fused"):
        with reading:
            # lower case of a dotted capital I is two characters
            sql = "select count(*) from c where startswith(s, 'i\u0307')"
            t.value(sql, right) if right is not None else t.same(sql, reads=None)
            for condition in ("s = 'nAME 7'", "s > 'NAME 30'", "s <= 'name 5'", "s in ('NAME 1', 'x')", "startswith(s, 'nam')"):
                t.same(f"select id from e where {condition}")
    # the uncached answers are not trivially empty
    assert t.raw.sql("select * from e where s > 'NAME 30'").count() > 0


@case()
def columns_without_bounds(t):
    """Field report 3. A predicate on a column that has no bounds never drops a batch."""
    batches_of(t, 50)
    t.cache(
        "c",
        lambda s: s.range(0, 500, 1, 2).selectExpr(
            "id",
            "if(id % 10 = 9, null, cast(cast(id as string) as binary)) b",
            "if(id % 10 = 9, null, array(id, id + 1)) a",
            "if(id % 10 = 9, null, map(id, id)) m",
            "if(id % 10 = 9, null, named_struct('x', id, 'y', cast(id as string))) s",
            "null v",
            "if(id % 10 = 9, null, make_interval(0, 0, 0, cast(id as int))) i",
        ),
    )
    conditions = [
        "b >= cast('5' as binary)",
        "b = cast('77' as binary)",
        "b in (cast('77' as binary), cast('123' as binary))",
        "b is not null",
        "b is null",
        "not (b < cast('5' as binary))",
        "b >= cast('5' as binary) and id < 60",
        "b >= cast('5' as binary) or id < 60",
        "a = array(77L, 78L)",
        "a > array(400L)",
        "a is null",
        "m is not null",
        "m[77L] = 77",
        "s = named_struct('x', 77L, 'y', '77')",
        "s.x > 450",
        "s.x is null",
        "s is not null and s.y = '12'",
        "v is null",
        "v is not null",
        "v <=> null",
        "i is null",
    ]
    for reading in t.readers("row", "fused"):
        with reading:
            for condition in conditions:
                t.same(f"select id from c where {condition}", reads=None)


@case()
def strings(t):
    """Field report 11. One look-up for each value; null-safe and IN predicates; a batch of nothing but nulls."""
    batches_of(t, 40)
    t.cache(
        "c",
        lambda s: s.range(0, 200, 1, 2).selectExpr(
            "id", "if(id >= 100 and id < 150, null, substr(sha2(cast(id as string), 256), 1, cast(id % 30 as int))) s"
        ),
    )
    values = [r[0] for r in t.raw.sql("select distinct s from c where s is not null order by s").collect()]
    for reading in t.readers("row", "fused", aqe=(False,)):
        with reading:
            for value in values[:: 1 if t.reader == "row" else 7]:
                t.same(f"select id from c where s = '{value}'", reads=None)
    quoted = ", ".join(f"'{v}'" for v in values)
    for reading in t.readers("row", "fused"):
        with reading:
            t.same("select id from c where s <=> null", reads=None)
            t.same(f"select id from c where s in ({', '.join(f'{chr(39)}{v}{chr(39)}' for v in values[5:16])})", reads=None)
            t.same(f"select id from c where s in ({quoted})", reads=None)
            t.same(f"select id from c where s not in ({quoted})", reads=None)
            t.same(f"select id from c where s in (null, '{values[3]}')", reads=None)
            t.same("select id from c where s is null or s < '8'", reads=None)
            t.same("select id from c where s like '1%' or s like '%a' or s like '_b%'", reads=None)
            t.same("select id from c where s like 'a%' and not startswith(s, 'ab')", reads=None)
            t.same("select id from c where not (s between '3' and 'c')", reads=None)


@case()
def numbers_dates_decimals(t):
    """Field report 11 again, over other types: IN lists of any length, NOT, casts."""
    batches_of(t, 50)
    t.cache(
        "c",
        lambda s: s.range(0, 1000, 1, 2).selectExpr(
            "id",
            "if(id % 11 = 0 or id between 400 and 460, null, id) n",
            "cast(id - 500 as int) k",
            "if(id % 9 = 0, null, date_add(date'2020-01-01', cast(id as int))) d",
            "if(id % 9 = 1, null, cast(id / 7.0 as decimal(12,4))) p",
            "if(id % 9 = 2, null, cast(id * 1000000007 as decimal(30,2)) - 500000000000) q",
            "timestamp_micros(id * 3600000000) ts",
            "id % 2 = 0 or id > 900 f",
            "cast(id % 100 as byte) y",
            "cast(id as double) / 4 x",
        ),
    )
    conditions = [
        "n <=> null",
        "n in (1, null)",
        f"n in ({', '.join(str(i) for i in range(90, 101))})",
        "n in (5, 999, 12345)",
        "n not in (1, 2, 3)",
        "not (n between 100 and 950)",
        "not (n > 100 and k < 300)",
        "not (n is null or n < 980)",
        "n = 700 or n = 31",
        "n + 0 = 77",
        "cast(k as bigint) >= 490",
        "cast(k as double) > 489.5",
        "cast(n as string) = '77'",
        "cast(n as int) < 5",
        "d = date'2020-03-01'",
        "d not between date'2020-02-01' and date'2022-01-01'",
        "cast(d as timestamp) < timestamp'2020-01-05 00:00:00'",
        "d in (date'2020-01-02', date'1999-01-01')",
        "p < 3",
        "p = 14.0000",
        "p >= 142.0000 and p < 142.5",
        "q < -400000000000",
        "q = 500000003500.00 - 500000000000",
        "ts >= timestamp'1970-02-10 00:00:00'",
        "ts < timestamp'1970-01-01 03:00:00' and f",
        "f",
        "not f",
        "f = false or id = 3",
        "f <=> null",
        "y = 99",
        "y > 98Y and k > 0",
        "x = 100.25",
        "x > 249 or x < 0.5",
        "cast(null as boolean)",
        "n = null",
        "true",
        "k = -500 and n is null",
        "case when n > 990 then true else false end",
        "coalesce(n, 995L) > 990",
        "rand(3) < 2 and n > 990",
    ]
    for reading in t.readers("row", "fused"):
        with reading:
            for condition in conditions:
                t.same(f"select id from c where {condition}", reads=None)


@case()
def pruning_reads_fewer_rows(t):
    """Field report 16. With sorted ids a range reads the batches that hold it, by both readers."""
    t.cache("c", lambda s: s.range(0, 1000000, 1, 4).selectExpr("id", "cast(id as string) s", "cast(id / 3 as decimal(20,2)) d"))
    t.conf("spark.sql.inMemoryColumnarStorage.partitionPruning", "true")
    for reading in t.readers("row", "fused"):
        with reading:
            df = t.same("select id, s from c where id >= 900000 and id < 905000", reads="row" if t.reader == "row" else "fused")
            assert t.plans.metric(df._jdf, "numOutputRows") <= 20000, t.plans.metric(df._jdf, "numOutputRows")
            df = t.same("select id from c where d = 200000.00", reads="row" if t.reader == "row" else "fused")
            assert t.plans.metric(df._jdf, "numOutputRows") <= 20000, t.plans.metric(df._jdf, "numOutputRows")
    t.conf("spark.sql.inMemoryColumnarStorage.partitionPruning", "false")
    for reading in t.readers("row", "fused"):
        with reading:
            df = t.same("select count(s) from c where id >= 900000")
            assert t.plans.metric(df._jdf, "numOutputRows") == 1000000


@case(quiver_only=True)
def prunes_what_spark_cannot(t):
    """Long IN lists, NOT, null-safe equality, casts that keep order, prefix LIKE: batches are dropped for each."""
    batches_of(t, 100)
    t.cache(
        "c",
        lambda s: s.range(0, 10000, 1, 1).selectExpr(
            "id", "cast(id as int) k", "lpad(cast(id as string), 6, '0') s", "if(id < 5000, null, id) n"
        ),
    )
    conditions = [
        f"id in ({', '.join(str(100 + i) for i in range(40))})",
        "not (id < 9900)",
        "not (id >= 100 or k < 0)",
        "id <=> 77",
        "cast(k as bigint) = 77L",
        "s like '0000%'",
        "startswith(s, '0001')",
        "n is not null and k > 9800",
        "n is null and k > 4900",
        "(id = 5 or id = 9999) and s > '0'",
    ]
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            for condition in conditions:
                df = t.same(f"select id, s from c where {condition}", reads=None)
                read = t.plans.metric(df._jdf, "numOutputRows")
                assert 0 < read <= 500, f"{condition}: {read} rows were read"


@case()
def long_strings_cut_in_statistics(t):
    """Bounds of strings are cut; what shares a long prefix is still found, and so is what is nothing but 0xFF."""
    batches_of(t, 20)
    t.cache(
        "c",
        lambda s: s.range(0, 200, 1, 1).selectExpr(
            "id",
            "concat(repeat('p', 70), cast(id as string)) s",
            "concat(cast(unhex(repeat('FF', 80)) as string), cast(id as string)) h",
            "concat(repeat('\u00fc', 40), cast(id as string)) u",
        ),
    )
    p, u = "p" * 70, "\u00fc" * 40
    conditions = [
        f"s = '{p}77'",
        f"s > '{p}98'",
        f"s >= '{'p' * 64}'",
        f"s < '{'p' * 64}q'",
        f"s <= '{'p' * 63}'",
        f"startswith(s, '{p}19')",
        f"startswith(s, '{'p' * 64}')",
        f"s like '{p}5%'",
        "h > cast(unhex('FF') as string)",
        "h = concat(cast(unhex(repeat('FF', 80)) as string), '5')",
        "h < 'z'",
        f"u = '{u}100'",
        f"startswith(u, '{u}1')",
        f"u > '{u[:32]}'",
        f"not (s = '{p}77')",
        f"not (s like '{p}%')",
    ]
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            for condition in conditions:
                t.same(f"select id from c where {condition}", reads=None)

"""Every type that Spark can cache, with every pattern of nulls and several sizes, by every reader."""

import lines
from harness import submit
from harness.registry import case

#: name -> SQL of a value made from `id`; each has its extremes among the first ids.
VALUES = {
    "boolean": "id % 3 = 0",
    "byte": "cast(case id % 50 when 0 then -128 when 1 then 127 else id % 100 - 50 end as byte)",
    "short": "cast(case id % 50 when 0 then -32768 when 1 then 32767 else id % 9999 - 5000 end as short)",
    "int": "cast(case id % 50 when 0 then -2147483648 when 1 then 2147483647 else id * 7919 % 100003 end as int)",
    "long": "case id % 50 when 0 then -9223372036854775807 - 1 when 1 then 9223372036854775807 else id * 7919 - 40000000 end",
    "float": "case id % 50 when 0 then float('NaN') when 1 then float('-0.0') when 2 then float('Infinity') when 3 then"
    " float('-Infinity') when 4 then float('1.4E-45') when 5 then float('3.4028235E38') when 6 then float('0.0')"
    " else cast(id as float) / 3 end",
    "double": "case id % 50 when 0 then double('NaN') when 1 then double('-0.0') when 2 then double('Infinity') when 3 then"
    " double('-Infinity') when 4 then double('4.9E-324') when 5 then double('1.7976931348623157E308') when 6 then double('0.0')"
    " else cast(id as double) / 3 end",
    "decimal_1_0": "cast(id % 10 as decimal(1,0))",
    "decimal_7_2": "cast(case id % 50 when 0 then -99999.99 when 1 then 99999.99 else (id % 1000) / 7.0 end as decimal(7,2))",
    "decimal_18_18": "cast(id / 100003.0 / 10 as decimal(18,18))",
    "decimal_18_4": "cast(id * 7919 / 3.0 - 1000000 as decimal(18,4))",
    "decimal_19_0": "cast(case id % 50 when 0 then -9999999999999999999 when 1 then 9999999999999999999 else id end as decimal(19,0))",
    "decimal_38_0": "cast(case id % 50 when 0 then '-99999999999999999999999999999999999999' when 1 then"
    " '99999999999999999999999999999999999999' else concat(id, '00000000000000') end as decimal(38,0))",
    "decimal_38_18": "cast(case id % 50 when 0 then '-99999999999999999999.999999999999999999' when 1 then"
    " '99999999999999999999.999999999999999999' else concat(id, '.', id) end as decimal(38,18))",
    "decimal_38_38": "cast(concat(if(id % 2 = 0, '-', ''), '0.', repeat(id % 10, 37)) as decimal(38,38))",
    "string": "case id % 50 when 0 then '' when 1 then '\u00fcber \U0001f3f9' when 2 then repeat('x', 3000) else concat('name ', id) end",
    "string_bytes": "cast(unhex(lpad(hex(id * 7919), 8, 'F')) as string)",
    "binary": "case id % 50 when 0 then x'' when 1 then x'00FF00' else unhex(lpad(hex(id), 6, '0')) end",
    "date": "case id % 50 when 0 then date'0001-01-01' when 1 then date'9999-12-31' when 2 then date'1582-10-15' when 3 then"
    " date'1582-10-04' else date_add(date'1970-01-01', cast(id - 5000 as int)) end",
    "timestamp": "case id % 50 when 0 then timestamp'0001-01-01 00:00:00Z' when 1 then timestamp'9999-12-31 23:59:59.999999Z' when 2"
    " then timestamp'1582-10-04 12:00:00Z' else timestamp_micros(id * 123456789 - 1000000) end",
    "timestamp_ntz": "case id % 50 when 0 then timestamp_ntz'0001-01-01 00:00:00' when 1 then"
    " timestamp_ntz'9999-12-31 23:59:59.999999' else cast(timestamp_micros(id * 123456789) as timestamp_ntz) end",
    "array_int": "case id % 7 when 0 then array() when 1 then array(cast(null as int)) else"
    " transform(sequence(1, cast(id % 7 as int)), x -> if(x % 3 = 0, null, cast(x * id as int))) end",
    "array_string": "case id % 5 when 0 then cast(array() as array<string>) when 1 then array(cast(null as string), '') else"
    " array(concat('a', id), null, repeat('z', cast(id % 40 as int))) end",
    "array_array": "array(array(id, null), cast(null as array<bigint>), cast(array() as array<bigint>), array(id + 1))",
    "array_struct": "array(named_struct('x', id, 'y', if(id % 3 = 0, null, concat('s', id))), null)",
    "array_decimal": "array(cast(id as decimal(38,2)), null, cast(-id as decimal(38,2)))",
    "array_boolean": "array(id % 2 = 0, null, id % 3 = 0)",
    "map_string_int": "case id % 4 when 0 then cast(map() as map<string,int>) else map(concat('k', id), cast(id as int), 'n', null) end",
    "map_long_struct": "map(id, named_struct('a', id, 'b', array(concat('v', id), null)), id + 1, null)",
    "map_nested": "map(concat('k', id), map(id, cast(id as decimal(20,3))), 'other', map())",
    "struct": "named_struct('a', id, 'b', if(id % 3 = 0, null, concat('t', id)), 'c', cast(null as double))",
    "struct_struct": "named_struct('s', named_struct('x', cast(id as int), 'y', named_struct('z', if(id % 2 = 0, null, id))), 'f', true)",
    "struct_same_names": "struct(id as a, id + 1 as a, struct(id as a, concat('n', id) as a) as a)",
    "struct_all": "struct(true as b, cast(id % 100 as byte) as y, cast(id as short) as h, cast(id as float) as f,"
    " cast(id as decimal(9,3)) as d, cast(id as decimal(30,3)) as e, date_add(date'2000-01-01', cast(id % 999 as int)) as t,"
    " timestamp_micros(id) as m, cast(cast(id as string) as binary) as i, array(id) as r, map(id, 'x') as p)",
    "void": "null",
    "array_void": "array(null, null)",
    "struct_void": "struct(id as a, null as n)",
    "year_month": "case id % 50 when 0 then interval '-178956970-8' year to month when 1 then interval '178956970-7' year to month"
    " else make_ym_interval(0, cast(id % 5000 as int)) end",
    "day_time": "case id % 50 when 0 then interval '-106751991 04:00:54.775807' day to second else"
    " make_dt_interval(0, 0, 0, cast(id as decimal(18,6)) / 7) end",
    "calendar_interval": "make_interval(0, cast(id % 100 as int), 0, cast(-id % 77 as int), 0, 0, cast(id as decimal(18,6)) / 3)",
    "time": "case id % 50 when 0 then time'00:00:00' when 1 then time'23:59:59.999999' else"
    " make_time(cast(id % 24 as int), cast(id % 60 as int), cast(id % 59 + 0.123456 as decimal(16,6))) end",
    "variant": """parse_json(concat('{"id":', id, ',"tags":["a",', id % 7, ',null],"t":"', repeat('x', cast(id % 30 as int)), '"}'))""",
    "array_variant": "array(parse_json(cast(id as string)), null)",
    "char": "cast(concat('c', id % 100) as char(12))",
    "varchar": "cast(concat('c', id) as varchar(12))",
    "collated": "concat('\u00e4B', id) collate UTF8_LCASE",
    "collated_unicode": "concat('\u00e4B', id) collate UNICODE_CI",
}

#: Types that Spark's own format cannot store at all: caching such a table fails. (A point's
#: coordinates are the bytes of a double: `id` in the last bits of a number from 1 to 2, since 4.3 wants degrees for geography.)
_POINT = "unhex(concat('0101000000', lpad(hex(id), 8, '0'), '0000F03F', '000000000000F03F'))"
GEOSPATIAL = {
    "geometry": f"st_geomfromwkb({_POINT})",
    "geography": f"st_geogfromwkb({_POINT})",
    "array_geometry": f"array(st_geomfromwkb({_POINT}), null)",
    "struct_geography": f"named_struct('g', st_geogfromwkb({_POINT}), 'id', id)",
}

#: name -> SQL of the condition under which a value is null
NULL_PATTERNS = {
    "none": "false",
    "all": "true",
    "start": "id % 3334 < 700",
    "end": "id % 3334 > 2600",
    "every_other": "id % 2 = 1",
    "scattered": "hash(id) % 5 = 0",
}


def columns(value: str) -> list[str]:
    return ["id"] + [f"case when {condition} then null else {value} end v_{name}" for name, condition in NULL_PATTERNS.items()]


def make(rows: int, partitions: int, value: str, where: str = "true"):
    return lambda session: session.range(0, rows, 1, partitions).where(where).selectExpr(*columns(value))


@case(params=list(VALUES))
def types(t, name):
    """10,001 rows in three partitions, the middle one empty: two batches in none, one in each of the others."""
    t.cache("c", make(10001, 3, VALUES[name], "id < 3334 or id >= 6668"))
    # each reader with one of the two planners: fields.py runs all combinations
    for reader, adaptive in (("row", False), ("fused", True), ("columnar", False)):
        for reading in t.readers(reader, aqe=(adaptive,)):
            with reading:
                # what Spark leaves behind a null calendar interval is what an earlier row had there
                t.full("c", exact_bytes=name != "calendar_interval")


@case(params=list(GEOSPATIAL), spark_is_wrong=True)
def geospatial(t, name):
    """Stored as their bytes, without bounds."""
    t.conf("spark.sql.geospatial.enabled", "true")
    t.cache("c", make(10001, 3, GEOSPATIAL[name], "id < 3334 or id >= 6668"))
    for reading in t.readers(aqe=(True,)):
        with reading:
            t.full("c")
    for reading in t.readers("row", "fused", aqe=(False,)):
        with reading:
            t.same("select id from c where v_scattered is null and v_none is not null")
            if not name.startswith(("array", "struct")):
                t.same("select id, st_asbinary(v_every_other) b from c where st_srid(v_none) >= 0")


@case(params=["decimal_38_18", "string", "long", "map_long_struct"])
def sizes(t, name):
    """No row at all, one row, one batch and a row, more partitions than rows."""
    for rows, partitions in ((0, 2), (1, 3), (10001, 1)):
        t.cache("c", make(rows, partitions, VALUES[name]))
        for reading in t.readers(aqe=(True,)):
            with reading:
                # a relation without rows is optimised away by adaptive execution, once it is known to have none
                t.same("select * from c", order="partition", reads=None if rows == 0 else "row" if t.reader == "fused" else t.reader)
        t.drop()


@case()
def strings_up_to_a_mebibyte(t):
    """Lengths 0 to 1 MiB; batches close by bytes long before 10,000 rows."""
    t.cache(
        "c",
        lambda s: s.range(0, 60, 1, 2).selectExpr(
            "id",
            "repeat(chr(65 + cast(id % 26 as int)), cast(case when id % 10 = 0 then 0 when id % 10 = 9 then 1048576 else pow(4, id % 10)"
            " end as int)) s",
            "cast(repeat('ab', cast(pow(3, id % 12) as int)) as binary) b",
        ),
    )
    for reading in t.readers():
        with reading:
            t.full("c")
            t.same("select id, length(s), md5(b) from c", reads=None)


@case()
def nested_nulls(t):
    """Null structs over fields that are not nullable, nulls at each depth, empty against null collections."""
    t.cache(
        "c",
        lambda s: s.range(0, 5000, 1, 2).selectExpr(
            "id",
            "if(id % 2 = 0, null, named_struct('a', id, 'b', concat('x', id))) s",
            "if(id % 3 = 0, null, array(if(id % 2 = 0, null, named_struct('a', array(id, null), 'b', map(id, null))))) a",
            "if(id % 5 = 0, null, map(id, if(id % 2 = 0, null, array(cast(null as string), concat('y', id))))) m",
            "case id % 4 when 0 then cast(null as array<array<int>>) when 1 then array() when 2 then array(cast(array() as array<int>))"
            " else array(cast(null as array<int>), array(cast(id as int))) end e",
        ),
    )
    for reading in t.readers():
        with reading:
            t.full("c")
            t.same("select id, s.b, a[0].a[0], m[id][1], size(e) from c", reads=None)


@case()
def types_and_nullability_stay(t):
    """The schema of a cached table is the table's, nullability and metadata included."""
    here = {n: v for n, v in VALUES.items() if not lines.reason(f"types::types[{n}]", submit.LINE)}
    t.cache("c", lambda s: s.range(0, 100, 1, 2).selectExpr("id", *[f"{v} as {n}" for n, v in here.items()]))
    cached, plain = (t.schema(s.table("c")) for s in (t.spark, t.raw))
    assert cached == plain, f"{cached}\n{plain}"
    t.same("select * from c", order="partition")


@case(params=["char", "varchar"])
def tables_with_declared_lengths(t, name):
    """char(n) and varchar(n) columns of a table, read with and without padding."""

    def build(session):
        table = "declared_raw" if session is t.raw else "declared"  # the sessions' catalogs share a folder
        if not session.catalog.tableExists(table):
            session.sql(f"create table {table} (id bigint, v {name}(7)) using parquet")
            session.sql(f"insert into {table} select id, concat('v', id % 1000) from range(0, 3000, 1, 2)")
        return session.table(table)

    try:
        t.cache("c", build)
        for reading in t.readers("row", "fused"):
            with reading:
                t.same("select * from c", reads="row")  # collected as it is: nothing above the scan has generated code
                t.same("select count(*), max(v) from c where v = 'v77'")
    finally:
        t.spark.sql("drop table if exists declared")
        t.raw.sql("drop table if exists declared_raw")


@case()
def user_defined_type(t):
    """A UDT is stored as its SQL type and comes back as the UDT."""
    from pyspark.ml.linalg import Vectors

    data = [(i, Vectors.dense([float(i), -1.0]) if i % 2 else Vectors.sparse(5, [1, 3], [1.0, float(i)])) for i in range(200)]
    t.cache("c", lambda s: s.createDataFrame(data, ["id", "v"]))
    for reading in t.readers():
        with reading:
            t.full("c")
    assert [r.v for r in t.spark.table("c").orderBy("id").collect()] == [v for _, v in data]


@case(group="legacy")
def decimals_with_negative_scale(t):
    from pyspark.sql import functions as F
    from pyspark.sql.types import DecimalType

    def build(session):
        ids = session.range(0, 2000, 1, 2)
        large = F.concat(F.col("id").cast("string"), F.lit("0" * 20))
        return ids.select("id", (F.col("id") * 100).cast(DecimalType(5, -2)).alias("d"), large.cast(DecimalType(30, -3)).alias("e"))

    t.cache("c", build)
    for reading in t.readers():
        with reading:
            t.full("c")
            t.same("select count(*), sum(e) from c where d = 500", reads=None)

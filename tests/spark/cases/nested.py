"""Fields of struct columns that a query does not read are left out while decoding: the answers are the uncached ones."""

import random

from harness.registry import case

_COLUMNS = (
    "id",
    "if(id % 5 = 0, null, named_struct('a', id, 'b', concat('b', id), 'c', named_struct('x', id % 10, 'y', if(id % 3 = 0, null, 'y'),"
    " 'd', cast(id as decimal(30,4))), 'i', make_interval(0, 0, 0, cast(id as int)))) s",
    "if(id % 7 = 0, null, array(named_struct('p', id, 'q', concat('q', id)), null, named_struct('p', id + 1, 'q', null))) l",
    "map('k', named_struct('v', id, 'w', concat('w', id)), 'n', null) m",
    "struct(id as a, concat('x', id) as A, id + 1 as b) e",
    "named_struct('k', id % 3, 't', named_struct('u', id, 'v', array(named_struct('z', id, 'zz', 'zz')))) t",
)

_QUERIES = (
    "select s.b, t.k from c",
    "select s.c.x, s.c.d, s.i from c where s.b > 'b5'",
    "select s.c from c where s.c.y is not null",
    "select s from c where t.t.u > 100",
    "select id from c where s.a between 200 and 300 and t.k = 1",
    "select id, s is null, s.c is null from c where s.b is not null or s is null",
    "select s.b, s from c where s.c.x = 3",
    "select u.* from (select struct(s.b, s.c.y) u from c)",
    "select t.k, count(s.c.y), max(s.b), sum(s.c.d) from c group by t.k",
    "select count(distinct s.c.x), count(distinct s.b) from c",
    "select t.k, s.c.x, count(*) from c group by t.k, s.c.x with cube",
    "select sum(s.a) filter (where s.c.x > 3), max(t.t.u) from c where id > 10",
    "select t.k, sort_array(collect_set(s.c.x)), sort_array(collect_list(s.b)) from c group by t.k",
    "select l.q, l[1].p, size(l) from c where get(l, 2).p > 5",
    "select transform(l, x -> x.p), exists(l, x -> x.p = s.a) from c",
    "select s.c.x, l.p, m['k'].w, exists(array(id), x -> x > 100) from c where t.k = 1",
    "select x.p, s.b from c lateral view outer explode(l) as x",
    "select x.q, pos from c lateral view posexplode(l) as pos, x",
    "select m['k'].w, m['n'].v, m[if(s.a > 100, 'k', 'n')].v from c",
    "select t.t.v.z, get(t.t.v, 0).z from c",
    "select e.b from c",
    "select if(id % 2 = 0, s, null).b, case when id > 30 then s.c end.y from c",
    "select coalesce(s.c, named_struct('x', 1L, 'y', '1', 'd', null)).x from c",
    "select s.b, row_number() over (partition by t.k order by s.c.x, id) n, lag(s.a) over (order by id) g from c",
    "select s.b from c order by s.c.x desc, id limit 20",
    "select s.b from c where id < 300 union all select s.c.y from c where id > 900",
    "select s.b from c where id in (select s.c.x from c where t.k = 2)",
    "select s.b, (select max(t.t.u) from c) from c where s.a > (select min(s.c.x) from c)",
    "select x.s.b, y.s.c.y, y.id from c x join c y on x.s.c.x = y.t.t.u where x.t.k = 1",
    "select x.s.b, y.l.q from c x left join c y on x.s.a = y.s.a and y.s.c.x > 4",
    "select x.k, x.v, y.v from (select t.k k, max(s.b) v from c group by t.k) x join (select t.k k, max(s.c.y) v from c group by t.k) y"
    " on x.k = y.k",
    "select x.k, x.v, y.v from (select t.k k, max(s.b) v from c group by t.k) x join (select t.k k, max(s.b) v from c group by t.k) y"
    " on x.k = y.k",
)


def _table(session):
    return session.range(0, 1000, 1, 2).selectExpr(*_COLUMNS)


@case(params=["broadcast", "shuffled"])
def fields_of_structs(t, join):
    """Filters, aggregations, joins, windows, unions and subqueries over fields, whole structs beside them."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 300)
    t.conf("spark.sql.caseSensitive", "true")
    if join == "shuffled":
        t.conf("spark.sql.autoBroadcastJoinThreshold", -1)
    t.cache("c", _table)
    queries = _QUERIES if join == "broadcast" else [q for q in _QUERIES if " join " in q or " in (" in q]
    for reading in t.readers():
        with reading:
            for query in queries:
                t.same(query, reads=None)
    if join == "broadcast":
        t.conf("spark.quiver.scan.nestedPruning.enabled", "false")
        for reading in t.readers("row", "fused"):
            with reading:
                t.same("select s.b, l.p from c where s.c.x > 3", reads=None)


@case(quiver_only=True)
def fields_read_are_explained(t):
    """The plan says which fields are read, and nothing where whole columns are."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 300)
    t.cache("c", _table)
    for reading in t.readers("row", "fused"):
        with reading:
            sql = "select s.b, l.p from c where s.c.x > 3"
            plan = t.same(sql)._jdf.queryExecution().executedPlan().toString()
            assert "ReadFields: [l.element.p, s.b, s.c.x]" in plan, plan
            for whole in ("id, s", "*", "s.b, s", "first(s), first(l)"):
                plan = t.same(f"select {whole} from c where id = 3", reads=None)._jdf.queryExecution().executedPlan().toString()
                assert "ReadFields" not in plan, plan


@case()
def fields_of_a_cache_of_a_cache(t):
    """What is cached of a cache is whole, whatever its own query reads."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 300)
    t.cache("c", _table)
    t.cache("d", lambda s: s.table("c" if s is t.spark else "c_plain").where("s.c.x > 3").selectExpr("s", "l.p lp", "t.t t", "id"))
    for reading in t.readers("row", "fused"):
        with reading:
            t.full("d")
            t.same("select s.b, t.u from d where t.v[0].z > 30", reads=None)
            t.same("select d.s.b, c.s.c.y from d join c on d.id = c.s.a", reads=None)
            t.same("select s, t from d where s.c.x = 5", reads=None)


@case()
def fields_given_to_functions(t):
    """Python functions of fields and of structs, and observed metrics over fields."""
    import pandas as pd
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 300)
    t.cache("c", _table)
    plain = F.udf(lambda b, x: f"{b}{x}", "string")
    struct = F.udf(lambda s: None if s is None else f"{s.x}{s.y}", "string")

    @F.pandas_udf("long")
    def half(x: pd.Series) -> pd.Series:
        return (x.fillna(0) // 2).astype("int64")

    for reading in t.readers("row", "fused"):
        with reading:

            def query(df):
                fields = df.where("s.c.x > 2")
                return fields.select("id", plain("s.b", "s.c.x").alias("p"), struct("s.c").alias("q"), half("t.t.u").alias("h"))

            got, want = (sorted(query(s.table("c")).collect()) for s in (t.spark, t.raw))
            assert got == want and got
            observation = Observation()
            df = t.spark.table("c").observe(observation, F.max("s.b").alias("b"), F.sum("t.k").alias("k")).select("s.c.x")
            assert df.collect() == t.raw.table("c").select("s.c.x").collect()
            right = t.raw.table("c").agg(F.max("s.b").alias("b"), F.sum("t.k").alias("k")).collect()[0].asDict()
            assert observation.get == right, observation.get


_LEAVES = {
    "long": "{x}",
    "int": "cast({x} % 100 as int)",
    "string": "concat('v', {x})",
    "double": "{x} / 7",
    "decimal": "cast({x} as decimal(30,3))",
    "boolean": "{x} % 2 = 0",
    "date": "date_add(date'2000-01-01', cast({x} % 1000 as int))",
    "binary": "cast(concat('z', {x}) as binary)",
    "void": "null",
}


class Nested:
    """Random types with values, and random expressions over parts of them. A type is a name of a leaf or (kind, below …)."""

    def __init__(self, seed: int):
        self.chance = random.Random(seed)

    def type(self, depth: int):
        kind = self.chance.choice(("leaf", "struct", "struct", "array", "map") if depth else ("struct", "struct", "struct", "array", "map"))
        if kind == "leaf" or depth > 3:
            return self.chance.choice(tuple(_LEAVES))
        if kind == "struct":
            return ("struct", *(self.type(depth + 1) for _ in range(self.chance.randrange(1, 6))))
        return (kind, self.type(depth + 1))

    def value(self, kind, x: str = "id") -> str:
        """SQL of a value, null now and then."""
        if isinstance(kind, str):
            sql = _LEAVES[kind].format(x=x)
        elif kind[0] == "struct":
            fields = ", ".join(f"'f{i}', {self.value(below, x)}" for i, below in enumerate(kind[1:]))
            sql = f"named_struct({fields})"
        elif kind[0] == "array":
            # a null would be an element of another type where the element has a void
            sql = f"slice(array({self.value(kind[1], x)}), 1, cast({x} % 2 as int))"
        else:
            sql = f"map('k', {self.value(kind[1], x)})"
        return sql if self.chance.random() < 0.5 else f"if({x} % {self.chance.randrange(3, 9)} = 0, null, {sql})"

    def part(self, path: str, kind):
        """An expression of a part, and its type."""
        while not isinstance(kind, str) and self.chance.random() < 0.85:
            if kind[0] == "struct":
                i = self.chance.randrange(1, len(kind))
                path, kind = f"{path}.f{i - 1}", kind[i]
            elif kind[0] == "map":
                path, kind = f"{path}['k']", kind[1]
            elif not isinstance(kind[1], str) and kind[1][0] == "struct" and self.chance.random() < 0.6:
                i = self.chance.randrange(1, len(kind[1]))
                path, kind = f"{path}.f{i - 1}", ("array", kind[1][i])
            else:
                path, kind = f"get({path}, 0)", kind[1]
        if self.chance.random() < 0.15:
            return f"({path} is null)", "boolean"
        if not isinstance(kind, str) and kind[0] != "struct" and self.chance.random() < 0.2:
            return f"size({path})", "int"
        return path, kind

    def leaf(self, columns):
        for _ in range(50):
            path, kind = self.part(*self.chance.choice(columns))
            if isinstance(kind, str) and kind not in ("void", "binary"):
                return path
        return "id"

    def query(self, columns) -> str:
        parts = [self.part(*self.chance.choice(columns))[0] for _ in range(self.chance.randrange(1, 4))]
        where = ""
        if self.chance.random() < 0.6:
            condition = self.chance.choice(("{} is not null", "pmod(hash({}), 3) = 0", "{} is null", "cast({} as string) > 'v2'"))
            where = f" where {condition.format(self.leaf(columns))}"
        kind = self.chance.randrange(5)
        if kind == 0:
            a, b, key = (self.leaf(columns) for _ in range(3))
            return f"select {key} k, max({a}), count({b}) from c{where} group by 1"
        if kind == 1:
            a, b = self.leaf(columns), self.leaf(columns)
            on = f"hash(x.{b}) = y.id" if "(" not in b and " " not in b and b != "id" else "x.id = y.id"
            left = f"x.{a}" if "(" not in a else "x.id"
            return f"select {left} a, y.id from c x join (select id{''.join(f', {p} p{i}' for i, p in enumerate(parts))} from c) y on {on}"
        return f"select {', '.join(f'{p} p{i}' for i, p in enumerate(parts))} from c{where}"


@case(params=["1", "2", "3", "4"])
def random_fields(t, seed):
    """Random nested types and random expressions over parts of them."""
    nested = Nested(int(seed))
    types = [nested.type(0) for _ in range(4)]
    values = [nested.value(kind) for kind in types]
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 200)
    t.cache("c", lambda s: s.range(0, 700, 1, 2).selectExpr("id", *(f"{v} c{i}" for i, v in enumerate(values))))
    columns = [(f"c{i}", kind) for i, kind in enumerate(types)]
    queries = [nested.query(columns) for _ in range(60 if t.every else 12)]
    for reading in t.readers("row", "fused"):
        with reading:
            t.full("c")
            for query in queries:
                t.same(query, reads=None)

"""Random predicates over columns of every type: the answer is the uncached one, and batches are left out."""

import random

from harness.registry import case

#: name -> SQL of a value that grows with x (most of them); a literal is the same made of a constant
ORDERED = {
    "boolean": "{x} > 1500",
    "byte": "cast({x} / 20 - 70 as byte)",
    "short": "cast({x} - 1500 as short)",
    "int": "cast({x} * 7919 as int)",
    "long": "{x} * 7919000001 - 1000000",
    "float": "cast(if({x} % 397 = 0, double('NaN'), {x} / 3 - 400) as float)",
    "double": "if({x} % 389 = 0, double('NaN'), if({x} % 83 = 0 and {x} < 300, -0.0D, {x} / 7))",
    "decimal_7": "cast({x} / 3 - 500 as decimal(7,2))",
    "decimal_18": "cast({x} / 7 as decimal(18,4))",
    "decimal_38": "cast({x} * 1000000007 as decimal(38,10)) - 5000000000",
    "string": "lpad(cast({x} as string), 5, '0')",
    "bytes": "cast(unhex(lpad(hex({x} * 5000), 8, '8')) as string)",
    "long_string": "concat(repeat('p', 61), lpad(cast({x} as string), 5, '0'))",
    "lower_case": "concat(if({x} % 2 = 0, 'N', 'n'), lpad(cast({x} as string), 5, '0')) collate UTF8_LCASE",
    "unicode": "concat(if({x} % 2 = 0, '\u00c4', '\u00e4'), {x}) collate UNICODE_CI",
    "binary": "cast(lpad(cast({x} as string), 5, '0') as binary)",
    "date": "date_add(date'1970-01-01', cast({x} - 1500 as int))",
    "timestamp": "timestamp_micros(({x} - 1500) * 3600000000)",
    "timestamp_ntz": "cast(timestamp_micros({x} * 3600000000) as timestamp_ntz)",
    "time": "make_time(cast({x} / 130 as int), 30, cast(1.5 as decimal(16,6)))",
    "year_month": "make_ym_interval(0, cast({x} - 1500 as int))",
    "day_time": "make_dt_interval(0, 0, 0, cast({x} - 1500 as decimal(18,6)))",
    "array": "array({x}, null)",
    "struct": "named_struct('x', {x}, 'y', 'v')",
    "void": "if({x} > 0, null, null)",
}
#: no comparison in SQL
WITHOUT_ORDER = {
    "interval": "make_interval(0, 0, 0, cast({x} as int))",
    "map": "map('k', {x})",
    "variant": "parse_json(cast({x} as string))",
}
#: the first version of Spark that has a type
SINCE = {"lower_case": (4, 0), "unicode": (4, 0), "variant": (4, 0), "time": (4, 1)}
#: casts that Spark or Quiver may look through
CASTS = {"byte": ("int", "double"), "short": ("bigint",), "int": ("bigint", "double", "string"), "date": ("timestamp",), "string": ("int",)}
ROWS = 3000


class Predicates:
    def __init__(self, seed: int, names: list[str]):
        self.chance = random.Random(seed)
        self.names = names

    def literal(self, template: str) -> str:
        """Of a value that a row has, mostly."""
        if self.chance.random() < 0.05:
            return "null"
        return "(" + template.format(x=f"{self.chance.randrange(-5, ROWS + 5)}L") + ")"

    def atom(self) -> str:
        name = self.chance.choice(self.names)
        if name in WITHOUT_ORDER or name == "void" or self.chance.random() < 0.1:
            return f"v_{name} is {self.chance.choice(('', 'not '))}null"
        column, template = f"v_{name}", ORDERED[name]
        if name in CASTS and self.chance.random() < 0.4:
            wider = self.chance.choice(CASTS[name])
            column, template = f"cast(v_{name} as {wider})", f"cast({template} as {wider})"
        one, other = self.literal(template), self.literal(template)
        kind = self.chance.randrange(10)
        if kind == 0:
            return f"{column} in ({', '.join(self.literal(template) for _ in range(self.chance.choice((1, 3, 12, 30))))})"
        if kind == 1:
            return f"{column} between {one} and {other}"
        if kind == 2 and name in ("string", "long_string", "lower_case"):
            digits = f"{self.chance.randrange(ROWS):05d}"[: self.chance.randrange(1, 6)]
            prefix = {"long_string": "p" * 61, "lower_case": "N"}.get(name, "") + digits
            return self.chance.choice((f"v_{name} like '{prefix}%'", f"startswith(v_{name}, '{prefix}')"))
        if kind == 3:
            return f"{one} {self.chance.choice(('<', '>=', '='))} {column}"
        return f"{column} {self.chance.choice(('=', '<', '<=', '>', '>=', '<=>', '<>'))} {one}"

    def next(self, depth: int) -> str:
        kind = self.chance.randrange(5) if depth else 4
        if kind == 0:
            return f"not ({self.next(depth - 1)})"
        if kind < 4:
            return f"({self.next(depth - 1)}) {('and', 'or', 'and')[kind - 1]} ({self.next(depth - 1)})"
        return self.atom()


@case(quiver_only=True)
def random_predicates(t):
    """Small batches of sorted rows with nulls, one batch of nothing but nulls."""
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 100)
    version = tuple(int(part) for part in t.spark.version.split(".")[:2])
    columns = {name: sql for name, sql in {**ORDERED, **WITHOUT_ORDER}.items() if version >= SINCE.get(name, (3, 4))}
    t.cache(
        "c",
        lambda s: s.range(0, ROWS, 1, 2).selectExpr(
            "id",
            *[
                f"if(id % 11 = {i % 11} or id between 700 and 799, null, {template.format(x='id')}) v_{name}"
                for i, (name, template) in enumerate(columns.items())
            ],
        ),
    )
    predicates = Predicates(20261202, list(columns))
    some = [predicates.next(n % 4) for n in range(200 if t.every else 30)]
    pruned = read = filtered = 0
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            for predicate in some:
                df = t.same(f"select id from c where {predicate}", reads=None)
                pruned += max(0, t.plans.metric(df._jdf, "numBatchesPruned"))
                read += max(0, t.plans.metric(df._jdf, "numBatches"))
                filtered += max(0, t.plans.metric(df._jdf, "numRowsFiltered"))
    assert filtered > read, f"{filtered} rows left out of {read} batches"
    assert pruned > (pruned + read) / 10, f"{pruned} batches pruned, {read} read"

"""Columns of every storable type: Spark's schema JSON, the Arrow type that is stored for it, and values."""

import datetime as dt
import decimal
import random
from dataclasses import dataclass

import pyarrow as pa

UTC = dt.UTC


@dataclass(frozen=True)
class Sample:
    """A column: Spark type as in StructType.json(), Arrow type, and a value for each row number (never None)."""

    spark: object
    arrow: pa.DataType
    value: object


def _array(element: object) -> dict:
    return {"type": "array", "elementType": element, "containsNull": True}


def _map(key: object, value: object) -> dict:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def _struct(**fields: object) -> dict:
    return {"type": "struct", "fields": [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields.items()]}


def _decimal(precision: int, scale: int) -> Sample:
    largest = 10**precision - 1

    def value(i: int) -> decimal.Decimal:
        unscaled = (largest, -largest, 0)[i % 7] if i % 7 < 3 else (i * 7919 - 5000) % (largest + 1)
        sign, digits = ("-" if unscaled < 0 else ""), str(abs(unscaled)).rjust(scale + 1, "0")
        return decimal.Decimal(f"{sign}{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}".rstrip("."))

    return Sample(f"decimal({precision},{scale})", pa.decimal128(precision, scale), value)


def _signed(bits: int):
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    return lambda i: (low, high, 0, -1)[i % 9] if i % 9 < 4 else (i * 31) % high


FLOATS = [float("nan"), -0.0, 0.0, float("inf"), float("-inf"), 1.5, -2.25]

SAMPLES = {
    "boolean": Sample("boolean", pa.bool_(), lambda i: i % 3 == 0),
    "byte": Sample("byte", pa.int8(), _signed(8)),
    "short": Sample("short", pa.int16(), _signed(16)),
    "integer": Sample("integer", pa.int32(), _signed(32)),
    "long": Sample("long", pa.int64(), _signed(64)),
    "float": Sample("float", pa.float32(), lambda i: FLOATS[i % 7] if i % 20 < 7 else i / 2),
    "double": Sample("double", pa.float64(), lambda i: FLOATS[i % 7] if i % 20 < 7 else i / 3),
    "decimal_9_2": _decimal(9, 2),
    "decimal_18_0": _decimal(18, 0),
    "decimal_38_10": _decimal(38, 10),
    "string": Sample("string", pa.string(), lambda i: ("", "\u00fc\U0001f3f9", "x" * 300, f"name {i}")[min(i % 10, 3)]),
    "binary": Sample("binary", pa.binary(), lambda i: bytes([i % 256, 0, 255]) * (i % 5)),
    "date": Sample("date", pa.date32(), lambda i: dt.date(1, 1, 1) + dt.timedelta(days=i * 700 % 3652058)),
    "timestamp": Sample(
        "timestamp", pa.timestamp("us", "UTC"), lambda i: dt.datetime(1969, 12, 31, 23, tzinfo=UTC) + dt.timedelta(seconds=i)
    ),
    "timestamp_ntz": Sample("timestamp_ntz", pa.timestamp("us"), lambda i: dt.datetime(1500, 1, 1) + dt.timedelta(hours=i)),
    "time": Sample("time(6)", pa.time64("ns"), lambda i: i * 1_000_003_000 % 86_400_000_000_000),
    "day_time": Sample("interval day to second", pa.duration("us"), lambda i: dt.timedelta(microseconds=i * 12345 - 100)),
    "array": Sample(_array("long"), pa.list_(pa.int64()), lambda i: [None if k % 3 == 1 else i * k for k in range(i % 6)]),
    "array_array": Sample(_array(_array("string")), pa.list_(pa.list_(pa.string())), lambda i: [None, [], ["a", None, f"s{i}"]][: i % 4]),
    "array_struct": Sample(
        _array(_struct(a="integer", b="string")),
        pa.list_(pa.struct([("a", pa.int32()), ("b", pa.string())])),
        lambda i: [{"a": i, "b": None}, None, {"a": None, "b": f"b{i}"}][: i % 4],
    ),
    "map": Sample(
        _map("string", "double"), pa.map_(pa.string(), pa.float64()), lambda i: [(f"k{k}", None if k == 1 else k / 2) for k in range(i % 4)]
    ),
    "map_map": Sample(
        _map("long", _map("string", _array("short"))),
        pa.map_(pa.int64(), pa.map_(pa.string(), pa.list_(pa.int16()))),
        lambda i: [(i, None if i % 3 == 0 else [("x", [1, None, i % 99]), ("y", None)])],
    ),
    "struct": Sample(
        _struct(a="long", b="string", c=_struct(d="boolean", e="decimal(20,3)")),
        pa.struct([("a", pa.int64()), ("b", pa.string()), ("c", pa.struct([("d", pa.bool_()), ("e", pa.decimal128(20, 3))]))]),
        lambda i: {
            "a": i,
            "b": None if i % 3 else f"s{i}",
            "c": None if i % 4 == 0 else {"d": i % 2 == 0, "e": decimal.Decimal(i).scaleb(-3)},
        },
    ),
    "void": Sample("void", pa.null(), lambda i: None),
    "array_void": Sample(_array("void"), pa.list_(pa.null()), lambda i: [None] * (i % 3)),
}

#: name -> whether row i of n is null
NULLS = {
    "none": lambda i, n: False,
    "all": lambda i, n: True,
    "start": lambda i, n: i < n // 3,
    "end": lambda i, n: i >= n - n // 3,
    "mixed": lambda i, n: random.Random(i).random() < 0.3,
}


def spark_schema(*names: str) -> dict:
    fields = [{"name": f"c{k}", "type": SAMPLES[n].spark, "nullable": True, "metadata": {}} for k, n in enumerate(names)]
    return {"type": "struct", "fields": fields}


def record_batch(rows: int, *names: str, nulls: str = "mixed") -> pa.RecordBatch:
    arrays = []
    for name in names:
        sample = SAMPLES[name]
        values = [None if NULLS[nulls](i, rows) else sample.value(i) for i in range(rows)]
        arrays.append(pa.array(values, type=sample.arrow))
    return pa.RecordBatch.from_arrays(arrays, names=[f"c{k}" for k in range(len(names))])

"""Sums while decoding, through the C ABI, against what pyarrow and Python's integers of any size say."""

import decimal
import struct

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from quiver import CHECKED_SUM, COUNT, DECIMAL_SUM, DOUBLE_SUM, INVALID, LENGTHS, SUM, Decoder, Encoder, QuiverError, Totals
from samples import SAMPLES, record_batch, spark_schema

CODECS = ["zstd", "lz4", "none", "pack"]
INTEGERS = ["byte", "short", "integer", "long", "decimal_9_2", "decimal_18_0"]
DECIMALS = [name for name in SAMPLES if name.startswith("decimal")]


def wrapped(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def halves(value: int) -> tuple[int, int]:
    return wrapped(value, 64), wrapped(value >> 64, 64)


def unscaled(value: decimal.Decimal) -> int:
    """Of a value with all digits of its scale; scaleb would round to 28 digits."""
    return int(f"{value:f}".replace(".", ""))


def numbers(column: pa.Array) -> list:
    """Values that are not null; decimals unscaled."""
    values = [v for v in column.to_pylist() if v is not None]
    return [unscaled(v) for v in values] if pa.types.is_decimal(column.type) else values


def added(values: list, start: float = 0.0) -> float:
    for v in values:
        start += float(v)
    return start


def bits(value: float) -> bytes:
    return struct.pack("<d", float("nan") if value != value else value)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("nulls", ["none", "mixed", "start", "all"])
def test_numbers(library, codec, nulls):
    names = [*INTEGERS, "decimal_38_10", "float", "double", "void"]
    schema, sizes = spark_schema(*names), [999, 1, 0, 64]
    batches = [record_batch(n, *names, nulls=nulls) for n in sizes]
    terms = [(i, op) for i, n in enumerate(names) for op in (SUM, DOUBLE_SUM, COUNT) if n in INTEGERS or op == COUNT]
    terms += [(names.index(n), DECIMAL_SUM) for n in DECIMALS] + [(names.index(n), DOUBLE_SUM) for n in ("float", "double")]
    totals = Totals(*terms)
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, range(len(names))) as decoder:
        for batch in batches:
            rows, bytes_read = decoder.totals(encoder.columns(batch), totals)
            assert rows == batch.num_rows and (bytes_read > 0 or nulls == "all" or rows == 0)
    for i, (column, op) in enumerate(terms):
        arrays = [b.column(column) for b in batches]
        values = [v for a in arrays for v in numbers(a)]
        count, low, high, excess = totals[i]
        assert (count, excess) == (len(values), 0), (names[column], op)
        if op == SUM:
            assert (low, high) == (wrapped(sum(values), 64), 0), names[column]
        elif op == DECIMAL_SUM:
            assert (low, high) == halves(sum(values)), names[column]
        elif op == DOUBLE_SUM:
            # pyarrow's float32 scalars are doubles of the same value
            got = struct.unpack("<d", struct.pack("<q", low))[0]
            assert bits(got) == bits(added(values)), (names[column], got)


@pytest.mark.parametrize("codec", CODECS)
def test_overflow_is_told(library, codec):
    schema, big = spark_schema("long"), 2**63 - 1
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, [0]) as decoder:
        for values, want in {
            (big, -5, 5, None): (3, big, 0, 0),
            (big, None, 1, -1): (1, big, 1, 1),
            (-5, -big, 3, -(2**63)): (1, -5, 1, -big),
            (0, None, -(2**63)): (2, -(2**63), 0, 0),
        }.items():
            totals = Totals((0, CHECKED_SUM))
            for part in (values[:2], values[2:]):
                batch = pa.record_batch([pa.array(part, pa.int64())], names=["c0"])
                decoder.totals(encoder.columns(batch), totals)
            assert totals[0][1:] == want[1:]
            assert want[2] or totals[0][0] == want[0]


@pytest.mark.parametrize("codec", CODECS)
def test_lengths(library, codec):
    schema = spark_schema("string", "binary")
    batch = record_batch(1000, "string", "binary")
    totals = Totals((0, LENGTHS), (1, LENGTHS))
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, [0, 1]) as decoder:
        decoder.totals(encoder.columns(batch), totals)
    for i, length in enumerate((pc.utf8_length, pc.binary_length)):
        column = batch.column(i)
        assert totals[i] == (len(column) - column.null_count, pc.sum(length(column)).as_py(), 0, 0)


@pytest.mark.parametrize("codec", CODECS)
def test_fields_of_structs(library, codec):
    """Nodes are counted in pre-order; a field of a null struct is null. Only the columns projected are touched."""
    schema = spark_schema("array_struct", "struct", "long")
    batch = record_batch(1000, "array_struct", "struct", "long")
    totals = Totals((0, COUNT), (1, SUM), (2, LENGTHS), (3, COUNT), (5, DECIMAL_SUM), (6, SUM))
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, [1, 2]) as decoder:
        decoder.totals(encoder.columns(batch), totals)
        assert decoder.touched == {1, 2}
    structs = [s for s in batch.column(1).to_pylist() if s is not None]
    inner = [s["c"] for s in structs if s["c"] is not None]
    texts = [s["b"] for s in structs if s["b"] is not None]
    values = [v for v in batch.column(2).to_pylist() if v is not None]
    assert totals[0][0] == len(structs)
    assert totals[1][:2] == (len(structs), sum(s["a"] for s in structs))
    assert totals[2][:2] == (len(texts), sum(map(len, texts)))
    assert totals[3][0] == len(inner)
    assert totals[4][:3] == (len(inner), *halves(sum(unscaled(s["e"]) for s in inner)))
    assert totals[5][:2] == (len(values), wrapped(sum(values), 64))


def test_terms_that_make_no_sense(library):
    """Each is an error that changes no total; the next call works."""
    names = ["long", "string", "decimal_38_10", "array"]
    schema, batch = spark_schema(*names), record_batch(50, *names, nulls="none")
    with Encoder(library, schema) as encoder, Decoder(library, schema, range(4)) as decoder:
        stored = encoder.columns(batch)
        nodes = [(-1, COUNT), (5, COUNT), (4, COUNT), (4, SUM)]  # the last two: elements of arrays
        types = [(1, SUM), (1, DOUBLE_SUM), (2, SUM), (0, DECIMAL_SUM), (0, LENGTHS), (0, 6), (0, -1)]
        for term in nodes + types:
            totals = Totals((0, SUM), term)
            with pytest.raises(QuiverError, match=r"added up|no operation") as error:
                decoder.totals(stored, totals)
            assert error.value.code == INVALID
            assert totals[0] == totals[1] == (0, 0, 0, 0)
        totals = Totals((0, SUM))
        decoder.vectors(stored)
        with pytest.raises(QuiverError):
            library.call("quiver_decode_totals", decoder.handle, totals.terms, totals.totals, 1, None)
        decoder.totals(stored, totals)
        assert totals[0][0] == 50


def test_nothing_to_add_up(library):
    schema = spark_schema("long")
    with Encoder(library, schema) as encoder, Decoder(library, schema, []) as decoder:
        assert decoder.totals(encoder.columns(record_batch(7, "long")), Totals()) == (7, 0)

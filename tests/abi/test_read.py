"""Projection, vectors, UnsafeRows and statistics through the C ABI."""

import struct

import pyarrow as pa
import pytest
from quiver import Decoder, Encoder, QuiverError
from samples import SAMPLES, record_batch, spark_schema

CODECS = ["zstd", "lz4", "none", "pack"]


@pytest.mark.parametrize("codec", CODECS)
def test_projection_touches_only_its_segments(library, codec):
    names = ["long", "string", "array_struct", "decimal_38_10", "map"]
    schema, batch = spark_schema(*names), record_batch(2000, *names)
    with Encoder(library, schema, f"codec={codec}") as encoder:
        stored = encoder.columns(batch)
    for column in range(len(names)):
        with Decoder(library, schema, [column]) as decoder:
            got = decoder.arrow(stored)
            assert decoder.touched == {column}
            assert repr(got.column(0).to_pylist()) == repr(batch.column(column).to_pylist())
            rows, bytes_read, _ = decoder.vectors(stored)
            assert rows == 2000
            assert 0 < bytes_read <= len(stored.segments[column])
    with Decoder(library, schema, [3, 0, 3]) as decoder:
        got = decoder.arrow(stored)
        assert decoder.touched == {0, 3}
        assert got.column(0).equals(got.column(2)) and got.column(1).equals(batch.column(0))


def test_no_column_touches_nothing(library):
    schema = spark_schema("long", "string")
    with Encoder(library, schema) as encoder, Decoder(library, schema, []) as decoder:
        stored = encoder.columns(record_batch(123, "long", "string"))
        rows, bytes_read, nodes = decoder.vectors(stored)
        assert (rows, bytes_read, nodes, decoder.touched) == (123, 0, [], set())


@pytest.mark.parametrize("codec", CODECS)
def test_vectors(library, codec):
    """Nulls one byte a slot, booleans one byte a slot, int32 offsets, values as Arrow's."""
    schema = spark_schema("integer", "boolean", "string", "array")
    rows = [
        (1, True, "a", [1, None]),
        (None, None, None, None),
        (-7, False, "", []),
        (2**31 - 1, True, "\u00fc", [5]),
    ]
    arrow = [SAMPLES[n].arrow for n in ("integer", "boolean", "string", "array")]
    batch = pa.RecordBatch.from_arrays(
        [pa.array(c, type=t) for c, t in zip(zip(*rows, strict=True), arrow, strict=True)], names=list("abcd")
    )
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, range(4)) as decoder:
        count, _, nodes = decoder.vectors(encoder.columns(batch))
    assert count == 4 and len(nodes) == 5
    integers, booleans, strings, lists, elements = nodes
    for node in (integers, booleans, strings, lists):
        assert (node.length, node.null_count, node.nulls) == (4, 1, b"\0\1\0\0")
    values = struct.unpack("<4i", integers.first)
    assert (values[0], *values[2:]) == (1, -7, 2**31 - 1)
    assert (booleans.first[0], *booleans.first[2:]) == (1, 0, 1)
    offsets = struct.unpack("<5i", strings.first)
    assert offsets == (0, 1, 1, 1, 3) and strings.second[:3] == b"a\xc3\xbc"
    assert struct.unpack("<5i", lists.first) == (0, 2, 2, 2, 3)
    assert (elements.length, elements.nulls) == (3, b"\0\1\0")
    first, _, third = struct.unpack("<3q", elements.first)
    assert (first, third) == (1, 5)


def test_columns_without_nulls_have_no_null_bytes(library):
    schema = spark_schema("long", "string")
    with Encoder(library, schema) as encoder, Decoder(library, schema, [0, 1]) as decoder:
        _, _, nodes = decoder.vectors(encoder.columns(record_batch(100, "long", "string", nulls="none")))
    assert [n.nulls for n in nodes] == [None, None]


def unsafe_row(number: int | None, text: bytes | None) -> bytes:
    """Spark's row of (long, string): a word of null bits, a word a field, the string's bytes padded to words."""
    bits = (number is None) | (text is None) << 1
    slot = 0 if text is None else 24 << 32 | len(text)
    tail = b"" if text is None else text + bytes(-len(text) % 8)
    return struct.pack("<QqQ", bits, number or 0, slot) + tail


@pytest.mark.parametrize("codec", CODECS)
def test_unsafe_rows(library, codec):
    values = [(i if i % 3 else None, None if i % 5 == 0 else b"s" * (i % 20)) for i in range(300)]
    rows = [unsafe_row(*v) for v in values]
    schema = spark_schema("long", "string")
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, [0, 1]) as decoder:
        stored = encoder.rows(rows)
        assert decoder.rows(stored) == rows
        assert decoder.rows(stored, target=1) == rows, "one row a block"
        assert decoder.rows(stored, target=500, capacity=7) == rows
        arrow = decoder.arrow(stored)
        assert arrow.column(0).to_pylist() == [v[0] for v in values]
        assert arrow.column(1).to_pylist() == [None if v[1] is None else v[1].decode() for v in values]


FILTERS = {
    "0 range 10 20 250 250": lambda n, s: n is not None and (10 <= n <= 20 or n == 250),
    "1 equal x61 x626262\n0 value": lambda n, s: s in (b"a", b"bbb") and n is not None,
    "1 prefix x62626262626262": lambda n, s: s is not None and s.startswith(b"bbbbbbb"),
    "1 null": lambda n, s: s is None,
    "0 range 1000 2000": lambda n, s: False,
}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("text", FILTERS)
def test_filters(library, codec, text):
    """Of rows and vectors only those that pass are left, where they are few; Arrow columns are not filtered."""
    values = [(i if i % 3 else None, None if i % 5 == 0 else b"ab"[i % 2 : i % 2 + 1] * (i % 11)) for i in range(300)]
    passing = [v for v in values if FILTERS[text](*v)]
    schema = spark_schema("long", "string")
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, [0, 1], text) as decoder:
        stored = encoder.rows([unsafe_row(*v) for v in values])
        assert decoder.rows(stored) == [unsafe_row(*v) for v in passing]
        rows, _, (numbers, strings) = decoder.vectors(stored)
        assert rows == 300 and numbers.length == strings.length == len(passing)
        longs = struct.unpack(f"<{len(passing)}q", numbers.first or b"")
        nulls = numbers.nulls or bytes(len(passing))
        assert [None if null else n for n, null in zip(longs, nulls, strict=True)] == [v[0] for v in passing]
        assert (strings.second or b"") == b"".join(v[1] or b"" for v in passing)
        assert decoder.arrow(stored).num_rows == 300


@pytest.mark.parametrize("text", ["2 null", "0 range 5", "1 range 0 1", "0 equal x00", "nonsense"])
def test_wrong_filters(library, text):
    with pytest.raises(QuiverError, match="filter: "):
        Decoder(library, spark_schema("long", "string"), [0, 1], text)


def test_decoded_size_is_what_spark_counts(library):
    """8 bytes a long, 4 and the length a string, 4 a null: the same for every codec."""
    schema = spark_schema("long", "string")
    batch = pa.RecordBatch.from_arrays([pa.array([1, None, 3]), pa.array(["ab", "", None])], names=["a", "b"])
    for codec in CODECS:
        with Encoder(library, schema, f"codec={codec}") as encoder:
            assert encoder.columns(batch).decoded_size == (8 + 4 + 8) + (6 + 4 + 4)


def test_statistics_row(library):
    """An UnsafeRow of lower bound, upper bound, null count, count and size in bytes of each column."""
    schema = spark_schema("long", "string", "binary")
    batch = pa.RecordBatch.from_arrays(
        [pa.array([5, None, -3, 9]), pa.array(["m", "\u00fc", "b", None]), pa.array([b"x", None, b"y", b"z"])], names=["a", "b", "c"]
    )
    with Encoder(library, schema) as encoder:
        stats = encoder.columns(batch).stats
    bits = struct.unpack_from("<Q", stats)[0]
    words = struct.unpack_from("<15q", stats, 8)
    assert bits == 0b00011 << 10, "binary has no bounds"
    assert words[0:2] == (-3, 9) and words[2:5] == (1, 4, 3 * 8 + 4)
    strings = [stats[(w >> 32) : (w >> 32) + (w & 0xFFFFFFFF)] for w in words[5:7]]
    assert strings == [b"b", "\u00fc".encode()] and words[7:10] == (1, 4, 5 + 6 + 5 + 4)
    assert words[12:15] == (1, 4, 3 * 5 + 4)

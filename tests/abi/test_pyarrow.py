"""What is stored is Arrow: pyarrow, given the schema, reads header and segments; and it all decodes to what went in."""

import pyarrow as pa
import pytest
from quiver import Decoder, Encoder
from samples import NULLS, SAMPLES, record_batch, spark_schema

STANDARD = ["zstd", "lz4", "none"]
CODECS = [*STANDARD, "pack"]


def read_with_pyarrow(batch, schema: pa.Schema) -> pa.RecordBatch:
    message = pa.ipc.read_message(pa.py_buffer(batch.message))
    read = pa.ipc.read_record_batch(message, schema)
    read.validate(full=True)
    return read


def same(got: pa.RecordBatch, want: pa.RecordBatch) -> bool:
    """Equal bit for bit: equals() would take NaN for unequal, or for equal to any other NaN; -0.0 equals 0.0."""
    return got.num_rows == want.num_rows and all(repr(g.to_pylist()) == repr(w.to_pylist()) for g, w in zip(got, want, strict=True))


@pytest.mark.parametrize("codec", STANDARD)
@pytest.mark.parametrize("name", SAMPLES)
def test_pyarrow_reads_what_is_stored(library, codec, name):
    for nulls in NULLS:
        batch = record_batch(1000, name, nulls=nulls)
        with Encoder(library, spark_schema(name), f"codec={codec}") as encoder:
            stored = encoder.columns(batch)
        assert stored.rows == 1000
        assert same(read_with_pyarrow(stored, batch.schema), batch), nulls


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("name", SAMPLES)
def test_decoded_is_what_went_in(library, codec, name):
    for nulls in NULLS:
        for rows in (1, 1000):
            batch = record_batch(rows, name, nulls=nulls)
            with Encoder(library, spark_schema(name), f"codec={codec}") as encoder, Decoder(library, spark_schema(name), [0]) as decoder:
                got = decoder.arrow(encoder.columns(batch))
                got.validate(full=True)
                assert same(got, batch), (nulls, rows)


@pytest.mark.parametrize("codec", CODECS)
def test_rows_and_columns_store_the_same(library, codec):
    """Columns -> stored -> UnsafeRows -> stored: Arrow and rows are two forms of the same values."""
    names = [n for n in SAMPLES]
    batch = record_batch(500, *names)
    schema = spark_schema(*names)
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, range(len(names))) as decoder:
        stored = encoder.columns(batch)
        rows = decoder.rows(stored)
        assert len(rows) == 500
        again = encoder.rows(rows)
        assert (again.rows, again.decoded_size, again.stats) == (stored.rows, stored.decoded_size, stored.stats)
        assert same(decoder.arrow(again), batch)
        assert decoder.rows(again) == rows
        if codec != "pack":
            assert same(read_with_pyarrow(again, batch.schema), batch)


@pytest.mark.parametrize("codec", STANDARD)
def test_a_column_of_several_segments(library, codec):
    """Bodies are split at 16 MiB a column; concatenated they are still one message."""
    text = [f"{i:08d}" * 3000 for i in range(1500)]  # 36 MB
    batch = pa.RecordBatch.from_arrays([pa.array(range(1500)), pa.array(text)], names=["c0", "c1"])
    schema = spark_schema("long", "string")
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, [1]) as decoder:
        stored = encoder.columns(batch)
        assert all(len(s) <= 16 << 20 for s in stored.segments)
        if codec == "none":
            assert len(stored.segments) == 4
        assert same(read_with_pyarrow(stored, batch.schema), batch)
        assert decoder.arrow(stored).column(0).equals(batch.column(1))


@pytest.mark.parametrize("level", [1, 3, 9, 22])
def test_levels_of_zstd(library, level):
    batch = record_batch(2000, "long", "string", "decimal_38_10")
    with Encoder(library, spark_schema("long", "string", "decimal_38_10"), f"codec=zstd\nzstd.level={level}") as encoder:
        assert same(read_with_pyarrow(encoder.columns(batch), batch.schema), batch)


def test_buffers_are_aligned(library):
    """Readers map the body: every buffer starts at a multiple of eight, and so does every segment but a column's later ones."""
    names = list(SAMPLES)
    for codec in CODECS:
        with Encoder(library, spark_schema(*names), f"codec={codec}") as encoder:
            stored = encoder.columns(record_batch(777, *names))
        assert len(stored.header) % 8 == 0
        assert len(stored.segments) == len(names)
        assert all(len(s) % 8 == 0 for s in stored.segments), codec


@pytest.mark.parametrize("codec", CODECS)
def test_sliced_and_dictionary_input(library, codec):
    """Input need not be laid out as ours: slices with an offset, dictionaries (decoded before storing)."""
    whole = record_batch(1000, "string", "boolean", "array", "struct", "decimal_9_2")
    schema = spark_schema("string", "boolean", "array", "struct", "decimal_9_2")
    part = whole.slice(333, 500)
    encoded = pa.RecordBatch.from_arrays([part.column(0).dictionary_encode(), *part.columns[1:]], names=part.schema.names)
    with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, range(5)) as decoder:
        for given in (part, encoded):
            assert same(decoder.arrow(encoder.columns(given, with_schema=True)), part)


def test_one_encoder_for_many_batches(library):
    """Scratch is used again from batch to batch: a large batch after a small one, an empty one in between."""
    schema = spark_schema("string", "long")
    for codec in CODECS:
        with Encoder(library, schema, f"codec={codec}") as encoder, Decoder(library, schema, [1, 0]) as decoder:
            for rows in (10, 5000, 0, 1, 3000):
                batch = record_batch(rows, "string", "long")
                got = decoder.arrow(encoder.columns(batch))
                assert same(got, batch.select([1, 0])), (codec, rows)


def test_arrow_memory_outlives_the_decoder(library):
    batch = record_batch(1000, "string", "array")
    schema = spark_schema("string", "array")
    with Encoder(library, schema) as encoder, Decoder(library, schema, [0, 1]) as decoder:
        got = decoder.arrow(encoder.columns(batch))
    assert library.native_bytes() > 0, "exported memory is counted"
    assert same(got, batch)
    del got

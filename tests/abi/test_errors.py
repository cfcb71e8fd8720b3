"""What is wrong is said, by code and by name; the next call works."""

import ctypes as C
import json
import random
import struct
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from quiver import (
    CLOSED,
    CORRUPT,
    INTERNAL,
    INVALID,
    LENGTHS,
    MEMORY,
    READ_ROWS,
    SUM,
    UNSUPPORTED,
    Batch,
    Decoder,
    Encoder,
    QuiverError,
    Totals,
)
from samples import SAMPLES, record_batch, spark_schema

CODECS = ["zstd", "lz4", "none", "pack"]
NAMES = ["long", "string", "array_struct", "decimal_38_10", "boolean", "map"]
SCHEMA = spark_schema(*NAMES)


def stored(library, codec="zstd", rows=500) -> Batch:
    with Encoder(library, SCHEMA, f"codec={codec}") as encoder:
        return encoder.columns(record_batch(rows, *NAMES))


def read_all(library, batch: Batch) -> None:
    """Every way of reading; each must give an error or an answer."""
    with Decoder(library, SCHEMA, range(len(NAMES))) as decoder:
        for read in (decoder.arrow, decoder.vectors, decoder.rows, lambda b: decoder.totals(b, Totals((0, SUM), (1, LENGTHS)))):
            read(batch)


def fails(code: int, *words: str):
    class Check:
        def __enter__(self):
            self.raises = pytest.raises(QuiverError)
            self.info = self.raises.__enter__()

        def __exit__(self, *exc):
            done = self.raises.__exit__(*exc)
            if done:
                error = self.info.value
                assert error.code == code, f"code {error.code}: {error}"
                assert all(w in str(error) for w in words), str(error)
            return done

    return Check()


def test_version_and_abi(library):
    number, build, toolchain = library.version().split()
    assert number == (Path(__file__).parents[2] / "VERSION").read_text().strip()
    assert len(build) >= 8 and toolchain.startswith("go")
    header = (Path(__file__).parents[2] / "jni" / "quiver.h").read_text()
    assert f"#define QUIVER_ABI_VERSION {library.abi_version()}\n" in header


def test_options(library):
    for options in ("", "codec=zstd", "codec=zstd\nzstd.level=22", "codec=lz4", "codec=none", "codec=pack"):
        library.check_options(options)
    with fails(INVALID, "gzip", "pack", "zstd", "lz4", "none"):
        library.check_options("codec=gzip")
    for level in ("0", "23", "high"):
        with fails(INVALID, level, "1 to 22"):
            library.check_options(f"codec=zstd\nzstd.level={level}")
    with fails(INVALID, "speed"):
        library.check_options("speed=9")
    with fails(INVALID, "gzip"):
        Encoder(library, SCHEMA, "codec=gzip")


def test_injection_is_not_in_the_real_library(library):
    with fails(INVALID, "test builds"):
        library.check_options("inject=panic")


def test_types_that_cannot_be_stored(library):
    library.check_schema(spark_schema(*SAMPLES))
    with fails(UNSUPPORTED, "no_such_type", "c1"):
        library.check_schema({"type": "struct", "fields": [
            {"name": "c0", "type": "long", "nullable": True, "metadata": {}},
            {"name": "c1", "type": "no_such_type", "nullable": True, "metadata": {}},
        ]})  # fmt: skip
    deep: object = "long"
    for _ in range(5000):
        deep = {"type": "array", "elementType": deep, "containsNull": True}
    text = b'{"type":"array","containsNull":true,"elementType":' * 5000 + b'"long"' + b"}" * 5000
    field = b'{"type":"struct","fields":[{"name":"d","nullable":true,"metadata":{},"type":' + text + b"}]}"
    with pytest.raises(QuiverError):
        library.check_schema(field)
    for text in (b"", b"{", b"[]", b"null", b'{"type":"struct"}', b'{"type":"struct","fields":3}', b"\xff\xfe"):
        with pytest.raises(QuiverError):
            library.check_schema(text)


def test_closed_handles(library):
    encoder, decoder = Encoder(library, SCHEMA), Decoder(library, SCHEMA, [0])
    batch = stored(library)
    for handle in (encoder, decoder):
        handle.close()
        handle.close()
    with fails(CLOSED):
        encoder.columns(record_batch(1, *NAMES))
    with fails(CLOSED):
        decoder.arrow(batch)
    library.c.quiver_close(12345678)


def test_projection_out_of_range(library):
    for projection in ([6], [-1], [0, 99]):
        with fails(INVALID, str(projection[-1])):
            Decoder(library, SCHEMA, projection)


def test_wrong_arrow_input(library):
    with Encoder(library, spark_schema("long", "string")) as encoder:
        with fails(INVALID, "c0"):
            encoder.columns(record_batch(10, "string", "long"), with_schema=True)
        with pytest.raises(QuiverError):
            encoder.columns(record_batch(10, "long"), with_schema=True)
        assert encoder.columns(record_batch(10, "long", "string")).rows == 10


def test_hostile_rows(library):
    """Offsets, sizes and counts that reach outside of a row."""
    with Encoder(library, spark_schema("long", "string")) as encoder:
        for slot in (24 << 32 | 9, 1 << 62, 16 << 32 | 1 << 31, 0xFFFFFFFFFFFFFFFF, 32 << 32 | 8):
            with fails(INVALID):
                encoder.rows([struct.pack("<QqQ", 0, 1, slot) + b"12345678"])
        with fails(INVALID):
            encoder.rows([b"1234567"])
        assert encoder.rows([struct.pack("<QqQ", 2, 1, 0)]).rows == 1


@pytest.mark.parametrize("codec", CODECS)
def test_truncated_and_missing_segments(library, codec):
    whole = stored(library, codec)
    for k in range(len(NAMES)):
        for keep in (0, 8, len(whole.segments[k]) // 2):
            segments = list(whole.segments)
            segments[k] = segments[k][:keep]
            with fails(CORRUPT):
                read_all(library, Batch(whole.rows, 0, whole.header, b"", segments))
    for n in (0, 1, len(NAMES) - 1):
        with fails(CORRUPT):
            read_all(library, Batch(whole.rows, 0, whole.header, b"", whole.segments[:n]))


@pytest.mark.parametrize("codec", CODECS)
def test_truncated_header(library, codec):
    whole = stored(library, codec)
    for keep in (0, 1, 4, 7, 8, 12, 40, len(whole.header) // 2, len(whole.header) - 8):
        with fails(CORRUPT):
            read_all(library, Batch(whole.rows, 0, whole.header[:keep], b"", whole.segments))


@pytest.mark.parametrize("codec", CODECS)
def test_checksums(library, codec):
    """With its checksums, a batch with a flipped bit is an error, whatever the bit is in."""
    whole = stored(library, codec, rows=50)
    library.check_head(len(NAMES), whole)
    with Decoder(library, SCHEMA, range(len(NAMES))) as decoder:
        decoder.check = True
        for read in (decoder.arrow, decoder.vectors, decoder.rows):
            read(whole)
        for k, segment in enumerate(whole.segments):
            for at in range(len(segment)):
                segments = list(whole.segments)
                segments[k] = segment[:at] + bytes([segment[at] ^ 1 << at % 8]) + segment[at + 1 :]
                bad = replace(whole, segments=segments)
                with fails(CORRUPT, "checksum", f"segment {k}", f"c{k}"):
                    (decoder.arrow, decoder.vectors, decoder.rows)[at % 3](bad)
    for part in ("header", "stats", "checksums"):
        data = getattr(whole, part)
        for at in range(len(data)):
            bad = replace(whole, **{part: data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]})
            with fails(CORRUPT):
                library.check_head(len(NAMES), bad)
    for bad in (replace(whole, rows=51), replace(whole, decoded_size=7), replace(whole, segments=whole.segments[1:])):
        with fails(CORRUPT):
            library.check_head(len(NAMES), bad)


@pytest.mark.parametrize("codec", CODECS)
def test_flipped_bits(library, codec):
    """Any damage gives an error that names corruption, or some answer: never a crash, a panic or lost memory."""
    whole = stored(library, codec, rows=200)
    chance = random.Random(7)
    found = 0
    for _ in range(600):
        header, segments = bytearray(whole.header), [bytearray(s) for s in whole.segments]
        target = header if chance.random() < 0.5 else chance.choice([s for s in segments if s])
        for _ in range(chance.choice([1, 1, 3, 20])):
            target[chance.randrange(len(target))] ^= 1 << chance.randrange(8)
        try:
            read_all(library, Batch(whole.rows, 0, bytes(header), b"", [bytes(s) for s in segments]))
        except QuiverError as e:
            assert e.code in (CORRUPT, MEMORY), f"code {e.code}: {e}"
            found += 1
    assert found > 100


@pytest.mark.parametrize("old,new,words", [
    (b"quiver.format", b"quiver.f0rmat", ()),
    (b"zstd", b"zst9", ("zst9", "zstd", "lz4", "none", "pack")),
])  # fmt: skip
def test_unknown_codec(library, old, new, words):
    whole = stored(library, "zstd")
    assert old in whole.header
    with fails(CORRUPT, *words):
        read_all(library, Batch(whole.rows, 0, whole.header.replace(old, new), b"", whole.segments))


def test_unknown_version(library):
    whole = stored(library, "zstd")
    # the value of quiver.format is a flatbuffers string: length 1, "1", zero
    at = [i for i in range(len(whole.header) - 8) if whole.header[i : i + 6] == b"\1\0\0\x001\0"]
    assert len(at) == 1
    header = bytearray(whole.header)
    header[at[0] + 4] = ord("7")
    with fails(CORRUPT, "version 7"):
        read_all(library, Batch(whole.rows, 0, bytes(header), b"", whole.segments))


def test_arrow_messages_of_others(library):
    batch = record_batch(10, "long")
    with Decoder(library, spark_schema("long"), [0]) as decoder:
        message = batch.serialize().to_pybytes()
        size = 8 + struct.unpack_from("<i", message, 4)[0]
        with fails(CORRUPT, "quiver"):
            decoder.arrow(Batch(10, 0, message[:size], b"", [message[size:]]))


def test_schema_that_does_not_fit(library):
    whole = stored(library, "none")
    with Decoder(library, spark_schema(*NAMES, "long"), [0]) as decoder, fails(CORRUPT):
        decoder.arrow(whole)
    with Decoder(library, spark_schema("long"), [0]) as decoder, fails(CORRUPT):
        decoder.arrow(whole)


def test_memory_limit(library):
    try:
        library.configure("memory.limit=300000")
        with fails(MEMORY, "spark.quiver.native.memoryLimit"):
            library.alloc(1 << 20)
        with Encoder(library, SCHEMA) as encoder, fails(MEMORY):
            encoder.columns(record_batch(20000, *NAMES))
    finally:
        library.configure("memory.limit=0")
    assert stored(library).rows == 500


def test_settings(library):
    for options in ("threads=x", "threads=-1", "memory.limit=1g", "colour=red"):
        with fails(INVALID, options.split("=")[0]):
            library.configure(options)


def test_allocations_are_counted(library):
    address = library.alloc(1000)
    assert address % 64 == 0
    assert library.native_bytes() >= 1000
    address = library.realloc(address, 1000, 100000)
    assert library.native_bytes() >= 100000
    library.free(address, 100000)
    library.free(0, 10)


@pytest.mark.parametrize("kind", ["panic", "nil", "wild", "index"])
def test_panics_become_errors(library_with_hooks, kind):
    """In the build with test hooks a failure inside Go comes out as an error, and the next call works."""
    hooks = library_with_hooks
    with Encoder(hooks, SCHEMA, f"codec=zstd\ninject={kind}") as encoder, fails(INTERNAL):
        encoder.columns(record_batch(10, *NAMES))
    batch = record_batch(10, *NAMES)
    with Encoder(hooks, SCHEMA) as encoder, Decoder(hooks, SCHEMA, range(len(NAMES))) as decoder:
        assert decoder.arrow(encoder.columns(batch)).num_rows == 10
    assert hooks.native_bytes() == 0


def test_consumed_arrays_are_released(library):
    """The producer's release callback runs whether encoding works or not."""
    before = pa.total_allocated_bytes()
    with Encoder(library, spark_schema("long")) as encoder:
        encoder.columns(record_batch(100000, "long"))
        with pytest.raises(QuiverError):
            encoder.columns(record_batch(100000, "string"), with_schema=True)
    assert pa.total_allocated_bytes() == before


def test_arrays_that_cannot_be_taken_over(library):
    """Released before, or refused at once: an error, and the callback has run where there is one."""
    before = pa.total_allocated_bytes()
    batch = record_batch(100000, "long")
    array, schema = C.create_string_buffer(80), C.create_string_buffer(72)
    with Encoder(library, spark_schema("long")) as encoder:

        def encode(handle, *arguments):
            library.call("quiver_encode_columns", handle, *arguments, C.byref(C.create_string_buffer(4096)))

        batch._export_to_c(C.addressof(array))
        encode(encoder.handle, array, None)
        with fails(INVALID, "released"):
            encode(encoder.handle, array, None)
        batch._export_to_c(C.addressof(array))
        with fails(INVALID, "released"):
            encode(encoder.handle, array, schema)
        batch._export_to_c(C.addressof(array), C.addressof(schema))
        with fails(CLOSED):
            encode(C.c_int64(1 << 40), array, schema)
        batch._export_to_c(C.addressof(array))
        C.c_int64.from_buffer(array).value = -1  # the length
        with fails(INVALID, "negative"):
            encode(encoder.handle, array, None)
        assert not any(array.raw[64:72] + schema.raw[56:64])
    del batch
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize("length", [-1, -(1 << 63), (1 << 63) - 1])
def test_lengths_that_cannot_be(library, length):
    """Negative, or of values at no address: the caller's fault, and said so."""
    n, none, out = C.c_int64(length), C.c_int64(0), C.byref(C.create_string_buffer(4096))
    row, ends = bytes(16), (C.c_int64 * 1)(16)
    schema = json.dumps(spark_schema("long")).encode()
    size = C.c_int64(len(schema))
    with Encoder(library, spark_schema("long")) as encoder, Decoder(library, spark_schema("long"), [0]) as decoder:
        needs, count = C.c_void_p(), C.c_int64()
        for name, *arguments in (
            ("quiver_check_schema", None, n),
            ("quiver_check_options", None, n),
            ("quiver_encode_rows", encoder.handle, None, n, ends, C.c_int64(1), out),
            ("quiver_encode_rows", encoder.handle, row, C.c_int64(16), None, n, out),
            ("quiver_decoder_new", schema, size, None, n, None, none, None, none),
            ("quiver_decoder_new", schema, size, None, none, None, n, None, none),
            ("quiver_decoder_new", schema, size, None, none, None, none, None, n),
            ("quiver_check_head", none, none, none, None, n, None, none, none, None, none),
            ("quiver_decode_plan", decoder.handle, C.c_int32(READ_ROWS), None, n, none, None, none, C.byref(needs), C.byref(count)),
        ):
            with fails(INVALID):
                library.call(name, *arguments)


def test_long_lists_take_no_memory(library):
    """A list of numbers is copied to the heap of Go, which has no limit: a wrong length must not end the process."""
    schema = json.dumps(spark_schema("long")).encode()
    columns = (C.c_int32 * 1)()
    with fails(INVALID, "4194304 at most"):
        library.call(
            "quiver_decoder_new", schema, C.c_int64(len(schema)), columns, C.c_int64(1 << 40), None, C.c_int64(0), None, C.c_int64(0)
        )


def test_wrong_counts(library):
    """Room for more rows than there can be; more segments than checksums, where their product overflows."""
    with Encoder(library, spark_schema("long")) as encoder, Decoder(library, spark_schema("long"), [0]) as decoder:
        batch = encoder.rows([bytes(16)])
        needs, count = C.c_void_p(), C.c_int64()
        for segments in ((1 << 62) + 1, -1):
            with fails(CORRUPT if segments > 0 else INVALID, "segments"):
                library.call(
                    "quiver_decode_plan",
                    decoder.handle,
                    C.c_int32(READ_ROWS),
                    batch.header,
                    C.c_int64(len(batch.header)),
                    C.c_int64(segments),
                    batch.checksums,
                    C.c_int64(len(batch.checksums)),
                    C.byref(needs),
                    C.byref(count),
                )
        decoder.plan(READ_ROWS, batch)
        library.call("quiver_decode_rows", decoder.handle, C.byref(C.create_string_buffer(4096)))
        with fails(INVALID, "room for"):
            library.call("quiver_next_rows", decoder.handle, C.c_int64(1), C.c_int64((1 << 63) - 1), None, None, None)


def test_arrays_that_are_no_record_batch(library):
    """A struct with nulls of its own, and a column that is shorter than the struct."""
    array = C.create_string_buffer(80)
    fields = C.c_int64 * 10
    with Encoder(library, spark_schema("long")) as encoder:
        for field, value, words in ((1, 2, "2 nulls of its own"), (0, 4, "cannot be imported")):
            record_batch(3, "long")._export_to_c(C.addressof(array))
            fields.from_buffer(array)[field] = value
            with fails(INVALID, words):
                library.call("quiver_encode_columns", encoder.handle, array, None, C.byref(C.create_string_buffer(4096)))
            assert not any(array.raw[64:72])

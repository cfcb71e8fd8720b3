"""Damaged batches and filters at the C ABI, in a process in which AddressSanitizer watches library and caller: an error that says so, or
an answer."""

import datetime as dt
import json
import os
import struct
import subprocess
from pathlib import Path

from quiver import Encoder, Library
from samples import SAMPLES, record_batch, spark_schema

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "hardening"
CODECS = ["pack", "zstd", "lz4", "none"]
ROWS = 150


def _unscaled(value) -> int:
    return int(value.scaleb(-value.as_tuple().exponent))


def _days(value) -> int:
    return (value - dt.date(1970, 1, 1)).days


def _micros(value) -> int:
    return (value - dt.datetime(1970, 1, 1, tzinfo=value.tzinfo)) // dt.timedelta(microseconds=1)


def _nanos(time) -> int:
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 1_000_000_000 + time.microsecond * 1000


def _hex(text: str) -> str:
    return "x" + text.encode().hex()


def _between(low: int, high: int, key=int):
    return f"range {low} {high}", lambda v: low <= key(v) <= high


#: sample -> conditions, each with what it says of a value that is not null; those of floating-point values go by filter.Key
CONDITIONS = {
    "boolean": [("range 1 1", lambda v: v), ("range 0 0", lambda v: not v), ("range", lambda v: False)],
    "byte": [_between(-128, -100), ("range -1 -1 10 100", lambda v: v == -1 or 10 <= v <= 100)],
    "short": [_between(-32768, -1), _between(30000, (1 << 63) - 1)],
    "integer": [
        _between(-(1 << 63), -1),
        (f"range {' '.join(f'{i} {i}' for i in range(31, 3000, 93))}", lambda v: v in range(31, 3000, 93)),
    ],
    "long": [_between(-(1 << 63), -1), _between(1000, 2000), _between((1 << 63) - 1, (1 << 63) - 1)],
    "float": [("range 0 0", lambda v: v == 0), (f"range {-(1 << 63)} -1", lambda v: v < 0)],
    "double": [(f"range {(1 << 63) - 1} {(1 << 63) - 1}", lambda v: v != v), ("range 0 0", lambda v: v == 0)],
    "decimal_9_2": [_between(-(10**9), -1, _unscaled), _between(0, 0, _unscaled)],
    "decimal_18_0": [_between(-5000, 300000, _unscaled), _between(10**18 - 1, (1 << 63) - 1, _unscaled)],
    "string": [
        ("equal x", lambda v: v == ""),
        (f"equal {_hex('name 13')} {_hex('name 33')} {_hex('x' * 300)}", lambda v: v in ("name 13", "name 33", "x" * 300)),
        (f"prefix {_hex('name 1')}", lambda v: v.startswith("name 1")),
        (f"equal {_hex('name 13')}", lambda v: v == "name 13"),
    ],
    "date": [_between(-719162, -700000, _days), _between(0, 20000, _days)],
    "timestamp": [_between(0, 100, _micros), _between(-3_600_000_000, -3_580_000_000, _micros)],
    "timestamp_ntz": [_between(_micros(dt.datetime(1500, 1, 2)), _micros(dt.datetime(1500, 1, 3)), _micros)],
    "time": [_between(0, 20_000_000_000, _nanos)],
    "day_time": [_between(-100, 100_000, lambda v: v // dt.timedelta(microseconds=1))],
}


def filters_of(batch, names: list[str]) -> list[tuple[str, bytes]]:
    """Filters that suit the columns, and a byte for each row that says whether it meets them: by the values themselves."""

    def made(*conditions) -> tuple[str, bytes]:
        meets = [all(test(values[k][i]) for k, _, test in conditions) for i in range(batch.num_rows)]
        return "".join(f"{k} {text}\n" for k, text, _ in conditions), bytes(meets)

    values = [column.to_pylist() for column in batch.columns]
    single = []
    for k, name in enumerate(names):
        single.append((k, "null", lambda v: v is None))
        single.append((k, "value", lambda v: v is not None))
        single.extend((k, text, lambda v, test=test: v is not None and bool(test(v))) for text, test in CONDITIONS.get(name, []))
    return [*map(made, single), made(*single[1::2]), made(*single[-2:])]


def write_batches(path: Path) -> int:
    """Batches of all types with every codec, few columns each so that damage hits all of them, and filters; how many batches."""
    library = Library(ROOT / "build" / "libquiver.so")
    names = list(SAMPLES)
    count = 0
    with path.open("wb") as out:
        for codec in CODECS:
            for first in range(0, len(names), 3):
                some = names[first : first + 3]
                schema = spark_schema(*some)
                columns = record_batch(ROWS, *some)
                with Encoder(library, schema, f"codec={codec}") as encoder:
                    batch = encoder.columns(columns)
                out.write(struct.pack("<qqi", batch.rows, batch.decoded_size, len(batch.segments)))
                for part in (json.dumps(schema).encode(), batch.header, batch.stats, batch.checksums, *batch.segments):
                    out.write(struct.pack("<i", len(part)) + part)
                filters = filters_of(columns, some)
                out.write(struct.pack("<i", len(filters)))
                for part in (x for text, meets in filters for x in (text.encode(), meets)):
                    out.write(struct.pack("<i", len(part)) + part)
                count += 1
    return count


def test_damage_under_address_sanitizer(tmp_path, full, figures):
    rounds = 180_000 if full else 4_000
    count = write_batches(tmp_path / "batches")
    # detect_leaks=0: the Go runtime never gives its own memory back; what Quiver allocates is counted by the library itself
    # GOGC: as much of the time as can be, Go collects garbage, when it looks at more than at other times
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1", "GOGC": "1"}
    line = [str(BUILD / "hostile"), str(tmp_path / "batches"), str(rounds)]
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[:6000]
    got = dict(word.split("=") for word in done.stdout.split()[1:])
    numbers = {k: int(v) for k, v in got.items()}
    assert numbers["batches"] == count and numbers["inputs"] == rounds and numbers["native_left"] == 0
    # beside filters that are refused and rows that are stored; in full 100,000 damaged batches at least
    assert numbers["damaged_batches"] >= rounds * 5 / 9 and numbers["stored"] > rounds * 0.02, numbers
    assert numbers["filters"] > 4 * count and numbers["refused"] > rounds * 0.05, numbers
    # with checksums nothing wrong is read (the program checks that); without, damage to values can give other values
    assert numbers["named"] > rounds * 0.4, numbers
    figures(
        inputs=rounds,
        native_left=0,
        **{k: numbers[k] for k in ("damaged_batches", "named", "refused", "same", "stored", "limit", "other_values")},
    )

"""Damaged batches at the C ABI, in a process in which AddressSanitizer watches library and caller: an error that says so, or an answer."""

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


def write_batches(path: Path) -> int:
    """Batches of all types with every codec, few columns each so that damage hits all of them; how many."""
    library = Library(ROOT / "build" / "libquiver.so")
    names = list(SAMPLES)
    count = 0
    with path.open("wb") as out:
        for codec in CODECS:
            for first in range(0, len(names), 3):
                some = names[first : first + 3]
                schema = spark_schema(*some)
                with Encoder(library, schema, f"codec={codec}") as encoder:
                    batch = encoder.columns(record_batch(150, *some))
                out.write(struct.pack("<qqi", batch.rows, batch.decoded_size, len(batch.segments)))
                for part in (json.dumps(schema).encode(), batch.header, batch.stats, batch.checksums, *batch.segments):
                    out.write(struct.pack("<i", len(part)) + part)
                count += 1
    return count


def test_damage_under_address_sanitizer(tmp_path, full, figures):
    rounds = 100_000 if full else 4_000
    count = write_batches(tmp_path / "batches")
    # detect_leaks=0: the Go runtime never gives its own memory back; what Quiver allocates is counted by the library itself
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1"}
    line = [str(BUILD / "hostile"), str(tmp_path / "batches"), str(rounds)]
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-6000:]
    got = dict(word.split("=") for word in done.stdout.split()[1:])
    numbers = {k: int(v) for k, v in got.items()}
    assert numbers["batches"] == count and numbers["inputs"] == rounds and numbers["native_left"] == 0
    # with checksums nothing wrong is read (the program checks that); without, damage to values can give other values
    assert numbers["named"] > rounds * 0.4, numbers
    figures(inputs=rounds, named=numbers["named"], other_values=numbers["other_values"], native_left=0)

"""Stored bytes that are wrong: an error that says what, through Spark; never a wrong row, never a crash; and Spark goes on."""

from harness.registry import case
from harness.settings import AGGREGATES

_READS = ("select sum(id), max(s), count(a) from c", "select * from c", "select sum(id), sum(length(s)), count(a) from c")


def fails(t, sql, *words):
    try:
        rows = t.spark.sql(sql).collect()
    except Exception as e:
        text = str(e)
        assert "CorruptBatchException" in text, text[:2000]
        assert all(w in text for w in words), f"{words} are not in: {text[:2000]}"
        return
    raise AssertionError(f"{sql} gave {len(rows)} rows from damaged batches")


def make(t):
    columns = ["id", "concat('s', id) s", "array(id, null) a"]
    t.cache("c", lambda s: s.range(0, 20000, 1, 2).selectExpr(*columns))
    t.cache("sound", lambda s: s.range(0, 1000, 1, 2).selectExpr("id", "cast(id as string) s"))


@case(params=["truncate_segment", "drop_segments", "truncate_header"], quiver_only=True)
def damaged_batches(t, what):
    make(t)
    assert t.caches.damage(t.cached["c"]._jdf, what.replace("_", "-"), None) >= 2
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            t.conf(AGGREGATES, "true")  # the last read adds up in the library
            for sql in _READS:
                fails(t, sql)
            t.same("select count(*), max(s) from sound", reads=None)


@case(params=["codec", "version"], quiver_only=True)
def unknown(t, what):
    """A codec or a format version that this build does not know."""
    make(t)
    header = bytes(t.caches.firstHeader(t.cached["c"]._jdf))
    if what == "codec":
        name = t.codec.encode()
        # the value is a flatbuffers string: its length, then the bytes
        old = len(name).to_bytes(4, "little") + name
        new, words = old[:4] + b"q" * len(name), ("q" * len(name), "zstd", "pack")
    else:
        old, new, words = b"\1\0\0\x001\0", b"\1\0\0\x009\0", ("version 9",)
    assert header.count(old) == 1
    t.caches.damage(t.cached["c"]._jdf, "replace-header", header.replace(old, new))
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            t.conf(AGGREGATES, "true")  # the last read adds up in the library
            for sql in _READS:
                fails(t, sql, *words)
            t.same("select count(*), max(s) from sound", reads=None)


@case(params=["segments", "header"], quiver_only=True)
def flipped_bits(t, what):
    """Damage that no length shows: an error, or (without a checksum in memory) some rows, but no crash and no lost memory."""
    make(t)
    t.caches.damage(t.cached["c"]._jdf, f"flip-{what}", None)
    for reading in t.readers("row", "fused", aqe=(True,)):
        with reading:
            t.conf(AGGREGATES, "true")  # the last read adds up in the library
            for sql in _READS:
                try:
                    t.spark.sql(sql).collect()
                except Exception as e:
                    assert "CorruptBatchException" in str(e) or "QuiverException" in str(e) or "UnicodeDecodeError" in str(e), str(e)[:2000]
            t.same("select count(*), max(s) from sound", reads=None)


@case(codecs=(), group="hooks", params=["panic", "nil", "wild", "index"], quiver_only=True)
def panic_inside_go(t, kind):
    """With the test build of the library a failure inside Go is a Java exception in the task; the next call and the next table work."""
    for _ in range(2):
        message = t.jvm.io.github.quiverspark.harness.Panics.inTask(t.sc._jsc, kind)
        assert "QuiverException" in message and "bug in libquiver" in message, message
    t.cache("c", lambda s: s.range(0, 1000, 1, 2).selectExpr("id", "cast(id as string) s"))
    for reading in t.readers():
        with reading:
            t.full("c")


def one_bit_flipped(whole):
    """About 50 of a file with one bit flipped, and all of the last byte: what is lost there is the last batch."""
    size = 8 * len(whole)
    for bit in (*range(0, size - 8, size // 50 | 1), *range(size - 8, size)):
        bad = bytearray(whole)
        bad[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit} of {size}", bad


def zeroed_tails(whole):
    """About 50 of a file of which the end was never written, as a crash of a machine leaves them."""
    for start in range(0, len(whole), len(whole) // 50 | 1):
        yield f"zeros from {start} of {len(whole)}", whole[:start] + bytes(len(whole) - start)


def on_disk(t):
    """A table on disk: the name of its second block, and the file of that."""
    from pathlib import Path

    from pyspark import StorageLevel

    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 20)
    level = StorageLevel(True, False, False, False)
    t.cache("c", lambda s: s.range(0, 100, 1, 2).selectExpr("id", "concat('s', id) s", "id % 7 k"), level=level)
    rdd = t.caches.rddId(t.cached["c"]._jdf)
    files = sorted(Path(t.sc.getConf().get("spark.local.dir")).rglob(f"rdd_{rdd}_*"), key=lambda f: f.name)
    assert [f.name for f in files] == [f"rdd_{rdd}_0", f"rdd_{rdd}_1"], files
    return f"block {files[1].name}", files[1]


def damage_files(t, reader, damages):
    """Damages the block file of a table on disk, each way in its turn; a query is then right or has an error that names the block."""
    block, file = on_disk(t)
    queries = (
        "select sum(id), count(s), max(s) from c",
        "select count(*) from c",
        "select sum(id) from c where k = 3 and id >= 10",
        "select sum(id), sum(length(s)), avg(k) from c",
    )
    right = [t.raw.sql(q).collect() for q in queries]
    errors, unnamed = 0, []
    for reading in t.readers(reader, aqe=(False,)):
        with reading:
            whole = file.read_bytes()
            for n, (what, bad) in enumerate(damages(whole)):
                file.write_bytes(bad)
                try:
                    got = t.spark.sql(queries[n % 4]).collect()
                    assert got == right[n % 4], f"{what}: {queries[n % 4]} gave {got}, not {right[n % 4]}"
                except AssertionError:
                    raise
                except Exception as e:
                    errors += 1
                    if block not in str(e):
                        unnamed.append(f"{what}: {str(e)[:1500]}")
                    assert "Exception" in str(e), str(e)[:500]
            file.write_bytes(whole)
            t.same(queries[0], reads=None)
    assert errors > 25, f"{errors} errors: nothing was read from disk"
    assert not unnamed, f"{len(unnamed)} of {errors} errors do not name the block: {unnamed[0]}"


@case(codecs=("pack", "none"), group="by-hand", quiver_only=True)
def flipped_bits_on_disk(t):
    damage_files(t, "row", one_bit_flipped)


@case(codecs=("pack",), group="kryo", quiver_only=True)
def flipped_bits_on_disk_by_kryo(t):
    damage_files(t, "fused", one_bit_flipped)


@case(codecs=("pack",), group="by-hand", quiver_only=True)
def zeroed_tails_on_disk(t):
    damage_files(t, "row", zeroed_tails)


@case(codecs=("pack",), params=["row", "fused", "unpruned"], group="kryo", quiver_only=True)
def zeroed_tails_on_disk_by_kryo(t, reader):
    """Kryo reads zeros as nulls, which Spark's scan, where nothing is pruned, asks for their rows before anything of ours sees them."""
    if reader == "unpruned":
        t.conf("spark.sql.inMemoryColumnarStorage.partitionPruning", "false")
    damage_files(t, "row" if reader == "unpruned" else reader, zeroed_tails)


def cut_off(whole):
    """A few of a file that ends early, but not within the first bytes, which are of no batch."""
    for end in range(100, len(whole), len(whole) // 7):
        yield f"{end} of {len(whole)} bytes", whole[:end]


_ENDS = "the block ends before the last batch of its partition"
#: ways to damage a block file -> rows of docs/troubleshooting.md: for Java's serialization, for Kryo, and where Spark compressed the block
WORDS = {
    "emptied": (lambda whole: [("empty", b"")], {"java.io.EOFException"}, {_ENDS}, {"java.io.EOFException"}),
    "cut_off": (cut_off, {"unexpected EOF in middle of data block"}, {"batch is truncated"}, {"Stream ended prematurely"}),
    "zeroed": (
        lambda whole: [("zeros", bytes(len(whole)))],
        {"invalid stream header: 00000000"},
        {"the block holds null, not a batch"},
        {"Stream is corrupted"},
    ),
}


def says(t, what, stored, reader):
    """What is said after the name of the block is in the table: the words that it has for this way, and at most others that it has."""
    damages, words = WORDS[what][0], WORDS[what][stored]
    known = set().union(*(w for _, *ways in WORDS.values() for w in ways))
    block, file = on_disk(t)
    for reading in t.readers(reader, aqe=(False,)):
        with reading:
            said = {}
            for how, bad in damages(file.read_bytes()):
                file.write_bytes(bad)
                try:
                    got = t.spark.sql("select sum(id), count(s), max(s) from c").collect()
                except Exception as e:
                    _, found, rest = str(e).partition(f"CorruptBatchException: {block}: ")
                    assert found, str(e)[:1500]
                    said[how] = rest.partition("\n")[0].strip()
                else:
                    raise AssertionError(f"{how}: {got}")
                # a block that cannot be opened Spark 4.1 drops, and the next query computes it
                t.cached["c"].unpersist(True)
                block, file = on_disk(t)
            assert words <= set(said.values()) <= known, said


@case(codecs=("pack",), params=WORDS, group="by-hand", quiver_only=True)
def words_of_damaged_files(t, what):
    says(t, what, 1, "row")


@case(codecs=("pack",), params=WORDS, group="kryo", quiver_only=True)
def words_of_damaged_files_by_kryo(t, what):
    says(t, what, 2, "fused")


@case(codecs=("pack",), params=WORDS, group="main", quiver_only=True)
def words_of_damaged_compressed_files(t, what):
    says(t, what, 3, "fused")


@case(codecs=("pack",), group="main", quiver_only=True)
def flipped_bits_in_compressed_blocks(t):
    """Blocks on disk are compressed by PySpark, and from 4.3 on by Spark; the streams have checksums, whose errors name the block, too."""
    from pathlib import Path

    from pyspark import StorageLevel

    assert t.sc.getConf().get("spark.rdd.compress", "true").lower() == "true"
    t.conf("spark.sql.inMemoryColumnarStorage.batchSize", 500)
    level = StorageLevel(True, False, False, False)
    for reading in t.readers("row", "fused", aqe=(False,)):
        with reading:
            for tenth in range(10):
                df = t.spark.range(0, 20000, 1, 2).selectExpr("id", f"uuid() || {tenth} s").persist(level)
                try:
                    assert df.count() == 20000
                    rdd = t.caches.rddId(df._jdf)
                    (file,) = Path(t.sc.getConf().get("spark.local.dir")).rglob(f"rdd_{rdd}_1")
                    bad = bytearray(file.read_bytes())
                    # the first place is in what Spark reads when it opens the stream
                    assert len(bad) > 100_000, len(bad)
                    bad[len(bad) * tenth // 10 + 60] ^= 16
                    file.write_bytes(bad)
                    try:
                        got = df.selectExpr("max(s)").collect()
                    except Exception as e:
                        assert f"CorruptBatchException: block rdd_{rdd}_1: Stream is corrupted" in str(e), str(e)[:2000]
                    else:
                        raise AssertionError(f"{got} from a damaged block")
                finally:
                    df.unpersist(True)

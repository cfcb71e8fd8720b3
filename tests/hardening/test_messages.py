"""Each message of docs/troubleshooting.md, provoked: what is printed is what the table has, and says what to do.

Messages about settings, Kryo, codecs and levels are provoked in tests/spark/test_startup.py, those about batches in
tests/spark/cases/damage.py; here the table is only compared with the sources.
"""

import contextlib
import os
import stat
import subprocess
import threading
from pathlib import Path

import jdk
import pytest
from harness import startup, submit

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "docs" / "troubleshooting.md").read_text()
LIBRARY = ROOT / "build" / "libquiver.so"


def documented(message: str, *words: str) -> None:
    """The message has these words, and so has the table, in one row."""
    assert all(w in message for w in words), message
    assert any(all(w in row for w in words) for row in TABLE.splitlines()), f"{words} are in no row of the table"


@pytest.fixture
def load(guest, tmp_path):
    """Loads the library in a JVM with these options; what it printed."""

    def run(*options: str, env: dict[str, str] | None = None) -> str:
        got = guest.run(jdk.found()[0], "Guest", "load", options=options, cwd=tmp_path, env=env)
        assert got.code == 0, got.err[-3000:]
        return got.out

    return run


def stub(folder: Path, name: str, source: str = "") -> Path:
    """A small library that is none of ours."""
    made = folder / name
    code = folder / "stub.c"
    code.write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(made), str(code)], check=True)
    return made


def test_directory_that_forbids_execution(guest, tmp_path):
    """A mount with noexec, in a name space of its own."""
    folder = tmp_path / "noexec"
    folder.mkdir()
    line = guest.line(jdk.found()[0], "Guest", "load", options=(f"-Djava.io.tmpdir={folder}",))
    script = 'mount -t tmpfs -o noexec none "$0" && exec "$@"'
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    unshare = ["unshare", "--mount", *user, "sh", "-c", script, str(folder), *line]
    done = subprocess.run(unshare, env=guest.environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    documented(done.stdout, "mounted noexec?")
    assert str(folder) in done.stdout and "spark.local.dir" in done.stdout


def test_glibc_that_is_too_old(load, tmp_path):
    """The library asks for a version of glibc that no system has yet."""
    data = LIBRARY.read_bytes()
    wanted = sorted(set(w for w in data.split(b"\0") if w.startswith(b"GLIBC_2.") and w[8:].isdigit()))
    assert wanted
    newer = tmp_path / "libquiver.so"
    newer.write_bytes(data.replace(b"\0" + wanted[-1] + b"\0", b"\0GLIBC_9" + wanted[-1][7:] + b"\0"))
    said = load(f"-Dquiver.native.path={newer}")
    documented(said, "this system's glibc is too old")
    assert "GLIBC_9" in said


def test_musl(load, tmp_path):
    """A process that has musl's loader mapped, as far as can be told on a system with glibc."""
    said = load(env={"LD_PRELOAD": str(stub(tmp_path, "ld-musl-x86_64.so.1"))})
    documented(said, "this JVM runs on musl (Alpine Linux)")


def test_library_of_another_version(load, tmp_path):
    prefix = "Java_io_github_quiverspark_nativelib_Native_"
    source = f"""#include <jni.h>
      JNIEXPORT jint JNICALL {prefix}abiVersion(JNIEnv *e, jclass c) {{ return 99; }}
      JNIEXPORT jstring JNICALL {prefix}version(JNIEnv *e, jclass c) {{ return (*e)->NewStringUTF(e, "9.9.9 x y"); }}"""
    code = tmp_path / "stub.c"
    code.write_text(source)
    home = jdk.found()[0].home
    made = tmp_path / "other.so"
    include = [f"-I{home}/include", f"-I{home}/include/linux"]
    subprocess.run(["gcc", "-shared", "-fPIC", *include, "-o", str(made), str(code)], check=True)
    said = load(f"-Dquiver.native.path={made}")
    documented(said, "it has ABI ", "needs ABI")
    assert "99" in said and "9.9.9" in said


def test_library_that_is_none_of_ours(load, tmp_path):
    documented(load(f"-Dquiver.native.path={stub(tmp_path, 'none.so')}"), "is not libquiver, or too old")


def test_class_loaders_in_the_table():
    """Provoked by test_two_class_loaders."""
    documented(TABLE, "is already loaded in this process by another class loader")


def lacking(scratch: Path, jar: Path, **confs: str) -> startup.Run:
    """An application whose jar is on the driver's class path only; its executors may fail once."""
    settings = {"spark.driver.extraClassPath": str(jar), "spark.executor.memory": "800m", "spark.deploy.maxExecutorRetries": "1"}
    group = {"master": "local-cluster[1,1,1024]", "memory": "1g"}
    got = startup.start(scratch, {**settings, **confs}, jar=submit.helper_jar(), plugin=False, **group)
    assert got.code != 0
    return got


def test_jar_that_executors_lack(tmp_path, jar):
    """With the plugin executors do not start, and their own log says why."""
    lacking(tmp_path, jar, **{"spark.plugins": "io.github.quiverspark.QuiverPlugin"})
    logs = [p.read_text() for p in (submit.spark_home(tmp_path) / "work").rglob("stderr")]
    said = [line for log in logs for line in log.splitlines() if "Unable to create executor" in line]
    assert said, logs
    documented(said[0], "Unable to create executor due to io.github.quiverspark.QuiverPlugin")


def test_jar_that_executors_lack_without_plugin(tmp_path, jar):
    """Tasks cannot be read by the executors: Java's serialization then complains of the first thing that does not fit."""
    got = lacking(tmp_path, jar, **{"spark.sql.cache.serializer": "io.github.quiverspark.QuiverCachedBatchSerializer"})
    said = got.lines("ClassCastException", "TaskSetManager")
    assert said, got.log[-4000:]
    documented(said[0], "cannot assign instance of java.lang.invoke.SerializedLambda to field org.apache.spark.rdd.MapPartitionsRDD.f")


@pytest.mark.parametrize(
    "words",
    [
        ("must be one of pack, zstd, lz4, none",),
        ("must be a whole number from 1 to 22",),
        ("spark.kryo.registrationRequired is true and Quiver's classes are not registered",),
        ("CorruptBatchException",),
        ("has checksum", "it was stored with"),
        ("native memory limit reached",),
        ("batch has wire version",),
        ("batch has storage format version",),
        ("batch is truncated", "the block ends before the last batch of its partition"),
        ("libjsig is preloaded",),
    ],
    ids=lambda w: w[0][:30],
)
def test_words_of_the_table_are_in_the_sources(words):
    """A message that is reworded must be reworded in the table."""
    sources = [*(ROOT / "java" / "src" / "main").rglob("*.java"), *(ROOT / "native").rglob("*.go"), ROOT / "exports.go"]
    text = "".join(p.read_text() for p in sources if not p.name.endswith("_test.go"))
    joined = text.replace('"\n        + "', "").replace('" + "', "")
    for word in words:
        # the table shows examples of what the sources put together
        stem = word.split(" one of ")[0].split(" a whole ")[0]
        assert stem in joined or stem.replace("it was", "they were") in joined, word
    documented(TABLE, *words)


NATIVE_LOADER_TEST = "java/src/test/java/io/github/quiverspark/nativelib/NativeLoaderTest.java"

#: words of a row's message -> the test that provokes it
PROVOKED = {
    "failed to map segment": "tests/hardening/test_messages.py: test_directory_that_forbids_execution",
    "version `GLIBC_": "tests/hardening/test_messages.py: test_glibc_that_is_too_old",
    "this JVM runs on musl": "tests/hardening/test_messages.py: test_musl",
    "has no library for this platform": "tests/spark/test_startup.py: test_jar_without_a_library",
    "the copied library is damaged": "tests/spark/test_startup.py: test_library_that_was_changed",
    "it has ABI": "tests/hardening/test_messages.py: test_library_of_another_version",
    "is not libquiver": "tests/hardening/test_messages.py: test_library_that_is_none_of_ours",
    "which is no file": f"{NATIVE_LOADER_TEST}: aNamedLibraryThatIsMissingIsAnErrorAndNothingElseIsTried",
    "the file is damaged, or": f"{NATIVE_LOADER_TEST}: aNamedLibraryThatIsDamagedIsAnError",
    "directories tried": f"{NATIVE_LOADER_TEST}: aDirectoryThatCannotBeWrittenIsNamed",
    "by another class loader": "tests/hardening/test_guest.py: test_two_class_loaders",
    "libjsig is preloaded": "tests/hardening/test_guest.py: test_preloaded_signal_chain",
    "compression.codec is": "tests/spark/test_startup.py: test_wrong_values",
    "zstd.level is": "tests/spark/test_startup.py: test_wrong_values",
    "registrationRequired is true": "tests/spark/test_startup.py: test_kryo_without_our_registrator",
    "Unable to create executor": "tests/hardening/test_messages.py: test_jar_that_executors_lack",
    "SerializedLambda": "tests/hardening/test_messages.py: test_jar_that_executors_lack_without_plugin",
    "corrupt batch:": "tests/spark/cases/damage.py: damaged_batches",
    "has checksum": "native/engine/checksum_test.go: TestEveryFlippedBitOfASegmentIsFound",
    "java.io.EOFException": "tests/spark/cases/damage.py: words_of_damaged_files",
    "unexpected EOF in middle of data block": "tests/spark/cases/damage.py: words_of_damaged_files",
    "invalid stream header: 00000000": "tests/spark/cases/damage.py: words_of_damaged_files",
    "batch is truncated": "tests/spark/cases/damage.py: words_of_damaged_files_by_kryo",
    "the block holds null, not a batch": "tests/spark/cases/damage.py: words_of_damaged_files_by_kryo",
    "Stream ended prematurely": "tests/spark/cases/damage.py: words_of_damaged_compressed_files",
    "Stream is corrupted": "tests/spark/cases/damage.py: flipped_bits_in_compressed_blocks",
    "has wire version": "java/src/test/java/io/github/quiverspark/QuiverCachedBatchTest.java: anotherVersionIsNamed",
    "has storage format version": "tests/spark/cases/damage.py: unknown",
    "native memory limit reached": "tests/hardening/test_spark.py: test_native_limit",
    "the system has no memory left": "native/memory/memory_test.go: TestImpossibleRequests",
    "bug in libquiver": "tests/spark/cases/damage.py: panic_inside_go",
}


def test_every_row_of_the_table_has_a_test():
    messages = [row.split("|")[1] for row in TABLE.splitlines() if row.startswith("| ") and not row.startswith("| message")]
    for message in messages:
        assert sum(words in message for words in PROVOKED) == 1, f"{message} has no test, or the words of several"
    assert len(messages) == len(PROVOKED)
    for place in PROVOKED.values():
        file, _, name = place.partition(": ")
        assert f" {name}(" in (ROOT / file).read_text(), f"{place} does not exist"


def test_unpacked_where_nobody_else_can_write(guest, tmp_path):
    """The directory of the unpacked library is private, has no name that can be foreseen, and is gone afterwards; the working directory and
    the library path of the environment are not looked into."""
    seen: set[tuple[str, int]] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for entry in os.scandir(tmp_path):
                if entry.name.startswith("quiver-"):
                    with contextlib.suppress(FileNotFoundError):
                        seen.add((entry.name, stat.S_IMODE(entry.stat().st_mode)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ("libquiver.so", f"libquiver-{(ROOT / 'VERSION').read_text().strip()}.so"):
        (trap / name).write_bytes(b"not a library")
    try:
        for _ in range(2):
            got = guest.run(
                jdk.found()[0],
                "Guest",
                "load",
                options=(f"-Djava.io.tmpdir={tmp_path}",),
                cwd=trap,
                env={"LD_LIBRARY_PATH": str(trap), "QUIVER_NATIVE_PATH": str(trap / "libquiver.so")},
            )
            assert got.out.strip().endswith("loaded"), got.out
    finally:
        done.set()
        watcher.join()
    assert len(seen) == 2, seen
    assert {mode for _, mode in seen} == {0o700}
    # at least 60 bits: SecureRandom's number
    assert all(len(name) >= len("quiver-") + 15 for name, _ in seen), seen
    assert not list(tmp_path.glob("quiver-*"))

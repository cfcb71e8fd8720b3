"""What the applications of this folder share."""

import json
import re
from pathlib import Path

CODECS = ("pack", "zstd", "lz4", "none")


def found(**values) -> None:
    """The result of the application, for the test that started it."""
    print("FOUND " + json.dumps(values), flush=True)


def resident_bytes(pid: int) -> int:
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def jvm_pid(spark) -> int:
    return spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()


def native_bytes(spark) -> int:
    return spark.sparkContext._jvm.io.github.quiverspark.nativelib.Native.nativeBytes()


def heap_bytes(spark) -> int:
    """Heap in use after a full collection."""
    jvm = spark.sparkContext._jvm
    for _ in range(3):
        jvm.java.lang.System.gc()
    runtime = jvm.java.lang.Runtime.getRuntime()
    return runtime.totalMemory() - runtime.freeMemory()


def stored_memory(spark) -> int:
    """Bytes in memory, as the block manager counts them."""
    return sum(info.memSize() for info in spark.sparkContext._jsc.sc().getRDDStorageInfo())


def stored_on_disk(spark) -> int:
    return sum(info.diskSize() for info in spark.sparkContext._jsc.sc().getRDDStorageInfo())


def slope(points: list[tuple[float, float]]) -> float:
    """Least squares."""
    x = sum(p[0] for p in points) / len(points)
    y = sum(p[1] for p in points) / len(points)
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)

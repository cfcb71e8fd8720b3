"""What the applications of this folder share."""

import json
import re
from pathlib import Path

CODECS = ("pack", "zstd", "lz4", "none")


def found(**values) -> None:
    """The result of the application, for the test that started it."""
    print("FOUND " + json.dumps(values), flush=True)


def resident_bytes(spark) -> int:
    """Resident memory of the JVM but for files, which come and go with the page cache, and for classes and compiled code, of which Spark
    makes more with every query until all is compiled. What the native library holds is in it, and all of a heap that is pre-touched."""
    jvm = spark.sparkContext._jvm
    pid = jvm.java.lang.ProcessHandle.current().pid()
    anonymous = int(re.search(r"Anonymous:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())[1]) * 1024
    management = jvm.java.lang.management
    pools = management.ManagementFactory.getMemoryPoolMXBeans()
    return anonymous - sum(p.getUsage().getCommitted() for p in pools if p.getType().name() == "NON_HEAP")


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

"""What the applications of this folder share."""

import json
import re
import subprocess
from pathlib import Path

CODECS = ("pack", "zstd", "lz4", "none")


def found(**values) -> None:
    """The result of the application, for the test that started it."""
    print("FOUND " + json.dumps(values), flush=True)


def jcmd(spark, *command: str) -> str:
    """What the JVM says of itself."""
    jvm = spark.sparkContext._jvm
    tool = Path(jvm.System.getProperty("java.home")) / "bin" / "jcmd"
    pid = jvm.java.lang.ProcessHandle.current().pid()
    return subprocess.run([str(tool), str(pid), *command], capture_output=True, text=True, timeout=120, check=True).stdout


def resident_bytes(spark) -> int:
    """Resident memory of a JVM whose heap is pre-touched, less what Spark makes more of with every query until it has all: classes, code,
    and the stacks of its pools' threads, of which there are hundreds. What malloc was given back goes back to the system first. Left are
    the heap, which does not grow, and what native code holds. Needs -XX:NativeMemoryTracking=summary."""
    jvm = spark.sparkContext._jvm
    jcmd(spark, "System.trim_native_heap")
    stacks = int(re.search(r"Thread \(reserved=\d+KB, committed=(\d+)KB", jcmd(spark, "VM.native_memory", "summary"))[1]) * 1024
    pid = jvm.java.lang.ProcessHandle.current().pid()
    anonymous = int(re.search(r"Anonymous:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())[1]) * 1024
    management = jvm.java.lang.management
    pools = management.ManagementFactory.getMemoryPoolMXBeans()
    return anonymous - stacks - sum(p.getUsage().getCommitted() for p in pools if p.getType().name() == "NON_HEAP")


def is_quiver(spark) -> bool:
    """Whether relations are cached by Quiver; these applications also run with Spark's own format, for comparison."""
    return spark.conf.get("spark.quiver.status", "") == "on"


def native_bytes(spark) -> int:
    """Bytes that the library holds."""
    return spark.sparkContext._jvm.io.github.quiverspark.nativelib.Native.nativeBytes() if is_quiver(spark) else 0


def codecs(spark) -> tuple:
    return CODECS if is_quiver(spark) else ("spark",)


def use(spark, codec: str) -> None:
    if is_quiver(spark):
        spark.conf.set("spark.quiver.compression.codec", codec)


def live_bytes(spark) -> int:
    """Bytes of the objects on the heap that are reachable. Not the heap in use: G1 gives each array of half a region or more regions of its
    own, and counts the rest of the last one as used; between smaller ones gaps stay."""
    return int(re.search(r"^Total\s+\d+\s+(\d+)", jcmd(spark, "GC.class_histogram"), re.M)[1])


def used_heap(spark) -> int:
    """Heap in use after a full collection, by regions."""
    jvm = spark.sparkContext._jvm
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

"""The Spark applications that cases run in: start-up settings, one application each."""

from dataclasses import dataclass, field

SERIALIZER = "io.github.quiverspark.QuiverCachedBatchSerializer"
BATCH = "io.github.quiverspark.QuiverCachedBatch"
REGISTRATOR = "io.github.quiverspark.QuiverKryoRegistrator"
SPARK_SERIALIZER = "org.apache.spark.sql.execution.columnar.DefaultCachedBatchSerializer"
SPARK_BATCH = "org.apache.spark.sql.execution.columnar.DefaultCachedBatch"

_KRYO = {"spark.serializer": "org.apache.spark.serializer.KryoSerializer", "spark.kryo.registrationRequired": "true"}


#: The master of a cluster that the harness starts.
STANDALONE = "standalone"

# 25 MB for blocks and execution in an executor of 1 GB, so that little data is too much
_EXECUTORS = {
    "spark.executor.memory": "1g",
    "spark.executor.cores": "1",
    "spark.memory.fraction": "0.035",
    "spark.task.maxFailures": "8",
    "spark.locality.wait": "0s",
    # an executor that has just been alone would not replicate for a minute
    "spark.storage.cachedPeersTtl": "500",
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "true",
    "spark.storage.decommission.rddBlocks.enabled": "true",
    "spark.storage.decommission.shuffleBlocks.enabled": "true",
}
# every way in which bytes are changed on their way out of the heap
_WRAPPED = {
    "spark.rdd.compress": "true",
    "spark.io.encryption.enabled": "true",
    "spark.shuffle.compress": "true",
    "spark.memory.offHeap.enabled": "true",
    "spark.memory.offHeap.size": "64m",
}
_SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "200ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "500ms",
}
_DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.minExecutors": "0",
    "spark.dynamicAllocation.initialExecutors": "1",
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.dynamicAllocation.executorIdleTimeout": "2s",
    "spark.dynamicAllocation.cachedExecutorIdleTimeout": "6s",
    "spark.dynamicAllocation.shuffleTracking.timeout": "2s",
    "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
}


# PySpark compresses blocks that leave the heap, with checksums of its own
_PLAIN = {"spark.rdd.compress": "false"}


@dataclass(frozen=True)
class Group:
    """plugin: switched on by the arguments of `make spark-conf`; otherwise only the jar is added.
    stores: whether relations are expected to be stored by Quiver. hooks: the library with test hooks is loaded.
    executors: how many processes besides the driver. packages: the jar comes by --packages from a folder laid out as Maven does."""

    confs: dict[str, str] = field(default_factory=dict)
    plugin: bool = True
    stores: bool = True
    hooks: bool = False
    master: str = "local[2]"
    memory: str = "2g"
    executors: int = 0
    packages: bool = False


GROUPS = {
    "main": Group(),
    # the serializer set by hand, no plugin
    "by-hand": Group({"spark.sql.cache.serializer": SERIALIZER, **_PLAIN}, plugin=False),
    "kryo": Group({**_KRYO, "spark.kryo.registrator": REGISTRATOR, **_PLAIN}),
    # negative scales need this at start-up; the rest of the types' cases do not
    "legacy": Group({"spark.sql.legacy.allowNegativeScaleOfDecimal": "true"}),
    "hooks": Group(hooks=True),
    # large values in little heap
    "small-heap": Group(memory="1g"),
    # plans of thousands of columns need heap, cached or not
    "wide": Group(memory="4g"),
    "executors": Group(_EXECUTORS, master="local-cluster[2,1,1024]", memory="1g", executors=2),
    "standalone": Group(
        {**_EXECUTORS, **_WRAPPED, **_SPECULATION, **_KRYO, "spark.kryo.registrator": REGISTRATOR, "spark.executor.memory": "800m"},
        master=STANDALONE,
        memory="1g",
        executors=2,
        packages=True,
    ),
    "dynamic": Group({**_EXECUTORS, **_DYNAMIC}, master=STANDALONE, memory="1g", executors=2),
}

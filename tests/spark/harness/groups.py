"""The Spark applications that cases run in: start-up settings, one application each."""

from dataclasses import dataclass, field

SERIALIZER = "io.github.quiverspark.QuiverCachedBatchSerializer"
BATCH = "io.github.quiverspark.QuiverCachedBatch"
REGISTRATOR = "io.github.quiverspark.QuiverKryoRegistrator"
SPARK_SERIALIZER = "org.apache.spark.sql.execution.columnar.DefaultCachedBatchSerializer"
SPARK_BATCH = "org.apache.spark.sql.execution.columnar.DefaultCachedBatch"

_KRYO = {"spark.serializer": "org.apache.spark.serializer.KryoSerializer", "spark.kryo.registrationRequired": "true"}


@dataclass(frozen=True)
class Group:
    """plugin: switched on by the arguments of `make spark-conf`; otherwise only the jar is added.
    stores: whether relations are expected to be stored by Quiver. hooks: the library with test hooks is loaded."""

    confs: dict[str, str] = field(default_factory=dict)
    plugin: bool = True
    stores: bool = True
    hooks: bool = False
    master: str = "local[2]"
    memory: str = "2g"


GROUPS = {
    "main": Group(),
    # the serializer set by hand, no plugin
    "by-hand": Group({"spark.sql.cache.serializer": SERIALIZER}, plugin=False),
    "kryo": Group({**_KRYO, "spark.kryo.registrator": REGISTRATOR}),
    # negative scales need this at start-up; the rest of the types' cases do not
    "legacy": Group({"spark.sql.legacy.allowNegativeScaleOfDecimal": "true"}),
    "hooks": Group(hooks=True),
    # large values in little heap
    "small-heap": Group(memory="1g"),
    # plans of thousands of columns need heap, cached or not
    "wide": Group(memory="4g"),
}

"""A native limit that is too small for a batch ends the task with a message; the application and smaller batches go on."""

from common import CODECS, found, native_bytes
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("limits").getOrCreate()
COLUMNS = ("id", "concat('name ', id) s", "cast(id as decimal(38,4)) d", "array(id, null) a", "id / 3 f")


def outcome(codec: str, batch_bytes: str) -> str:
    """The answer's check, or the message of the failure."""
    spark.conf.set("spark.quiver.compression.codec", codec)
    spark.conf.set("spark.quiver.batch.maxBytes", batch_bytes)
    spark.conf.set("spark.sql.inMemoryColumnarStorage.batchSize", 10_000_000)
    df = spark.range(0, 200_000, 1, 2).selectExpr(*COLUMNS, f"'{codec} {batch_bytes}' x").cache()
    try:
        row = df.selectExpr("count(*)", "sum(id)", "sum(d)", "max(length(s))", "sum(size(a))").collect()[0]
        # reading as rows, in the same task as another reader
        pairs = df.join(df.select("id", "s").withColumnRenamed("s", "t"), "id").where("s = t").count()
        right = [str(x) for x in row] == ["200000", "19999900000", "19999900000.0000", "11", "400000"] and pairs == 200_000
        return "right" if right else f"wrong: {row} {pairs}"
    except Exception as e:
        return str(e)
    finally:
        df.unpersist(blocking=True)


found(
    large=[outcome(codec, "64m") for codec in CODECS],
    usual=[outcome(codec, "4m") for codec in CODECS],
    native=native_bytes(spark),
)
spark.stop()

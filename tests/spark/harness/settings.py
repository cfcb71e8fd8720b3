"""Settings that cases change at run time."""

VECTORIZED = "spark.sql.inMemoryColumnarStorage.enableVectorizedReader"
AQE = "spark.sql.adaptive.enabled"
# read by Quiver only
AGGREGATES = "spark.quiver.scan.aggregates.enabled"
CODEC = "spark.quiver.compression.codec"

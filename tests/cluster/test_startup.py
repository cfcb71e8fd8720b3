"""Start-up where driver and executors differ, and more than one SparkContext in a JVM."""

from harness import groups


def test_executor_that_cannot_load(run):
    """Its tasks fail with the loader's message; the executor itself lives on, or the cluster manager would start others for ever."""
    got = run(
        {"spark.executor.extraJavaOptions": "-Dquiver.native.path=/nowhere/libquiver.so", "spark.executor.memory": "800m"},
        master="local-cluster[1,1,1024]",
        memory="1g",
    )
    assert got.code != 0
    said = got.lines("QuiverException", "/nowhere/libquiver.so", "quiver.native.path")
    assert said, got.log[-6000:]
    for word in ("UnsatisfiedLinkError", "NoClassDefFoundError", "ExceptionInInitializerError"):
        assert not got.lines(word), got.lines(word)[:3]
    # when the application has ended, local-cluster may stop its workers (and they their executors, by SIGTERM: 143) before the driver
    # stops listening; an executor that fails by itself ends with another code
    stopped = ("Worker shutting down", "Command exited with code 143")
    lost = [line for line in got.lines("Lost executor") if not line.endswith(stopped)]
    assert not lost, lost


def test_contexts_one_after_the_other(run):
    """Each SparkContext of a JVM is decided on its own: with the plugin, without it, and with it again."""
    got = run(app="cluster/restart_app.py")
    assert got.code == 0, got.log[-6000:]
    quiver, spark = [groups.SERIALIZER, groups.BATCH, "on"], [groups.SPARK_SERIALIZER, groups.SPARK_BATCH, None]
    assert got.found["rounds"] == [quiver, spark, quiver], got.found
    assert got.found["sums"] == [sum(range(3000))] * 3
    assert got.found["native"] == [0, 0, 0]

"""The application that spark-submit starts: runs the cases of a list and writes one line of JSON for each."""

import argparse
import importlib
import json
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pyspark.sql import SparkSession

from harness import groups, registry
from harness.tables import Tables


def split(case_id: str) -> tuple[str, str, list[str]]:
    """ "module::name[param-codec]" -> module, name, [param, codec]."""
    module, _, rest = case_id.partition("::")
    name, _, axis = rest.rstrip("]").partition("[")
    return module, name, axis.split("-") if axis else []


def run(tables: Tables, case: registry.Case, axis: list[str]) -> None:
    codec = axis[-1] if case.codecs and axis else ""
    arguments = [axis[0]] if case.params else []
    tables.begin(f"{case.name} {arguments}", codec)
    try:
        case.function(tables, *arguments)
    except BaseException:
        try:
            tables.end()
        except AssertionError as e:
            print(f"also: {e}", flush=True)
        raise
    tables.end()


def describe(e: Exception) -> str:
    """The message, then where in the case it happened."""
    frames = [f for f in traceback.extract_tb(e.__traceback__) if "/cases/" in f.filename]
    at = "".join(f"\n  at {Path(f.filename).name}:{f.lineno} {f.line}" for f in frames)
    name = "" if isinstance(e, AssertionError) else f"{type(e).__name__}: "
    return f"{name}{str(e)[:6000]}{at}"


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("group", "format", "readers", "todo", "results", "home"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--every", action="store_true")
    args = parser.parse_args()
    sys.path.insert(0, args.home)
    group = groups.GROUPS[args.group]
    spark = SparkSession.builder.appName(f"cases-{args.group}").getOrCreate()
    tables = Tables(spark, group, args.format == "quiver", args.readers.split(","), args.every)
    with Path(args.results).open("a") as results:
        for case_id in json.loads(Path(args.todo).read_text()):
            module, name, axis = split(case_id)
            importlib.import_module(f"cases.{module}")
            case = next(c for c in registry.load(f"cases.{module}") if c.name == name)
            print(f"=== {case_id}", flush=True)
            start = time.monotonic()
            try:
                run(tables, case, axis)
                ok, message = True, ""
            except Exception as e:
                ok, message = False, describe(e)
            seconds = round(time.monotonic() - start, 2)
            print(f"--- {case_id} {'ok' if ok else 'FAILED'} {seconds} s {message[:2000]}", flush=True)
            results.write(json.dumps({"id": case_id, "ok": ok, "message": message, "seconds": seconds}) + "\n")
            results.flush()
    spark.stop()


if __name__ == "__main__":
    main()

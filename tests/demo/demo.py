"""Caches TPC-H tables with Spark's own format and with Quiver, compares the answers, and prints what each costs.

Run by `make demo`. Each format has a spark-submit process of its own, since the format is fixed for the life of an application.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import queries  # noqa: E402

SERIALIZERS = {"spark": "DefaultCachedBatchSerializer"}


def run(title: str, arguments: list[str], codecs: str, data: Path, scratch: Path, rounds: int) -> dict:
    print(f"[demo] {title}", file=sys.stderr, flush=True)
    out = scratch / f"{codecs.split(',')[0]}.json"
    log = scratch / f"{codecs.split(',')[0]}.log"
    home = Path(os.environ["SPARK_HOME"])
    line = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "2g", *arguments]
    for conf in (
        "spark.ui.enabled=false",
        "spark.sql.shuffle.partitions=2",
        f"spark.local.dir={scratch}",
        f"spark.sql.warehouse.dir={scratch}/warehouse",
    ):
        line += ["--conf", conf]
    line += [str(HERE / "run.py"), "--data", str(data), "--out", str(out), "--codecs", codecs, "--rounds", str(rounds)]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("w") as errors:
        # spark-submit passes on what the Python program prints, on either stream, on its own standard output
        process = subprocess.Popen(line, cwd=scratch, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for text in process.stdout:
            errors.write(text)
            if text.startswith("[demo]"):
                print(text, end="", file=sys.stderr, flush=True)
    if process.wait():
        sys.exit(f"the run failed; the end of its log:\n{log.read_text()[-6000:]}")
    return json.loads(out.read_text())


def check(results: dict) -> list[str]:
    """What is wrong: a format that was not in place, or an answer that differs."""
    wrong = []
    for codec, result in results.items():
        expected = SERIALIZERS.get(codec, "QuiverCachedBatchSerializer")
        if result["serializer"] != expected:
            wrong.append(f"{codec}: the tables were cached by {result['serializer']}, not {expected}")
        for name, answer in results["spark"]["answers"].items():
            if result["answers"][name] != answer:
                wrong.append(f"{codec}: {name} gives {result['answers'][name][:3]}, Spark's own format {answer[:3]}")
    return wrong


def table(results: dict) -> str:
    """Columns: the formats, with their ratio to Spark's own (below 1 is smaller or faster)."""
    base = results["spark"]
    names = ["Spark" if c == "spark" else f"Quiver {c}" for c in results]
    rows = [["", *names]]

    def line(label, value, form):
        cells = [form(value(r)) + ("" if r is base else f" ({value(r) / value(base):.2f})") for r in results.values()]
        rows.append([label, *cells])

    line("memory", lambda r: r["memory"], lambda v: f"{v / 2**20:.1f} MiB")
    line("build", lambda r: r["build"], lambda v: f"{v:.0f} ms")
    for name in [*queries.QUERIES, queries.FULL_READ]:
        line(name, lambda r, name=name: r["ms"][name], lambda v: f"{v:.0f} ms")
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True))) for r in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the tables as Parquet")
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--codecs", default="pack,zstd")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    data = args.data.resolve()
    quiver = ["--jars", str(args.jar.resolve()), "--conf", "spark.plugins=io.github.quiverspark.QuiverPlugin"]
    with tempfile.TemporaryDirectory(prefix="quiver-demo-") as folder:
        scratch = Path(folder)
        results = run("Spark with its own cache format", [], "spark", data, scratch, args.rounds)
        results |= run("Spark with Quiver", quiver, args.codecs, data, scratch, args.rounds)
    print(f"\nTPC-H lineitem, orders and customer ({data.name}), cached from Parquet; in brackets the ratio to Spark's own format\n")
    print(table(results))
    wrong = check(results)
    if wrong:
        sys.exit("\nNOT EQUAL:\n" + "\n".join(wrong))
    print(f"\nAll answers agree: {len(queries.QUERIES) + 1} queries, {len(results)} formats.")


if __name__ == "__main__":
    main()

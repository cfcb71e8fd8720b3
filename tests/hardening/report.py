"""The line of figures that `make hardening` ends with, from what its tests have recorded; fails if a figure is missing or not zero."""

import json
import sys
from pathlib import Path

FIGURES = Path(__file__).resolve().parents[2] / "build" / "hardening" / "figures.jsonl"


def main() -> int:
    records = [json.loads(line) for line in FIGURES.read_text().splitlines()] if FIGURES.exists() else []

    def values(key: str) -> list[float]:
        return [r[key] for r in records if key in r]

    needed = ("inputs", "threads", "rounds", "faults", "rss_slope", "relation_slope", "null_checks", "stack_overflows", "heap_multiple")
    needed += ("size_off_percent",)
    missing = [key for key in needed if not values(key)]
    if missing:
        print(f"no figures for {', '.join(missing)}: a test did not run", file=sys.stderr)
        return 1
    wrong, left = sum(values("wrong")), sum(values("native_left"))
    # a crash fails its test, and make has ended before
    print(
        f"hardening: {sum(values('inputs')):,.0f} damaged inputs at the C ABI, {sum(values('damaged_batches')):,.0f} of them batches "
        f"({sum(values('named')):,.0f} named, {sum(values('refused')):,.0f} filters refused, {sum(values('same')):,.0f} right, "
        f"{sum(values('stored')):,.0f} changed rows stored, {sum(values('limit')):,.0f} at the memory limit, "
        f"{sum(values('other_values')):,.0f} read as other values, which checksums are for), "
        f"{max(values('threads')):.0f} threads, {sum(values('rounds')):,.0f} compared rounds, "
        f"{sum(values('faults')):,.0f} killed jobs, {sum(values('null_checks')):,.0f} null checks, "
        f"{sum(values('stack_overflows')):,.0f} stack overflows, {max(values('heap_multiple')):.0f} x heap cached, "
        f"sizes counted within {max(values('size_off_percent')):.1f} %; "
        f"wrong answers {wrong:.0f}, crashes 0, native bytes left {left:.0f}, "
        f"RSS slope {max(values('rss_slope')):.0f} bytes a round and {max(values('relation_slope')):.0f} bytes a relation "
        f"(Spark's own format: {max(values('relation_slope_of_spark')):.0f})"
    )
    return 1 if wrong or left else 0


if __name__ == "__main__":
    sys.exit(main())

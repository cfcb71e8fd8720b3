"""Makes docs/performance.md's tables and docs/performance.svg from the result files of tests/bench/run.sh.

usage: report.py [--doc docs/performance.md] [--picture docs/performance.svg] [--commit ID] FILE.json ...

The part of the document between two marker lines is replaced, with --codecs another one. Ratios are the peer's time divided by Quiver's,
of the lowest medians over the rounds. Times of reads are net of the floor, the smallest count(*) of all contenders; times of building are
net of the same query written to noop without a cache, the smallest of all contenders. A ratio below its target is printed in bold;
notes.tsv has what is known about it.
"""

import argparse
import collections
import json
import os
import platform
import re
import statistics
from pathlib import Path

import runs

HERE = Path(__file__).parent
SPARK, QUIVER = "spark41-default", "quiver-pack"
CODECS = ("none", "lz4", "zstd")
# of another Spark than all others
SPARK43 = [f"spark43-arrow-{c}" for c in CODECS]

# name, cells (workload/query), Quiver's modes, targets: against Spark, Comet with the same codec, Comet's best codec
ROWS = [
    ("build from rows", ["flat/materialize", "nested/materialize"], ["base"], (8, 1.2, 2)),
    ("build from Parquet", ["lineitem/materialize"], ["base"], (8, 1.2, 1.2)),
    ("count(*), whole time", ["flat/0of6", "nested/0of6"], ["fused"], (1, 1, 1)),
    ("1 of 6 columns", ["flat/1of6"], ["fused"], (2, 1.2, 1.2)),
    ("1 of 6, decoded", ["flat/1of6"], ["decoded"], (2, 1.2, 1.2)),
    ("3 of 6", ["flat/3of6"], ["fused"], (2, 1.2, 1.2)),
    ("6 of 6", ["flat/6of6"], ["fused"], (4, 1.2, 1.2)),
    ("6 of 6, decoded", ["flat/6of6"], ["decoded"], (4, 1.2, 1.2)),
    ("selective filter", ["flat/filter"], ["fused"], (2, 1.2, 1.2)),
    ("the same by rows", ["flat/1of6", "flat/3of6", "flat/6of6", "flat/filter"], ["row"], (1.5, 1.5, 1.2)),
    ("full rows out", ["flat/noop*", "flat/exch*", "nested/noop*"], ["fused"], (1.3, 1.5, 1.2)),
    ("bigint columns: one", ["wide100/sum1", "wide200/sum1", "wide1500/sum1"], ["fused", "row"], (2, 2, 1.5)),
    (
        "100, 200, 1500 bigint: all",
        ["wide100/sumAll", "wide200/sumAll", "wide100/noop*", "wide1500/noop*"],
        ["fused", "row"],
        (1.3, 2, 1.5),
    ),
    ("the same, decoded", ["wide100/sum1", "wide100/sumAll"], ["decoded"], (1.3, 2, 1.5)),
    ("nested: one leaf", ["nested/1struct"], ["fused"], (2, 1.5, 1.2)),
    ("nested: all leaves", ["nested/leaves"], ["fused"], (2, 1.5, 1.2)),
    ("the same, decoded", ["nested/1struct", "nested/leaves"], ["decoded"], (2, 1.5, 1.2)),
    ("TPC-H 1 and 6", ["lineitem/q1", "lineitem/q6"], ["fused"], (1.5, None, None)),
]
MEMORY = [("flat", 0.25), ("nested", 0.25), ("wide100", 0.75), ("wide200", 0.75), ("wide1500", 0.75), ("lineitem", 0.25)]


class Results:
    """Times in ms by contender, cell and mode (the least of all rounds, and all); sizes in bytes by contender and workload."""

    def __init__(self, files: list[str], unit: str):
        self.times: dict[tuple[str, str, str], float] = {}
        self.all: dict[tuple[str, str, str], list[float]] = collections.defaultdict(list)
        self.sizes: dict[tuple[str, str], int] = {}
        self.rounds: collections.Counter = collections.Counter()
        self.loads: list[float] = []
        self.versions: set[str] = set()
        for file in files:
            data = json.loads(Path(file).read_text())
            contender = data["contender"]
            name = contender["name"]
            self.rounds[name] += 1
            self.versions.add(f"{name}: Spark {contender['_spark']}, JDK {contender['_jvm']}")
            for cell in data["cells"]:
                if "error" in cell:
                    continue
                column = name + (f"-{cell['variant']}" if cell.get("variant") else "")
                key = (column, f"{cell['workload']}/{cell['query']}", cell["mode"])
                self.times[key] = min(self.times.get(key, 1e18), cell[unit])
                self.all[key].append(cell[unit])
                self.loads.append(float(cell["load"]))
            for print_ in data["footprints"]:
                column = name + (f"-{print_['variant']}" if print_.get("variant") else "")
                self.sizes[column, print_["workload"]] = print_["memSize"]
        counts = [ms for (_, cell, _), ms in self.times.items() if cell.endswith("/0of6")]
        self.floor = min(counts, default=0.0)

    def time(self, contender: str, cell: str, modes: list[str] | None = None) -> float | None:
        """The time of a cell, net; the best of the modes (None: of all)."""
        found = [ms for (c, x, mode), ms in self.times.items() if c == contender and x == cell and (modes is None or mode in modes)]
        if not found:
            return None
        if cell.endswith("/materialize"):
            # the smallest of all contenders, as of the floor: with its own, a contender whose source was slow in that run seems to build in
            # no time. Of Parquet that is Comet's scan, which leaves the others with more than their own would
            sources = [ms for (_, x, _), ms in self.times.items() if x == cell.replace("materialize", "src-noop")]
            return max(1.0, min(found) - min(sources)) if sources else None
        return min(found) if cell.endswith("/0of6") else max(1.0, min(found) - self.floor)

    def ratio(self, peer: str, quiver: str, cell: str, modes: list[str]) -> float | None:
        theirs, ours = self.time(peer, cell), self.time(quiver, cell, modes)
        return None if theirs is None or ours is None else theirs / ours


def note(cell: str, peer: str, seen: list[str]) -> str:
    """The number of the note for a missed cell, as a superscript."""
    for line in (HERE / "notes.tsv").read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        cells, peers, text = line.split("\t")
        if re.fullmatch(cells, cell) and re.fullmatch(peers, peer):
            if text not in seen:
                seen.append(text)
            return f" <sup>{seen.index(text) + 1}</sup>"
    return ""


def show(ratio: float | None, target: float | None, mark: str) -> str:
    if ratio is None:
        return "–"
    text = f"{ratio:.1f}" if ratio < 100 else "> 100"
    return f"**{text}**{mark}" if target is not None and ratio < target else text


def ratios(r: Results, notes: list[str]) -> list[str]:
    lines = [
        "| shape | cell | Spark's format | Comet, same codec (none, lz4, zstd) | Comet, its best codec | Arrow of Spark 4.3, its best |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, cells, modes, (spark, same, best) in ROWS:
        for cell in cells:
            if r.time(QUIVER, cell, modes) is None:
                continue
            columns = [show(r.ratio(SPARK, QUIVER, cell, modes), spark, note(f"{cell}:{modes[0]}", "spark", notes))]
            pairs = []
            for codec in CODECS:
                ratio = r.ratio(f"comet-{codec}", f"quiver-{codec}", cell, modes)
                pairs.append(show(ratio, same, note(f"{cell}:{modes[0]}", "same", notes)))
            columns.append(" / ".join(pairs) if set(pairs) != {"–"} else "–")
            peers = [r.ratio(f"comet-{codec}", QUIVER, cell, modes) for codec in CODECS]
            least = min((x for x in peers if x is not None), default=None)
            columns.append(show(least, best, note(f"{cell}:{modes[0]}", "best", notes)))
            newer = [r.ratio(peer, QUIVER, cell, modes) for peer in SPARK43]
            columns.append(show(min((x for x in newer if x is not None), default=None), 1, note(f"{cell}:{modes[0]}", "spark43", notes)))
            goals = ", ".join("–" if x is None else f"{x:g} ×" for x in (spark, same, best))
            lines.append(f"| {name} (targets {goals}) | `{cell}` | " + " | ".join(columns) + " |")
    return lines


CODEC_CELLS = [
    ("materialize", ["base"]),
    ("0of6", ["fused"]),
    ("1of6", ["fused"]),
    ("1of6", ["decoded"]),
    ("3of6", ["fused"]),
    ("6of6", ["fused"]),
    ("6of6", ["decoded"]),
]


def over_rounds(r: Results, contender: str, cell: str, modes: list[str] | None) -> list[float] | None:
    """The medians of a cell, one of each round, in order; of the mode (None: of all) with the least median of them."""
    found = [sorted(ms) for (c, x, mode), ms in r.all.items() if c == contender and x == cell and (modes is None or mode in modes)]
    return min(found, key=statistics.median, default=None)


def codec_time(theirs: list[float] | None, ours: list[float] | None, compresses: bool) -> str:
    """Median (least to most) of rounds; italic: both overlap; bold: they do not, and a codec that compresses takes less."""
    if theirs is None or ours is None:
        return "–"
    text = f"{statistics.median(theirs):.0f} ({theirs[0]:.0f}–{theirs[-1]:.0f})"
    if theirs is ours:
        return text
    if theirs[0] <= ours[-1] and ours[0] <= theirs[-1]:
        return f"*{text}*"
    return f"**{text}**" if compresses and theirs[-1] < ours[0] else text


def codecs(wall: Results, cpu: Results) -> list[str]:
    """The default codec beside the others of Quiver, read in the same way, and Comet's, each with its best reader."""
    peers = [QUIVER, *(f"quiver-{c}" for c in CODECS), *(f"comet-{c}" for c in CODECS)]
    lines = ["| flat relation, ms | " + " | ".join(peers) + " |", "|---|" + "---:|" * len(peers)]
    for unit, r in (("wall", wall), ("CPU", cpu)):
        for query, modes in CODEC_CELLS:
            cell = f"flat/{query}"
            ours, row = over_rounds(r, QUIVER, cell, modes), []
            for peer in peers:
                theirs = ours if peer == QUIVER else over_rounds(r, peer, cell, modes if peer.startswith("quiver") else None)
                row.append(codec_time(theirs, ours, compresses=not peer.endswith("-none")))
            lines.append(f"| {query}{', decoded' if modes == ['decoded'] else ''}, {unit} | " + " | ".join(row) + " |")
    row = [f"{wall.sizes[p, 'flat'] / 2**20:.1f}" if (p, "flat") in wall.sizes else "–" for p in peers]
    return [*lines, "| memory, MiB | " + " | ".join(row) + " |"]


def sizes(r: Results, notes: list[str]) -> list[str]:
    peers = [SPARK, *SPARK43, *(f"comet-{c}" for c in CODECS), *(f"quiver-{c}" for c in CODECS), QUIVER]
    peers = [p for p in peers if any(c == p for c, _ in r.sizes)]
    lines = ["| MiB | " + " | ".join(peers) + " | pack ÷ Spark | target |", "|---|" + "---:|" * (len(peers) + 2)]
    for workload, target in MEMORY:
        if (QUIVER, workload) not in r.sizes:
            continue
        cells = [f"{r.sizes[p, workload] / 2**20:.1f}" if (p, workload) in r.sizes else "–" for p in peers]
        spark = r.sizes.get((SPARK, workload))
        share = r.sizes[QUIVER, workload] / spark if spark else None
        text = "–" if share is None else f"{share:.3f}"
        if share is not None and share > target:
            text = f"**{text}**" + note(f"{workload}/memory", "spark", notes)
        lines.append(f"| {workload} | " + " | ".join(cells) + f" | {text} | ≤ {target} |")
    return lines


def absolute(r: Results) -> list[str]:
    """All times as measured, one table a workload."""
    lines = []
    workloads = list(dict.fromkeys(cell.split("/")[0] for _, cell, _ in r.times if not cell.startswith("floor/")))
    for workload in workloads:
        cells = list(dict.fromkeys(cell for _, cell, _ in r.times if cell.startswith(workload + "/")))
        lines += [f"**{workload}**", "", "| ms | " + " | ".join(c.split("/")[1] for c in cells) + " |", "|---|" + "---:|" * len(cells)]
        for contender, mode in dict.fromkeys((c, m) for c, x, m in r.times if x in cells):
            times = [r.times.get((contender, cell, mode)) for cell in cells]
            label = contender if mode == "base" else f"{contender}, {mode}"
            lines.append(f"| {label} | " + " | ".join("" if t is None else f"{t:.0f}" for t in times) + " |")
        lines.append("")
    return lines


PICTURE = [
    ("build", "flat/materialize", ["base"]),
    ("3 of 6 columns", "flat/3of6", ["fused"]),
    ("6 of 6, decoded", "flat/6of6", ["decoded"]),
    ("all rows out", "flat/noop*", ["fused"]),
    ("nested, all leaves", "nested/leaves", ["fused"]),
    ("lineitem, all rows", "lineitem/noop*", ["fused"]),
    ("lineitem, build", "lineitem/materialize", ["base"]),
]


def picture(r: Results) -> str:
    """Bars: times and memory relative to Spark's format, shorter is better."""
    peers = [(SPARK, "Spark's format", "#9aa0a6"), ("comet-zstd", "Comet, zstd", "#e8a33d"), (QUIVER, "Quiver", "#1a73e8")]
    groups = []
    for label, cell, modes in PICTURE:
        base = r.time(SPARK, cell)
        times = [r.time(p, cell, modes if p == QUIVER else None) for p, _, _ in peers]
        if base and times[2] is not None:
            groups.append((label, [None if t is None else t / base for t in times]))
    for workload in ("lineitem", "nested"):
        if (QUIVER, workload) in r.sizes and (SPARK, workload) in r.sizes:
            base = r.sizes[SPARK, workload]
            groups.append((f"memory, {workload}", [r.sizes[p, workload] / base if (p, workload) in r.sizes else None for p, _, _ in peers]))
    bar, gap, left, width = 13, 14, 150, 420
    height = 46 + len(groups) * (3 * bar + gap)
    longest = max([1.0, *(x for _, values in groups for x in values if x is not None)])
    scale = width / min(longest, 2.0)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 60} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="100%" height="{height}" fill="#ffffff"/>',
    ]
    for i, (_, name, colour) in enumerate(peers):
        out.append(f'<rect x="{left + 130 * i}" y="8" width="12" height="12" fill="{colour}"/>')
        out.append(f'<text x="{left + 130 * i + 17}" y="18" fill="#202124">{name}</text>')
    y = 34
    for label, values in groups:
        out.append(f'<text x="{left - 8}" y="{y + 1.5 * bar + 4}" text-anchor="end" fill="#202124">{label}</text>')
        for (_, _, colour), value in zip(peers, values, strict=True):
            if value is not None:
                shown = min(value * scale, width)
                out.append(f'<rect x="{left}" y="{y}" width="{shown:.1f}" height="{bar - 2}" fill="{colour}"/>')
                out.append(f'<text x="{left + shown + 4:.1f}" y="{y + bar - 3}" font-size="10" fill="#5f6368">{value:.2f}</text>')
            y += bar
        y += gap
    return "\n".join([*out, "</svg>", ""])


def main() -> None:
    args = argparse.ArgumentParser()
    args.add_argument("files", nargs="+")
    args.add_argument("--doc", type=Path)
    args.add_argument("--picture", type=Path)
    args.add_argument("--commit", default="unknown")
    args.add_argument("--command", default="make bench")
    args.add_argument("--codecs", action="store_true", help="the default codec beside the others, of the flat relation")
    a = args.parse_args()
    wall, cpu = Results(a.files, "medianMs"), Results(a.files, "cpuMedianMs")
    notes: list[str] = []
    cores = os.cpu_count()
    rounds = ", ".join(f"{name} × {n}" for name, n in wall.rounds.items())
    section = "codecs" if a.codecs else "measured"
    lines = [
        f"Commit {a.commit}, command `{a.command}`, {platform.machine()} with {cores} cores, load average while timing"
        f" {min(wall.loads):.1f} to {max(wall.loads):.1f}. Rounds: {rounds}. Floor: {wall.floor:.0f} ms.",
        "",
    ]
    if a.codecs:
        lines += codecs(wall, cpu)
    else:
        lines += [
            "### Wall time, peer ÷ Quiver",
            "",
            *ratios(wall, notes),
            "",
            "### Process CPU time, peer ÷ Quiver",
            "",
            *ratios(cpu, notes),
            "",
            "### Memory as the block manager counts it",
            "",
            *sizes(wall, notes),
            "",
            *(f"{i + 1}. {text}" for i, text in enumerate(notes)),
            "",
            "### Wall time as measured",
            "",
            *absolute(wall),
            "Versions: " + "; ".join(sorted(wall.versions)) + ".",
        ]
    text = "\n".join(lines)
    if a.doc:
        runs.write_section(a.doc, section, f"{text}\n")
    else:
        print(text)
    if a.picture:
        a.picture.write_text(picture(wall))


if __name__ == "__main__":
    main()

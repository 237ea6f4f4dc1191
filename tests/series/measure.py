"""Measures the detectors on logs of known truth: `python -m tests.series.measure [--write]` prints (or writes) docs/series.md's table."""

import argparse
import sys
from collections import Counter
from pathlib import Path

from forensics import pipeline, series
from forensics.database import Database
from forensics.model import Source
from forensics.scan import scan
from tests.series.families import FAMILIES, made

COUNT = 200
WANTED = {
    "leak": {"growth"}, "nan": {"nan"}, "divergence": {"divergence"}, "stall": {"silence"}, "slow-down": {"slow-down"},
    "evaluation jump": {"evaluation-jump"}, "throttled": {"throttled"},
}  # fmt: skip
DETECTORS = (
    "growth", "evaluation-jump", "nan", "divergence", "explosion", "loss-scale", "silence", "behind", "slow-down", "starved",
    "throttled",
)  # fmt: skip
PAGE = Path(__file__).parents[2] / "docs" / "series.md"
MARKS = ("<!-- measured: begin -->\n", "<!-- measured: end -->\n")


def told(text: str, knowledge: Database) -> set[str]:
    """The kinds of events that the series of a log give: growth, nan, silence ..."""
    source = Source("train.log", lambda _warn: iter([text.encode()]))
    return {
        e.kind.removeprefix("series/").replace("sinking", "growth")
        for e in series.read(scan(source, knowledge, lambda _w: None), knowledge)
    }


def measure(knowledge: Database, count: int = COUNT) -> dict[str, Counter[str]]:
    """How often each family was told each kind, `count` logs of each."""
    return {f: Counter(k for n in range(count) for k in told(made(f, n), knowledge)) for f in FAMILIES}


def table(found: dict[str, Counter[str]], count: int = COUNT) -> str:
    """A Markdown table: what each family was told; the wanted kind is its recall, every other kind a false alarm."""
    shown = [d for d in DETECTORS if any(c[d] for c in found.values())]
    lines = ["| made | " + " | ".join(shown) + " | recall | false alarms |", "| --- |" + " ---: |" * (len(shown) + 2)]
    for family, kinds in found.items():
        wanted = WANTED.get(family, set())
        recall = f"{sum(kinds[w] for w in wanted) / count:.3f}" if wanted else ""
        false = sum(kinds.values()) - sum(kinds[w] for w in wanted)
        cells = [str(kinds[d] or "") for d in shown]
        lines.append(f"| {family} | " + " | ".join(cells) + f" | {recall} | {100 * false / count:.1f} % |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Print the table, or write it into docs/series.md."""
    parser = argparse.ArgumentParser(prog="python -m tests.series.measure", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/series.md")
    options = parser.parse_args()
    text = table(measure(pipeline.database()))
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(MARKS[0])
        PAGE.write_text(before + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1])[1], encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

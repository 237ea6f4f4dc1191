"""How many briefs hold a line that people named as decisive, by the size of the brief.

    python -m benchmarks.briefs CORPUS... [--tokens 600 2000 8000]
    python -m benchmarks.briefs CORPUS... --write FOLDER --tokens 2000 --first 100    # briefs to read, beside nothing else

Each CORPUS is a folder with labels.jsonl and a sub-folder a case. A row of labels.jsonl names lines by number (`decisive`, of
the case's only file) or by their words (`decisive` with `text`, or `evidence`); rows of runs that ended well are left out. A
brief holds a line if it quotes the line with its place, or its words; its stand-ins count as the names. Nothing of a log is
printed.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from forensics import pipeline
from forensics.core.errors import SourceError
from forensics.model import Report
from forensics.report import Style, render, with_stand_ins

QUOTED = re.compile(r"(?m)^(?:> |.*; )?([^\n]*?):(\d+): ")


class Decisive(NamedTuple):
    """The lines of one case: numbers in its only file, and words."""

    numbers: frozenset[int]
    words: tuple[str, ...]


def decisive(row: dict[str, Any], case: Path) -> Decisive:
    """The decisive lines of a row; words that stand on a line of a file count by its number, too."""
    given = row.get("decisive", row.get("evidence", []))
    numbers = {g for g in given if isinstance(g, int)}
    words = [_flat(g["text"] if isinstance(g, dict) else g) for g in given if not isinstance(g, int)]
    files = [p for p in case.rglob("*") if p.is_file()]
    if len(files) == 1 and files[0].suffix != ".ipynb":
        rows = files[0].read_text(encoding="utf-8", errors="replace").split("\n")
        words += [_flat(rows[n - 1]) for n in numbers if n <= len(rows)]
        numbers |= {n for n, line in enumerate(rows, 1) if any(w and w in _flat(line) for w in words)} if words else set()
    return Decisive(frozenset(numbers), tuple(w for w in words if w))


def _flat(text: str) -> str:
    return " ".join(text.split())


def holds(brief: str, wanted: Decisive) -> bool:
    """Does the brief quote one of them?"""
    places = {int(found[2]) for found in QUOTED.finditer(brief)}
    flat = _flat(brief)
    return bool(places & wanted.numbers) or any(w in flat for w in wanted.words)


def with_names(brief: str, key: dict[str, str]) -> str:
    """The brief with the names for which its stand-ins stand."""
    for stand_in in sorted(key, key=len, reverse=True):
        brief = re.sub(rf"\b{re.escape(stand_in)}\b", lambda _, name=key[stand_in]: name, brief)  # type: ignore[misc]
    return brief


def reports(corpus: Path, first: int) -> Iterator[tuple[dict[str, Any], Report, dict[str, str]]]:
    """Row, report without names and key of the stand-ins of each case that failed and has decisive lines."""
    known, made = pipeline.database(), 0
    for row in map(json.loads, (corpus / "labels.jsonl").read_text(encoding="utf-8").splitlines()):
        healthy = row.get("outcome", "failed") != "failed" or row.get("primary", "").startswith("none.")
        case = corpus / row["id"]
        if healthy or not case.is_dir() or not row.get("decisive", row.get("evidence")) or made >= first:
            continue
        made += 1
        try:
            yield row, *with_stand_ins(pipeline.analyze_paths([case], row["id"], known))
        except SourceError:
            print(f"{row['id']}: not read")


def measure(corpus: Path, sizes: list[int], first: int, folder: Path | None) -> None:
    """Print the shares of one corpus; write the briefs if a folder is given."""
    held, missed, total = dict.fromkeys(sizes, 0), {size: list[str]() for size in sizes}, 0
    for row, report, key in reports(corpus, first):
        total += 1
        wanted = decisive(row, corpus / row["id"])
        for size in sizes:
            brief = render(report, "brief", Style(tokens=size))
            if folder:
                (folder / f"{row['id']}-{size}.md").write_text(brief, encoding="utf-8")
            if holds(with_names(brief, key), wanted):
                held[size] += 1
            else:
                missed[size].append(row["id"])
    for size in sizes:
        share = held[size] / max(total, 1)
        print(f"{corpus.name}\t{size} tokens\t{held[size]} of {total}\t{share:.3f}\tmissed: {' '.join(missed[size]) or 'none'}")


def main() -> None:
    """Measure each corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--tokens", nargs="+", type=int, default=[600, 2000, 8000])
    parser.add_argument("--first", type=int, default=10**6, help="cases of each corpus")
    parser.add_argument("--write", type=Path, help="write the briefs into this folder")
    asked = parser.parse_args()
    if asked.write:
        asked.write.mkdir(parents=True, exist_ok=True)
    for corpus in asked.corpora:
        measure(corpus, asked.tokens, asked.first, asked.write)


if __name__ == "__main__":
    main()

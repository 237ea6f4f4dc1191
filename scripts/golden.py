"""The answers of a version on folders of cases, a line a case, so that a change of code shows which answers it moves.

    python -m scripts.golden sample_logs CORPUS... > before.txt        # with one version
    python -m scripts.golden sample_logs CORPUS... --against before.txt   # with another: what moved, counted by field

A line holds, divided by tabs: folder/case, verdict, cause, probability, the marked line, where, when, the first remedy. Each
CORPUS is a folder with a sub-folder a case. The answers are kept outside the repository: they change with what lies in the
folders.
"""

import argparse
import collections
import contextlib
import io
import json
import sys
from pathlib import Path

FIELDS = ("verdict", "cause", "probability", "marked", "where", "when", "remedy")


def answer(report: dict[str, object]) -> tuple[str, ...]:
    """The fields of one report in JSON, each in one line of text."""
    causes = report["causes"]
    assert isinstance(causes, list)
    first = causes[0]
    line = next(iter(first["evidence"]), None)
    marked = f"{line['source']}:{line['line']}" if line else ""
    remedy = next((r["action"] for r in first["remediations"]), "")
    told = (
        report["verdict"],
        first["id"],
        f"{first['probability']:.2f}",
        marked,
        first.get("where", ""),
        first.get("when", ""),
        remedy,
    )
    return tuple(" ".join(str(t).split()) for t in told)


def answers(folder: Path) -> dict[str, tuple[str, ...]]:
    """What `forensics batch` answers for each case below a folder; the name of a case begins with the folder's."""
    from forensics.cli import main

    out = io.StringIO()
    told = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        sys.argv = ["forensics", "batch", str(folder), "--format", "jsonl"]
        try:
            main()
        except SystemExit as end:
            if end.code not in (None, 0, 1):  # 1: a failure among the cases
                raise RuntimeError(f"{folder}: exit status {end.code}: {told.getvalue()[-2000:]}") from end
    reports = (json.loads(line) for line in out.getvalue().splitlines() if line.strip())
    return {f"{folder.name}/{r['case']}": answer(r) for r in reports}


def moved(before: dict[str, tuple[str, ...]], now: dict[str, tuple[str, ...]]) -> list[str]:
    """A line for each field of each case that differs, and a count of each field at the end."""
    rows, counts = [], collections.Counter[str]()
    for case in sorted(before.keys() | now.keys()):
        old, new = before.get(case, ("no case",) * len(FIELDS)), now.get(case, ("no case",) * len(FIELDS))
        for field, a, b in zip(FIELDS, old, new, strict=True):
            if a != b:
                rows.append(f"{case}\t{field}\t{a}\t{b}")
                counts[field] += 1
    return [*rows, f"{len(now)} cases; moved: " + (", ".join(f"{f} {counts[f]}" for f in FIELDS if counts[f]) or "nothing")]


def main() -> None:
    """Print the answers, or what moved since answers that were kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--against", type=Path, help="answers of another version: print what moved")
    asked = parser.parse_args()
    now = {case: told for folder in asked.folders for case, told in answers(folder).items()}
    if asked.against is None:
        print("\n".join("\t".join((case, *now[case])) for case in sorted(now)))
        return
    kept = (line.split("\t") for line in asked.against.read_text().splitlines())
    print("\n".join(moved({case: tuple(told) for case, *told in kept}, now)))


if __name__ == "__main__":
    main()

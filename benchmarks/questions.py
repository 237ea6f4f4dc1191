"""How many questions in users' own words `forensics explain` answers with the right page: python benchmarks/questions.py [--misses]

questions.csv: titles of public issues and posts (repository and number or address; as they stood), and the causes, or the code, that
the first page shown must be one of. All were chosen and labelled before they were asked, and none of them is learned from: those that
are stand in signatures/tables/questions.csv.
"""

import csv
import sys
from pathlib import Path

from forensics import pipeline
from forensics.explain import Explanation, explain

NOTHING = "nothing"  # in questions.csv: the title names no cause


def pages(found: Explanation) -> list[set[str]]:
    """What is shown, in order, codes, then causes: each page by its names. The page of a code tells of the code's causes."""
    codes = [{f"{c.kind.split()[0].lower()}{c.number}", *c.causes} for c in found.codes]
    return codes + [{t.cause.id} for t in found.causes]


def is_right(found: Explanation, right: set[str]) -> tuple[bool, bool]:
    """Is the first page shown a right one? Is any?"""
    shown = pages(found)
    if right == {NOTHING}:
        return (not shown or found.names_nothing,) * 2
    return bool(shown and shown[0] & right), any(page & right for page in shown)


def main() -> None:
    """Print the share that is right, for each list; titles that name no cause by themselves."""
    known = pipeline.database()
    with (Path(__file__).parent / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in dict.fromkeys((r["list"], r["right"] == NOTHING) for r in rows):
        asked = [r for r in rows if (r["list"], r["right"] == NOTHING) == name]
        first = listed = 0
        for row in asked:
            found = explain(row["title"], known)
            right, shown = is_right(found, set(row["right"].split()))
            first, listed = first + right, listed + shown
            if not right and "--misses" in sys.argv:
                print(f"  {row['title'][:90]!r}: {[sorted(p) for p in pages(found)[:4]]}, right: {row['right']}")
        kind = " that name no cause" if name[1] else ""
        print(
            f"{name[0]}: {len(asked)} questions{kind}, {first / len(asked):.3f} right first, {listed / len(asked):.3f} among shown"
        )


if __name__ == "__main__":
    main()

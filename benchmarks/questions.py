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

FIRST, ANY = "first", "any"


def pages(found: Explanation) -> list[str]:
    """What is shown, in order: codes, then causes."""
    return [f"{c.kind.split()[0].lower()}{c.number}" for c in found.codes] + [t.cause.id for t in found.causes]


def main() -> None:
    """Print the share that is right, for each list."""
    known = pipeline.database()
    with (Path(__file__).parent / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in dict.fromkeys(r["list"] for r in rows):
        asked = [r for r in rows if r["list"] == name]
        first = listed = 0
        for row in asked:
            shown, right = pages(explain(row["title"], known)), set(row["right"].split())
            first += bool(shown) and shown[0] in right
            listed += bool(right & set(shown))
            if (not shown or shown[0] not in right) and "--misses" in sys.argv:
                print(f"  {row['title'][:90]!r}: {shown[:4]}, right: {row['right']}")
        print(
            f"{name}: {len(asked)} questions, {first / len(asked):.3f} right first, {listed / len(asked):.3f} among those shown"
        )


if __name__ == "__main__":
    main()

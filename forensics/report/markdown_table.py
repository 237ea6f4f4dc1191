"""Rows of a Markdown table without the columns that say nothing.

("number", "time", "what"), [("2", "", "A memory limit was hit")]   ->   | number | what | ... | 2 | A memory limit was hit |
"""

from collections.abc import Iterator, Sequence


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> Iterator[str]:
    """The lines of GitHub's Markdown for `rows`; a column whose cells are all empty is left out.

    `head`: the names of the columns. `right`: the names of those that are aligned to the right.
    """
    kept = [i for i in range(len(head)) if any(row[i] for row in rows)]
    yield _line([head[i] for i in kept])
    yield "|" + "|".join("--:" if head[i] in right else "---" for i in kept) + "|"
    for row in rows:
        yield _line([row[i] for i in kept])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"

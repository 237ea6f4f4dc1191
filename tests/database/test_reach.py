"""Alternatives of a pattern that no anchor calls for. All patterns here are made."""

import pytest

from forensics.database.entries import Signature
from forensics.database.reach import out_of_reach, ways


@pytest.mark.parametrize(
    ("anchors", "pattern", "lost"),
    [
        (["lost its lease"], "lost its lease|was fenced by (?P<node>\\S+)", ["was fenced by …"]),
        (["lost its lease", "fenced by"], "lost its lease|was fenced by (?P<node>\\S+)", []),
        (["Lease lost"], "(?i)LEASE (?:was )?lost", ["lease was lost"]),
        (["lease"], "[Ll]ease (?P<a>x|y) (?P<a>z)?", []),
        (["not divisible by"], "is not\\s{0,2} ?divisible by", []),
        (["one", "two"], "(?:one|two|three) of \\d+", ["three of …"]),
        (["x"], "\\p{L}+ is only for regex", []),
    ],
)
def test_what_no_anchor_calls_for_is_noted(anchors: list[str], pattern: str, lost: list[str]) -> None:
    noted = list(out_of_reach(made(anchors, pattern)))
    assert len(noted) == bool(lost)
    assert all(repr(way) in noted[0] for way in lost)


def made(anchors: list[str], pattern: str) -> Signature:
    return Signature(cause="a.b", name="c", weight="hint", anchors=tuple(anchors), pattern=pattern)


def test_a_pattern_with_very_many_alternatives_is_read_in_part() -> None:
    assert 0 < len(list(ways("(?:a1|b2|c3|d4)" * 12))) <= 3000

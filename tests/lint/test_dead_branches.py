"""Parts of patterns that can be left out are told, and only those."""

import pytest

from scripts.lint.unreachable import dead_branches


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("lost its lease|node lost its lease", "it contains 'lost its lease'"),
        ("(?:full|disk full|quota)", "it contains 'full'"),
        ("full|quota|full", "is never needed"),
        (r"lease (?P<why>ended|ended early)", "is never tried"),
        (r"lease (?:is (?:late|lateness))", "is never tried"),
        (r"lost (?:^its)? lease", "^ comes after other characters"),
        (r"a lease$ ended|quota", "$ comes before other characters"),
        (r"lea\bse", r"\b is between 'a' and 's'"),
        (r"lease: \b\(", r"\b is between ' ' and '('"),
    ],
)
def test_what_can_never_match_or_is_never_needed_is_told(pattern: str, told: str) -> None:
    (found,) = dead_branches(pattern)
    assert told in found


@pytest.mark.parametrize(
    "pattern",
    [
        r"lease (?:end|ended) early",  # the second is tried where the first fails
        r"lease (?:end|ended)\b",
        r"(?:^|\] )lease ended",
        r"lease ended(?:$|,)",
        r"node (?P<node>\w+) lost its lease|lost its lease",  # the first gives a field
        r"(?i)lost|LOST its",  # not looked at: letters of either case
        r"lease\b \bended",
        r"",
    ],
)
def test_what_can_match_is_left_alone(pattern: str) -> None:
    assert list(dead_branches(pattern)) == []

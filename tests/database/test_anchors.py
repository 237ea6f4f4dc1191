"""Anchors follow from patterns: one of them stands in every line that the pattern matches. All patterns here are made."""

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.core.text import ascii_lower
from forensics.database import Database
from forensics.database.anchors import NoAnchorError, anchors_of, text_frequency


@pytest.mark.parametrize(
    ("pattern", "anchors"),
    [
        ("lost its lease", ("lost its lease",)),
        (r"(?:red|blue) flurble of (?P<user>\w+) gone", ("flurble of ",)),
        (r"lost its lease|was fenced by (?P<node>\S+)", ("lost its lease", "was fenced by ")),
        (r"[Ll]ease(?: is)? lost", ("lease is lost", "lease lost")),
        (r"(?i)Flurble (\d+) is GONE", (" is gone",)),
        (r"zorb\s+(?=.*quux lost)", ("quux lost",)),
        (r"Убито|已杀死", ("Убито", "已杀死")),
    ],
)
def test_the_texts_that_every_match_holds(pattern: str, anchors: tuple[str, ...]) -> None:
    found = anchors_of(pattern)
    assert all(any(a in f or f in a for f in found) for a in anchors)
    assert len(found) <= len(anchors)


@pytest.mark.parametrize("pattern", [r"\d+", r"(?:lost)?", r"a|lost its lease", r"[a-z]{5}", "nan"])
def test_a_pattern_without_such_a_text_is_told(pattern: str) -> None:
    with pytest.raises(NoAnchorError):
        anchors_of(pattern)


def test_of_two_texts_the_one_that_logs_hold_less_is_taken() -> None:
    assert text_frequency("error: ") > text_frequency("flurble quota")
    assert anchors_of(r"error: .{0,40}flurble quota") == ("flurble quota",)


TEXTS = st.sampled_from(["lost lease", "Gone away", "zorb", "x", " "])
PATTERNS = st.recursive(
    TEXTS | st.sampled_from([r"\d+", r".{0,9}", r"\s", "[ab]", r"\b"]),
    lambda p: (
        st.lists(p, min_size=1, max_size=3).map(lambda ps: "(?:" + "|".join(ps) + ")")
        | st.lists(p, min_size=1, max_size=4).map("".join)
        | p.map(lambda x: f"(?:{x})?")
    ),
    max_leaves=8,
)


@pytest.mark.seconds
@given(PATTERNS, st.lists(TEXTS | st.sampled_from(["7", "a", "b", "\t"]), max_size=8).map("".join))
@settings(max_examples=300, deadline=None)
def test_no_match_is_without_an_anchor(pattern: str, line: str) -> None:
    try:
        anchors = anchors_of(pattern)
    except NoAnchorError:
        return
    if regex.search(pattern, line):
        assert any(a in ascii_lower(line) for a in anchors)


def test_every_example_is_called_for(knowledge: Database) -> None:
    """The scanner's way to a signature, over all examples: what the patterns match, the anchors find."""
    lacking = [c.signature.id for c in knowledge.confirmers if not c.anchors]
    assert lacking == []

"""Patterns that could cost seconds are told, by their form and by the time they take; ordinary ones are not."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.database.entries import Example, Signature
from forensics.database.validate import nests_repeats, slow_pattern_faults


def signature(pattern: str, text: str = "the thing broke at 12, 13, 14 and stopped") -> Signature:
    return Signature("family.thing", "one", "proof", ("the thing",), pattern, match=(Example(text),))


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+", r"(?:\w+\s*)*x", r"(?P<x>[^,]*)*", r"(?:x|(?:y|.*)+)*z", r"(a{2,}){3,}", r"((ab)*)*", r"(?:a+?)+", r"(a|b+)*"],
)
def test_a_repeat_that_ends_a_repeat_is_told(pattern: str) -> None:
    assert nests_repeats(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:\d+, )+",
        r"(a+)?b",
        r"[(a+)]+",
        r"\(a+\)+",
        r"(?:a{1,3}){1,4}",
        r"(?:ab*c)+",
        r"(\w++)+",
        r"(?:a+)++",
        r"a+b+c+",
        r"[]+(]*(x)+",
        r"(?P<n>\d+)\.(?P<m>\d+)",
    ],
)
def test_a_repeat_with_an_end_is_not(pattern: str) -> None:
    assert not nests_repeats(pattern)


@given(st.text(alphabet="ab(|)[]+*?{},12\\^.", max_size=24))
def test_any_text_is_judged_as_a_pattern(pattern: str) -> None:
    assert nests_repeats(pattern) in (True, False)


@given(
    st.recursive(
        st.sampled_from(["a", r"\w", "[ab]", "."]),
        lambda p: st.builds("(?:{}{}b)".format, p, st.sampled_from(["+", "*", ""])),
        max_leaves=4,
    )
)
def test_a_group_that_ends_in_a_letter_may_be_repeated(pattern: str) -> None:
    re.compile(pattern + "+")
    assert nests_repeats(f"(?:{pattern}b)+") is False


@pytest.mark.seconds
@pytest.mark.parametrize("pattern", [r"the.*thing.*broke.*gone", r"(?:the|thing)? ?\w+ .*stopped now!", r"^(\s|[a-z ]+)*$"])
def test_a_pattern_that_takes_long_on_a_long_line_is_told(pattern: str) -> None:
    (told,) = slow_pattern_faults(signature(pattern))
    assert " ms on a line of 16 KiB" in told


def test_an_ordinary_pattern_takes_no_time() -> None:
    start = time.process_time()
    assert list(slow_pattern_faults(signature(r"the thing broke at (?P<a>\d+), (?P<b>[^,]{1,80}), .{0,200}stopped"))) == []
    assert time.process_time() - start < 2

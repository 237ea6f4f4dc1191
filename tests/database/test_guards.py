"""A gap does not reach over the place where its pattern begins again, and what was found is still found."""

import time

import pytest
import regex

from forensics.database.causefiles import guarded


@pytest.mark.parametrize(
    ("pattern", "made"),
    [
        (r"NVRM: .{0,120}?(?:failed|lost)", r"NVRM: (?:(?!NVRM: ).){0,120}?(?:failed|lost)"),
        (r"(?i)abc: (?P<why>.{0,90}?) end", r"(?i)abc: (?P<why>(?:(?!abc: ).){0,90}?) end"),
        (r"\babc: (?P<n>\d{1,3}) [^\n]{0,80}x", r"\babc: (?P<n>\d{1,3}) (?:(?!\babc: (?:\d{1,3}) )[^\n]){0,80}x"),
        (r"abcd|efgh .{0,90}x", r"abcd|efgh (?:(?!efgh ).){0,90}x"),
        (r"abc: .{0,2000}", r"abc: .{0,2000}"),  # nothing follows
        (r"abc: .{0,9}x", r"abc: .{0,9}x"),  # short
        (r"\d .{0,90}x", r"\d .{0,90}x"),  # begins with no text
        (r"abc(?! .{0,90}x)", r"abc(?! .{0,90}x)"),  # what must not follow
        (r"(abc) .{0,90}\1", r"(abc) .{0,90}\1"),
        (r"abc[", r"abc["),
    ],
)
def test_a_gap_gets_its_guard(pattern: str, made: str) -> None:
    assert guarded(pattern) == made


def test_the_last_beginning_before_the_end_is_found() -> None:
    found = regex.search(guarded(r"abc: (?P<why>.{0,90}?) end"), "abc: first abc: second end")
    assert found and found["why"] == "second"


def test_a_line_of_many_beginnings_takes_little() -> None:
    words = "|".join(f"word{i}" for i in range(30))
    pattern, line = rf"NVRM: .{{0,160}}?(?:{words}|\w{{5}}x)", "NVRM: " * 1300
    took = []
    for made in (pattern, guarded(pattern)):
        begun = time.thread_time()
        assert not regex.search(made, line)
        took.append(time.thread_time() - begun)
    assert took[1] < took[0] / 3

"""What is remembered by the shape of a line."""

import pytest
import regex

from forensics.core.shapes import (
    MAX_SHAPE_CHARS,
    ZEROS,
    ShapeTest,
    asks_digits,
    by_shape,
    divided,
    indented,
    of_shapes,
    shapes_of,
    zeroed,
)
from forensics.database import builtin_folder
from forensics.database.phrases import read_phrases


def test_lines_that_differ_in_digits_are_searched_once() -> None:
    searched: list[str] = []

    @by_shape
    def equals(text: str) -> int:
        searched.append(text)
        return text.find("=")

    assert [equals(t) for t in ("step 4012 loss=2.31", "step 4013 loss=2.29", "step 9 loss=2.29", "é step=1")] == [14, 14, 11, 6]
    assert searched == ["step 0000 loss=0.00", "step 0 loss=0.00", "é step=0"]


def test_a_long_line_is_not_remembered() -> None:
    searched: list[str] = []
    keep = by_shape(searched.append)
    for _ in range(2):
        keep("x" * (MAX_SHAPE_CHARS + 1))
    assert len(searched) == 2


def test_which_patterns_ask_for_digits() -> None:
    assert [asks_digits(p) for p in (r"\d{1,3} of (?P<h2>[a-f0-9]+)", r"[1-9] failed", r"exit 0", r"\bx{2,}y")] == [
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"[1-9] failed(?!: 0)", r"[01-9] failed"),
        (r"exit 17{2}(?P<h2>\.\d)", r"exit 00{2}(?P<h2>\.\d)"),
        (r"\[\x1b7(?!a(?!5)b)(?!c)c", r"\[\x1b0(?!c)c"),
        (r"(?<![7(]) (?:done|[a-f2])", r" (?:done|[0a-f2])"),
        (r"[^1-3] left", ""),
        (r"(?>[1-9]|0)1", ""),
        (r"(\d) of \1", ""),
    ],
)
def test_what_stands_in_the_shapes_of_lines_in_which_a_pattern_finds_something(pattern: str, found: str) -> None:
    assert of_shapes(pattern) == found


def test_a_shape_is_found_where_a_phrase_is_found_in_a_line() -> None:
    phrases = [p for found in read_phrases(builtin_folder())[0].values() for p in found]
    missed = [
        (p.name, text) for p in phrases for text in p.match if not regex.search(of_shapes(p.pattern), text.translate(ZEROS))
    ]
    assert missed == []
    assert sum(asks_digits(p.pattern) and bool(of_shapes(p.pattern)) for p in phrases) > 10


@pytest.mark.parametrize("texts", [[], [""], ["step 12", "loss 3"], ["step 12\nloss 3", "7"]])
def test_shapes_of_texts_are_those_of_each(texts: list[str]) -> None:
    assert shapes_of(texts) == [zeroed(text) for text in texts]


def test_what_was_divided_last_is_not_divided_again() -> None:
    data = b"step 12\nstep 13\n"
    rows, shapes, distinct = divided(data)
    assert (rows, shapes) == ([b"step 12", b"step 13", b""], [b"step 00", b"step 00", b""])
    assert [*distinct] == [b"step 00", b""]
    assert divided(data).rows is rows
    assert divided(bytes(bytearray(data))).rows is not rows


def test_the_shapes_for_which_a_test_holds() -> None:
    asked: list[bytes] = []
    test = ShapeTest(lambda shape: bool(asked.append(shape)) or b"loss" in shape)
    first, second = dict.fromkeys([b"loss 0", b"step 0"]), dict.fromkeys([b"step 0", b"x" * (MAX_SHAPE_CHARS + 1) + b"loss"])
    assert test.among(first) == {b"loss 0"} and test.among(first) == {b"loss 0"}
    assert test.among(second) == {*second} - {b"step 0"} and test.among({}) == set()
    assert sorted(asked[:2]) == [*first] and len(asked) == 3


@pytest.mark.parametrize("known", [False, True])
def test_lines_that_begin_with_a_blank_are_counted(known: bool) -> None:
    for data, count in ((b" a\n\tb\nc\n  d", 3), (b"a b\nc\t\n", 0), (b"a\n 7\n 8\n", 2)):
        divided(data if known else b"another")
        assert indented(data) == count

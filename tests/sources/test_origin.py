"""Decoded lines find back to their original, whatever mixture of records they came from, in little memory."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from forensics.sources.lines import numbered_lines
from forensics.sources.origin import LineOrigin, line_blocks

PIECES = st.lists(st.tuples(st.integers(1, 10_000), st.sampled_from([-1, 0, 1, 2]), st.integers(1, 5)), max_size=60)


@given(PIECES)
def test_every_line_finds_its_original(pieces: list[tuple[int, int, int]]) -> None:
    origin = LineOrigin()
    texts = [(number, step, b"\n".join([b"x"] * count)) for number, step, count in pieces]
    text = b"".join(line_blocks(texts, origin))
    wanted = [number + step * i for number, step, count in pieces for i in range(count)]
    assert text.count(b"\n") == len(wanted)
    assert [origin(i) for i in range(1, len(wanted) + 1)] == wanted


def test_regular_texts_take_one_run() -> None:
    origin = LineOrigin()
    for step in (1, 2, 14):
        list(line_blocks(((1 + step * i, 0, b"record") for i in range(10_000)), origin))
        assert len(origin.starts) == 1
        assert origin(10_000) == 1 + step * 9_999
    list(line_blocks(((10_000 - i, 1, b"newest first") for i in range(10_000)), origin))
    assert len(origin.starts) == 1
    assert origin(10_000) == 1


def test_a_line_number_before_anything_was_read_is_itself() -> None:
    assert LineOrigin()(7) == 7


@given(st.text("ab\n\r", max_size=200), st.lists(st.integers(0, 200), max_size=6))
def test_lines_do_not_depend_on_where_blocks_end(text: str, cuts: list[int]) -> None:
    data = text.encode()
    places = [0, *sorted(min(c, len(data)) for c in cuts), len(data)]
    blocks = [data[a:b] for a, b in itertools.pairwise(places) if a < b]
    whole = data.removesuffix(b"\n").split(b"\n") if data else []
    assert list(numbered_lines(iter(blocks))) == [(i, x.removesuffix(b"\r")) for i, x in enumerate(whole, 1)]

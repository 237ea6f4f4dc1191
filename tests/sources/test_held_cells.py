"""The lines of a notebook's cell are held as few pieces until its place is known, and come out as they went in."""

from hypothesis import given
from hypothesis import strategies as st

from forensics.sources.formats import notebook
from forensics.sources.formats.notebook import HELD_AS_IT_IS_BYTES, _Held
from forensics.sources.origin import LineOrigin, Piece, line_blocks

PIECES = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([b"a", b"", b"two\nlines", b"\n"])), max_size=30)


def told(pieces: list[Piece]) -> tuple[bytes, list[int]]:
    origin = LineOrigin()
    text = b"".join(line_blocks(pieces, origin))
    return text, [origin(line) for line in range(1, text.count(b"\n") + 1)]


@given(PIECES)
def test_they_come_out_as_they_went_in(steps: list[tuple[int, bytes]]) -> None:
    given_pieces: list[Piece] = []
    number = 1
    for step, text in steps:
        number += step
        given_pieces.append((number, 0, text))
    held = _Held()
    for piece in given_pieces:
        held.add([piece])
    assert bool(held) is bool(given_pieces)
    assert told([*held.pieces()]) == told(given_pieces)
    assert not held


def test_a_long_cell_takes_a_fraction_of_its_text() -> None:
    held = _Held()
    held.add((n, 0, b"step %d loss 0.5" % n) for n in range(HELD_AS_IT_IS_BYTES // 4))
    assert sum(len(piece[2]) for piece in held.done) < held.size / 2
    assert len(held.done) < held.size / notebook.HELD_AT_ONCE_BYTES + 2

"""What the matcher reports of parts of anchors becomes the places of whole anchors, no more and no fewer."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.database import Database
from forensics.database.compiled import (
    EACH_BYTE,
    LITERAL_PIECE_BYTES,
    Literals,
    compile_anchors,
    literal_lengths,
    twins_of,
    whole_anchors,
)
from forensics.scan import Matcher
from forensics.scan.matcher import MIN_DENSE_PLACES

ANCHORS = ("out of memory", "memory error in", "killed", "é wurde beendet: signal", "out of membership", "out of mexico")
CUTS = (8, 13, 6, 12, 8, 8)


def places(data: bytes, anchors: tuple[str, ...] = ANCHORS, cut: tuple[int, ...] = CUTS) -> list[tuple[int, int]]:
    reported: list[tuple[int, int]] = []

    def seen(i: int, _start: int, to: int, *_: Any) -> None:
        reported.append((to, i))

    compile_anchors(anchors, cut).scan(data, match_event_handler=seen)
    return sorted(whole_anchors(data, reported, Literals(anchors, cut, twins_of(anchors, cut))))


def looked_for(data: bytes, anchors: tuple[str, ...] = ANCHORS) -> list[tuple[int, int]]:
    """The same by comparing at each byte."""
    low = data.lower()
    texts = [a.encode() for a in anchors]
    return sorted((at + len(t), i) for i, t in enumerate(texts) for at in range(len(low)) if low.startswith(t, at))


@given(
    st.lists(st.sampled_from([*ANCHORS, *(a[:9] for a in ANCHORS), "OUT OF MEM", "É", " ", "\n", "\x01\x02", "ory"]), max_size=9)
)
def test_whole_anchors_are_found_where_they_stand(parts: list[str]) -> None:
    data = "".join(parts).encode()
    assert places(data) == looked_for(data)


@pytest.mark.parametrize("text", ["out of mem", "Out of memorx", "memory error", "\x01\x02"])
def test_a_part_of_an_anchor_alone_is_no_place(text: str) -> None:
    assert places(text.encode()) == []


def test_an_anchor_is_looked_for_up_to_a_rare_piece(knowledge: Database) -> None:
    sizes = [len(a.encode()) for a in knowledge.anchors]
    assert all(min(LITERAL_PIECE_BYTES, size) <= cut <= size for cut, size in zip(knowledge.cuts, sizes, strict=True))
    assert literal_lengths(("a word that no piece is of: zqxjkvbw",)) == (36,)


def test_the_pieces_are_those_of_the_anchors_of_today(knowledge: Database) -> None:
    """An anchor without a piece is found all the same, only slower; many of them mean that `scripts.pieces` should run again."""
    long = [i for i, a in enumerate(knowledge.anchors) if len(a.encode()) > LITERAL_PIECE_BYTES]
    without = [i for i in long if knowledge.cuts[i] == len(knowledge.anchors[i].encode())]
    assert len(without) < 0.15 * len(long)


def test_a_flood_of_parts_is_not_a_flood_of_anchors(knowledge: Database) -> None:
    i = max(range(len(knowledge.anchors)), key=lambda a: len(knowledge.anchors[a].encode()) - knowledge.cuts[a])
    anchor = knowledge.anchors[i].encode()
    part = anchor[: knowledge.cuts[i]]
    found = Matcher(knowledge).find((part + b"\n" + EACH_BYTE) * (MIN_DENSE_PLACES + 1) + b" " + anchor + b"\n", 0)
    assert found.counts.get(i) == 1
    assert [at for at in found.places if at[1] == i] == [((len(part) + 3) * (MIN_DENSE_PLACES + 1) + 1 + len(anchor), i)]


def test_anchors_that_begin_alike_are_reported_once() -> None:
    reported: list[int] = []
    compile_anchors(ANCHORS, CUTS).scan(b"out of mem", match_event_handler=lambda i, *_: reported.append(i))
    assert reported == [0] and twins_of(ANCHORS, CUTS) == {0: [4, 5]}

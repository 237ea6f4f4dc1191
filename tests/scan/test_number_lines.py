"""The lines with numbers that a scan keeps."""

import random

import pytest

from forensics.model import Trigger
from forensics.scan import number_lines
from forensics.scan.chunks import Chunk
from forensics.scan.number_lines import NumberLines

LOSS, MEMORY = Trigger("loss", ("loss",), thin=True), Trigger("memory", ("mem",), thin=True)
TABLE = Trigger("table", ("pid",), after=1, thin=True)
THIN = [(0, "loss"), (1, "mem"), (2, "pid")]


def _places(data: bytes) -> list[tuple[int, int]]:
    found = []
    for i, (_, anchor) in enumerate(THIN):
        at = data.find(anchor.encode())
        while at >= 0:
            found.append((at + len(anchor), -1 - i))
            at = data.find(anchor.encode(), at + 1)
    return sorted(found)


def _kept(data: bytes) -> dict[str, list[tuple[int, str, int]]]:
    lines = NumberLines("a.log", (LOSS, MEMORY, TABLE), THIN)
    lines.feed(Chunk(data), _places(data), 1)
    return {kind: [(r.number, r.text, r.end) for r in regions] for kind, regions in lines.regions()}


def test_a_line_of_two_kinds_is_kept_once_for_both() -> None:
    lines = NumberLines("a.log", (LOSS, MEMORY, TABLE), THIN)
    data = b"hello\nstep 1 loss 2.0 mem 3\nstep 2 loss 1.9\n"
    lines.feed(Chunk(data), _places(data), 1)
    kept = dict(lines.regions())
    assert [(r.number, r.text) for r in kept["loss"]] == [(2, "step 1 loss 2.0 mem 3"), (3, "step 2 loss 1.9")]
    assert kept["memory"][0] is kept["loss"][0]


def test_each_frame_of_a_bar_is_a_line_of_numbers() -> None:
    assert _kept(b"10% loss 3 mem 1\r20% loss 2\n30% loss 1\n") == {
        "loss": [(1, "10% loss 3 mem 1", 16), (1, "20% loss 2", 27), (2, "30% loss 1", 10)],
        "memory": [(1, "10% loss 3 mem 1", 16)],
    }


def test_a_table_has_its_rows() -> None:
    data = b"pid rss\n7 100\n8 200\n"
    lines = NumberLines("a.log", (LOSS, MEMORY, TABLE), THIN)
    lines.feed(Chunk(data), _places(data), 1)
    assert [line.text for line in dict(lines.regions())["table"][0].lines_after()] == ["7 100"]


def test_dense_and_sparse_chunks_keep_the_same_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    words = ["loss 1", "mem 2", "pid", "step 3", "\xe9t\xe9", ""]
    data = "".join(" ".join(rng.choices(words, k=rng.randrange(5))) + "\n" for _ in range(500)).encode() + b"loss 7"
    dense = _kept(data)
    monkeypatch.setattr(number_lines, "MIN_DENSE_BYTES", 0)
    assert dense == _kept(data)
    assert len(dense["loss"]) > 100

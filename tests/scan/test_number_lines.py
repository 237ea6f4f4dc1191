"""The lines with numbers that a scan keeps."""

import itertools
import random

import pytest

from forensics.model import Trigger
from forensics.scan import number_lines
from forensics.scan.chunks import Chunk
from forensics.scan.frames_of_shapes import FramesOfShapes
from forensics.scan.matcher import MAX_SERIES_PLACES
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


def _kept(data: bytes, by_shape: bool = False) -> dict[str, list[tuple[int, str, int]]]:
    lines = NumberLines("a.log", (LOSS, MEMORY, TABLE), FramesOfShapes(THIN, _places))
    lines.feed(Chunk(data), None if by_shape else _places(data), 1, data.count(b"\n"))
    return {kind: [(r.number, r.text, r.end) for r in regions] for kind, regions in lines.regions()}


def test_a_line_of_two_kinds_is_kept_once_for_both() -> None:
    lines = NumberLines("a.log", (LOSS, MEMORY, TABLE), FramesOfShapes(THIN, _places))
    data = b"hello\n" * 20 + b"step 1 loss 2.0 mem 3\nstep 2 loss 1.9\n"
    lines.feed(Chunk(data), None, 1, data.count(b"\n"))
    kept = dict(lines.regions())
    assert [(r.number, r.text) for r in kept["loss"]] == [(21, "step 1 loss 2.0 mem 3"), (22, "step 2 loss 1.9")]
    assert kept["memory"][0].text is kept["loss"][0].text, "it is decoded once"


def test_each_frame_of_a_bar_is_a_line_of_numbers() -> None:
    assert _kept(b"10% loss 3 mem 1\r20% loss 2\n30% loss 1\n") == {
        "loss": [(1, "10% loss 3 mem 1", 16), (1, "20% loss 2", 27), (2, "30% loss 1", 10)],
        "memory": [(1, "10% loss 3 mem 1", 16)],
    }


def test_a_table_has_its_rows() -> None:
    data = b"pid rss\n7 100\n8 200\n"
    lines = NumberLines("a.log", (LOSS, MEMORY, TABLE), FramesOfShapes(THIN, _places))
    lines.feed(Chunk(data), _places(data), 1, data.count(b"\n"))
    assert [line.text for line in dict(lines.regions())["table"][0].lines_after()] == ["7 100"]


@pytest.mark.parametrize("words", [5, 2], ids=["hardly two lines alike", "few shapes"])
@pytest.mark.parametrize("is_short", [True, False], ids=["a short chunk", "a long chunk"])
def test_lines_that_are_found_by_their_shapes_are_those_found_by_places(
    words: int, is_short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(number_lines, "SHORT_BYTES", 1 << 20 if is_short else 0)
    rng = random.Random(1)
    said = ["loss {}", "mem {}", "" if is_short else "pid", "step {}", "\xe9t\xe9", "\rloss {}" if is_short else "", ""]
    made = (" ".join(rng.choices(said, k=rng.randrange(words))).replace("{}", str(rng.randrange(10))) for _ in range(500))
    data = "".join(f"{line}\n" for line in made).encode() + b"loss 7"
    assert _kept(data, by_shape=True) == _kept(data)
    assert len(_kept(data)["loss"]) > 40


@pytest.mark.parametrize("line", [b"loss 1\rloss 2\n", b"loss " + b"x" * 200_000 + b"\n"], ids=["frames", "a long line"])
def test_lines_that_have_no_shape_of_their_own_are_found_by_places(line: bytes) -> None:
    data = line + b"step 1 loss 2\nstep 2 loss 1\n" * 50
    assert _kept(data, by_shape=True) == _kept(data)


def test_what_is_known_of_a_shape_is_not_looked_for_again() -> None:
    asked: list[bytes] = []
    frames = FramesOfShapes(THIN, lambda data: asked.append(data) or _places(data))  # type: ignore[func-returns-value]
    for number in range(3):
        lines = NumberLines(f"{number}.log", (LOSS, MEMORY, TABLE), frames)
        lines.feed(Chunk(b"step 1 loss %d mem 7\rloss 5\nend\n" % number), None, 1, 2)
        kept = dict(lines.regions())
        assert [r.text for r in kept["loss"]] == [f"step 1 loss {number} mem 7", "loss 5"]
        assert [r.text for r in kept["memory"]] == [f"step 1 loss {number} mem 7"]
    assert len(asked) == 1


def test_of_many_lines_an_even_sample_is_kept() -> None:
    kept = _kept(b"".join(b"step %d loss 2\n" % i for i in range(20_000)), by_shape=True)["loss"]
    assert MAX_SERIES_PLACES - 10 < len(kept) < MAX_SERIES_PLACES + 10
    assert max(b[0] - a[0] for a, b in itertools.pairwise(kept)) < 20

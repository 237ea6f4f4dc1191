"""The sample of a source: whole lines with the numbers that grep -n gives them, all of a short one, bounded for a long one."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.database import Database
from forensics.model import Scan, Source
from forensics.scan import sample, scan
from forensics.scan.sample import LineSample


def fed(data: bytes, cuts: list[int] | None = None) -> LineSample:
    """A sample that was fed with chunks of whole lines, cut behind the lines `cuts`."""
    gathered = LineSample()
    lines = data.splitlines(keepends=True) if b"\r" not in data else data.split(b"\n")
    at = 0
    for cut in [*sorted(set(cuts or ())), len(lines)]:
        if cut > at:
            gathered.feed(b"".join(lines[at:cut]), at + 1)
            at = cut
    return gathered


def count(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def agrees(found: tuple[tuple[int, bytes], ...], data: bytes) -> None:
    """Do the blocks stand where they say, in order, none twice? Of a line longer than a block its end may stand there."""
    rows = data.split(b"\n")
    behind = 0
    for first, block in found:
        if not block:
            continue
        own = block.removesuffix(b"\n").split(b"\n")
        assert rows[first : first - 1 + len(own)] == own[1:]
        assert rows[first - 1] == own[0] or (len(own[0]) >= sample.WHOLE_TAIL_BYTES - 1 and rows[first - 1].endswith(own[0]))
        assert first > behind
        behind = first + len(own) - 1


def test_a_short_source_is_kept_whole() -> None:
    data = b"".join(b"step %d loss 0.5\n" % i for i in range(1000))
    assert fed(data, [1, 7, 500]).blocks(1000) == ((1, data),)
    assert fed(b"").blocks(0) == ()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A sample of hundreds of bytes, so that short texts are long for it."""
    for name, size in (("WHOLE_HEAD_BYTES", 200), ("SAMPLE_WINDOW_BYTES", 40), ("WHOLE_TAIL_BYTES", 100)):
        monkeypatch.setattr(sample, name, size)
    yield


@pytest.mark.usefixtures("small")
@given(
    st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"").replace(b"\r", b"")), max_size=200),
    st.lists(st.integers(1, 200), max_size=30),
    st.booleans(),
)
def test_blocks_stand_on_their_lines_however_a_source_is_cut(lines: list[bytes], cuts: list[int], ends: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ends and lines else b"")
    found = fed(data, [c for c in cuts if c < count(data)]).blocks(count(data))
    agrees(found, data)
    assert sum(len(block) for _, block in found) <= 200 + 100 + sample.MAX_PIECES * 40 or len(found) == 1


@pytest.mark.usefixtures("small")
def test_a_long_source_keeps_both_ends_and_pieces_between() -> None:
    data = b"".join(b"line %05d\n" % i for i in range(1, 5001))
    found = fed(data, list(range(10, 5000, 10))).blocks(5000)
    agrees(found, data)
    assert found[0][0] == 1
    assert found[-1][1].endswith(b"line 05000\n")
    assert len(found) > 10
    places = [first for first, _ in found[1:-1]]
    assert max(places) - min(places) > 3500, "they are spread over the whole"


@pytest.mark.usefixtures("small")
def test_a_line_longer_than_the_sample_is_no_trouble() -> None:
    for data in (b"x" * 5000 + b"\nend of it\n", b"begin\n" + b"x" * 5000, b"begin\n" * 50 + b"x" * 5000 + b"\n" + b"end\n" * 50):
        agrees(fed(data, [1, 50, 51]).blocks(count(data)), data)


def scanned(data: bytes, knowledge: Database, block: int) -> Scan:
    blocks = [data[i : i + block] for i in range(0, len(data), block)]
    return scan(Source("log", lambda _warn: iter(blocks)), knowledge, lambda _w: None)


@pytest.mark.parametrize("block", [100, 70_001, 1 << 20])
@pytest.mark.parametrize("rows", [5, 60_000])
def test_the_scanners_sample_agrees_with_grep(knowledge: Database, block: int, rows: int) -> None:
    if rows > 1000 and block == 100:
        block = 4096
    data = b"".join(b"2025-08-22 03:00:00 step %d loss 0.5\n" % i for i in range(rows))
    found = scanned(data, knowledge, block)
    assert found.lines == rows
    agrees(found.sample, data)
    assert found.sample[0][0] == 1
    assert found.sample[-1][1].endswith(b"step %d loss 0.5\n" % (rows - 1))


@pytest.mark.parametrize("where", ["front", "middle", "end", "all over"])
def test_zeros_hide_no_line_and_move_no_number(knowledge: Database, where: str) -> None:
    """copytruncate, and a host that went down, leave holes of zeros."""
    error = b"RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)\n"
    steps = [b"step %d loss 0.5\n" % i for i in range(50)]
    hole = b"\0" * 3000
    data = {
        "front": hole + b"".join(steps) + error,
        "middle": b"".join(steps[:25]) + hole + b"".join(steps[25:]) + error,
        "end": b"".join(steps) + error + hole,
        "all over": b"".join(b"\0" * 7 + line for line in steps) + error,
    }[where]
    found = scanned(data, knowledge, 1 << 20)
    (line,) = {hit.line for hit in found.hits if hit.cause == "code.shape"}
    assert b"mat1" in data.split(b"\n")[line - 1]
    agrees(found.sample, data)

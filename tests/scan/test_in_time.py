"""What is read of a source whose time is spent: its beginning and its end, and the numbers of its lines stay right."""

from collections.abc import Iterator

from forensics.core.input_time import InputTime, Share
from forensics.database import Database
from forensics.model import Source, Warn, Warning
from forensics.scan import scan
from forensics.scan.in_time import LeftOut, in_time

LINES_PER_BLOCK = 10
BLOCK = b"step 1 loss 0.5\n" * LINES_PER_BLOCK
KILLED = b"Out of memory: Killed process 7 (python) total-vm:9kB, anon-rss:7kB, file-rss:0kB\n"


class Clock(InputTime):
    """Shows the next of `parts` at each look, and then always the last."""

    def __init__(self, *parts: float) -> None:
        super().__init__()
        self.parts = list(parts)

    def now(self) -> float:
        return self.parts.pop(0) if len(self.parts) > 1 else self.parts[0]


def test_without_a_share_all_is_read() -> None:
    assert list(in_time(iter([b"a\n", b"b\n"]), None)) == [(b"a\n", None), (b"b\n", None)]


def test_when_the_time_for_reading_is_spent_the_end_is_read() -> None:
    share = Share(Clock(0.1, 0.1, 0.6), read=0.5, all=0.9)
    parts = [b"%d\n" % i for i in range(10)]
    assert list(in_time(iter(parts), share)) == [
        (b"0\n", None),
        (b"1\n", None),
        (b"8\n9\n", LeftOut(6, 12, to_end=False)),
    ]


def test_when_all_is_spent_nothing_more_is_read() -> None:
    share = Share(Clock(0.6, 0.6, 0.6, 0.6, 0.95), read=0.5, all=0.9)
    ((data, gap),) = in_time(iter([b"%d\n" % i for i in range(100)]), share)
    assert data == b""
    assert gap
    assert gap.to_end


def scanned(share: Share, knowledge: Database) -> tuple[list[int], int, list[Warning]]:
    noted: list[Warning] = []

    def blocks(_: Warn) -> Iterator[bytes]:
        yield from [BLOCK] * 20
        yield KILLED

    found = scan(Source("train.log", blocks), knowledge, noted.append, share=share)
    return [h.line for h in found.hits], found.lines, noted


def test_lines_behind_a_gap_keep_their_numbers(knowledge: Database) -> None:
    last = 20 * LINES_PER_BLOCK + 1
    hits, lines, noted = scanned(Share(Clock(0.1, 0.1, 0.1, 0.6), read=0.5, all=0.9), knowledge)
    assert lines == last
    assert last in hits
    (warning,) = noted
    assert (warning.kind, warning.line) == ("skipped", 3 * LINES_PER_BLOCK + 1)
    assert f"{(20 - 3 - 1) * LINES_PER_BLOCK} lines" in warning.message


def test_an_end_that_is_not_reached_is_told(knowledge: Database) -> None:
    hits, lines, noted = scanned(Share(Clock(0.1, 0.1, 0.1, 0.6, 0.6, 0.6, 0.6, 0.95), read=0.5, all=0.9), knowledge)
    assert not hits
    assert lines < 20 * LINES_PER_BLOCK
    (warning,) = noted
    assert warning.kind == "limit"
    assert "all from here on" in warning.message

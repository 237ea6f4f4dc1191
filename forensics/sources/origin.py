"""Line numbers of decoded text to those of the original file. Regular stretches of lines take constant memory.

an `-o json-sse` journal: decoded lines 1, 2, 3 stood on lines 1, 3, 5   -> one run (from 1, first 1, step 2)
a Docker record of three lines on line 7: decoded 7, 8, 9                -> one run (from 7, first 7, step 0)
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from forensics.core.text import line_ends

Piece = tuple[int, int, bytes] | tuple[int, int, bytes, int]
"""(number, step, text), and the number of its lines where that was counted: whole lines without the last line end; the first
stood on line `number` of the original, each further one `step` lines on: 0 for the lines of one record, 1 for text as it stood,
-1 for text that was turned around."""
ORIGIN_BLOCK_BYTES = 1 << 20  # as what is read at once: later stages see blocks of one size
SHORT_PIECE_BYTES = 4 << 10  # chosen by hand: longer ones are worth a call


class LineOrigin:
    """Runs of lines with a constant step: the first decoded line of a run, its number in the original, and the step.

    `first`: the number of the first line, where what is decoded is a section of a longer file.
    """

    def __init__(self, first: int = 1) -> None:
        self.first = first
        self.clear()

    def clear(self) -> None:
        """Forget everything, before a source is read again."""
        self.starts, self.firsts, self.steps = array("Q"), array("q"), array("q")
        self.lines = 0

    def learn(self, other: "LineOrigin") -> None:
        """Take over what another LineOrigin knows about the same source."""
        self.starts, self.firsts, self.steps, self.lines = other.starts, other.firsts, other.steps, other.lines

    def add(self, number: int, step: int, count: int) -> None:
        """The next `count` decoded lines have the original numbers `number`, `number + step`, ..."""
        start = self.lines + 1
        self.lines += count
        if self.starts:
            length = start - self.starts[-1]
            if length == 1 and (count == 1 or number - self.firsts[-1] == step):
                self.steps[-1] = number - self.firsts[-1]
                return
            expected = self.firsts[-1] + self.steps[-1] * length
            if length > 1 and number == expected and (count == 1 or step == self.steps[-1]):
                return
        self.starts.append(start)
        self.firsts.append(number)
        self.steps.append(step)

    def __call__(self, line: int) -> int:
        """The number in the original of decoded line `line`; itself before anything was read."""
        run = bisect_right(self.starts, max(1, line)) - 1
        if run < 0:
            return line + self.first - 1
        return self.firsts[run] + self.steps[run] * (max(1, line) - self.starts[run]) + self.first - 1


def _ends(text: bytes) -> int:
    """The number of line ends: of a short text at once, without asking for the faster way to count."""
    return text.count(10) if len(text) < SHORT_PIECE_BYTES else line_ends(text)


def line_blocks(pieces: Iterable[Piece], origin: LineOrigin) -> Iterator[bytes]:
    """The text of `pieces` in blocks of about ORIGIN_BLOCK_BYTES, each of whole lines; `origin` gets their original numbers."""
    origin.clear()
    parts: list[bytes] = []
    size = 0
    for number, step, text, *known in pieces:
        origin.add(number, step, known[0] if known else _ends(text) + 1)
        parts.append(text)
        size += len(text) + 1
        if size >= ORIGIN_BLOCK_BYTES:
            parts.append(b"")
            yield b"\n".join(parts)
            parts, size = [], 0
    if parts:
        parts.append(b"")
        yield b"\n".join(parts)

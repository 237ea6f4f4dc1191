"""A place where an anchor ends, and its line. Text and region are made at the first use."""

from forensics.core import limits
from forensics.core.text import ascii_lower, decode_line, decode_rest, frame_bounds, line_ends
from forensics.model import Region
from forensics.scan.chunks import Chunk

CARRIAGE_RETURN = 13  # as a number: to look for one byte as bytes takes ten times as long
MANY_BYTES = 16 << 10  # fewer are counted at once, without asking for the faster way to count
MEAN_LINE_BYTES = 200  # what a neighbouring line may take on average


class LineNumbers:
    """The numbers of a chunk's lines, of which the first is `first`, and which has `ends` line ends. Lines are only counted from
    the nearer of the last line that was asked for and the end."""

    __slots__ = ("behind", "counted", "data", "number")

    def __init__(self, data: bytes, first: int, ends: int) -> None:
        self.data, self.number, self.counted, self.behind = data, first, 0, first + ends

    def of(self, start: int) -> int:
        """The number of the line that begins with byte `start`; fast for a line after those asked for before."""
        if start < self.counted:
            return self.number - line_ends(self.data, start, self.counted)
        if start - self.counted > len(self.data) - start:
            self.number, self.counted = self.behind - line_ends(self.data, start), start
        elif start > self.counted:
            near = start - self.counted < MANY_BYTES
            self.number += self.data.count(10, self.counted, start) if near else line_ends(self.data, self.counted, start)
            self.counted = start
        return self.number


class AnchorPlace:
    """Byte `at` of `chunk`, in the line data[start:end], in the frame that ends at byte `frame`. `numbers` gives the line's
    number.

    `covered`: a place of the same line before this byte has the same text, or its text is in this one.
    """

    __slots__ = ("_folded", "_text", "at", "chunk", "covered", "end", "frame", "left", "numbers", "right", "start")

    def __init__(self, chunk: Chunk, start: int, end: int, at: int, numbers: LineNumbers, frame: int) -> None:
        self.chunk, self.start, self.end, self.at, self.numbers, self.frame = chunk, start, end, at, numbers, frame
        self.left, self.right = frame_bounds(chunk.data, start, end, at)
        is_whole = self.right == end or chunk.data[self.right] == CARRIAGE_RETURN
        # Behind the middle of what follows the place, too little of what is there would be in this text.
        self.covered = self.right if is_whole else at + limits.current.text // 4
        self._text: str | None = None
        self._folded: str | None = None

    @property
    def number(self) -> int:
        """The number of the line."""
        return self.numbers.of(self.start)

    def folded(self) -> str:
        """The text in lower case, as anchors are."""
        if self._folded is None:
            self._folded = ascii_lower(self.text())
        return self._folded

    def text(self) -> str:
        """The text of the line, or of the frame of a redrawn bar, that holds the place."""
        if self._text is None:
            is_rest = self.left > self.start and self.chunk.data[self.left - 1] != CARRIAGE_RETURN
            self._text = (decode_rest if is_rest else decode_line)(self.chunk.data[self.left : self.right])
        return self._text

    def region(self, source: str, before: int, after: int) -> Region:
        """The line and about as many bytes around it as `before` and `after` lines take."""
        lines_before = self.chunk.around(self.start - before * MEAN_LINE_BYTES, self.start) if before else b""
        lines_after = self.chunk.around(self.end + 1, self.end + 1 + after * MEAN_LINE_BYTES) if after else b""
        number, end = self.numbers.of(self.start), self.frame - self.start
        return Region(source, number, self.text(), lines_before, lines_after, before, after, end)

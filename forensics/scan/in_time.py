"""What of a source is read in its share of the processor time: its beginning, and its end, which tells most.

25 GB of lines in an archive of 100 MB  ->  its first 2 GB, nothing for 20 GB, its last 2 MB
"""

from collections import deque
from collections.abc import Iterator
from itertools import chain

from msgspec import Struct

from forensics.core.input_time import Share
from forensics.core.text import format_size

END_PARTS = 2  # that are read of the end, some MiB; the scan keeps fewer of the last lines


class LeftOut(Struct, frozen=True):
    """Lines that were not read. `to_end`: there was no time to reach the end, so nobody knows how many there are."""

    lines: int
    bytes: int
    to_end: bool

    def told(self, share: Share) -> str:
        """One sentence for a warning that names the first of these lines."""
        what = "all from here on" if self.to_end else f"{self.lines:,} lines ({format_size(self.bytes)}) from here on"
        return f"{what} were left out: {share.time.told()}"


def in_time(parts: Iterator[bytes], share: Share | None) -> Iterator[tuple[bytes, LeftOut | None]]:
    """Each part that is read, and what was left out before it. A part is whole lines."""
    for part in parts:
        if share and share.is_read():
            yield _end(chain([part], parts), share)
            return
        yield part, None


def _end(parts: Iterator[bytes], share: Share) -> tuple[bytes, LeftOut]:
    last: deque[bytes] = deque()
    lines = size = 0
    for part in parts:
        last.append(part)
        if len(last) > END_PARTS:
            gone = last.popleft()
            lines += gone.count(b"\n") + (not gone.endswith(b"\n"))
            size += len(gone)
        if share.is_over():
            return b"", LeftOut(lines, size, to_end=True)
    return b"".join(last), LeftOut(lines, size, to_end=False)

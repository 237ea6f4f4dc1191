"""Sort the parts of a kernel panic from pstore. The end of the log is stored first, so the highest part is the oldest.

Panic#1 Part1                                          Panic#1 Part2
<6>[   13.826897] RAPL PMU: API unit is 2^-32 Joules   <6>[   13.801000] ...
Panic#1 Part2                                      ->  Panic#1 Part1
<6>[   13.801000] ...                                  <6>[   13.826897] RAPL PMU: API unit is 2^-32 Joules
"""

from collections.abc import Iterator

from forensics.core import lazy, limits
from forensics.sources.formats.base import Format, Note
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

PSTORE_PART_PATTERN = lazy.regex(rb"\A(\w{1,64})#(\d{1,18}) Part(\d{1,18})$")
PSTORE_PART_HEADER_PATTERN = lazy.regex(r"\A\w{1,64}#\d{1,18} Part\d{1,18}$")


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    parts: list[tuple[int, int, int, list[bytes]]] = []  # numbers of panic, part and first line; the lines
    size = 0
    for number, line in numbered_lines(blocks):
        found = PSTORE_PART_PATTERN.match(line.strip())
        if found or not parts:
            parts.append((int(found[2]), int(found[3]), number, []) if found else (0, 0, number, []))
        parts[-1][3].append(line)
        size += len(line)
        if size > limits.current.document:
            note("limit", f"more than {limits.current.document >> 20} MiB of a panic; the rest was not read", number)
            break
    for _, _, start, lines in sorted(parts, key=lambda part: (part[0], -part[1])):
        yield start, 1, b"\n".join(lines)


SAMPLE = b"Panic#1 Part1\n<6>[   13.826897] RAPL PMU: API unit is 2^-32 Joules, 5 fixed counters\n"
FORMATS = (Format("pstore", lambda head: bool(PSTORE_PART_HEADER_PATTERN.match(head.first.strip())), _decode, SAMPLE),)

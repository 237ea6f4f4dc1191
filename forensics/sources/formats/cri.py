"""Join the parts of long lines in a log of the container runtime interface (CRI: containerd, CRI-O).

    2016-10-06T00:17:09.669794203Z stderr P first half, |  ->  2016-10-06T00:17:09.669794203Z stderr F first half, second half
    2016-10-06T00:17:09.669794203Z stderr F second half |

A `P` record is one part of a line, and an `F` record ends the line. A block of text without `P` records passes unchanged.
"""

import re
from collections.abc import Iterator

from forensics.core import lazy, limits
from forensics.sources.formats.base import ISO_TIME, Format, Note
from forensics.sources.lines import numbered_blocks
from forensics.sources.origin import Piece

CRI_LINE_PATTERN = lazy.regex(rf"{ISO_TIME}\.\d+(?:Z|[+-]\d\d:\d\d) std(?:out|err) [FP](?:\s|$)")
CRI_RECORD_PATTERN = lazy.regex(rb"\A(\S+ (std(?:out|err)) )([FP])(?: (.*))?$", re.DOTALL)
PARTIAL_MARKS = (b" stdout P ", b" stderr P ")


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    pending: dict[bytes, tuple[int, bytes, list[bytes], int]] = {}  # by stream: first line, its front, parts, their bytes
    for first, count, whole in numbered_blocks(blocks):
        if not pending and not any(part in whole for part in PARTIAL_MARKS):
            yield first, 1, whole, count
            continue
        for number, line in enumerate(whole.split(b"\n"), first):
            record = CRI_RECORD_PATTERN.match(line)
            if record is None:
                yield number, 1, line
                continue
            start, front, parts, size = pending.pop(record[2], (number, record[1], [], 0))
            part = (record[4] or b"").removesuffix(b"\r")
            parts.append(part)
            size += len(part) + 1  # one more, so that empty parts come to an end, too
            if record[3] == b"P" and size < limits.current.joined:
                pending[record[2]] = (start, front, parts, size)
            else:
                yield start, 1, front + b"F " + b"".join(parts)
    for start, front, parts, _ in pending.values():
        yield start, 1, front + b"F " + b"".join(parts)


SAMPLE = b"2016-10-06T00:17:09.669794203Z stderr F log content 2\n"
FORMATS = (Format("cri", lambda head: bool(CRI_LINE_PATTERN.match(head.first)), _decode, SAMPLE),)

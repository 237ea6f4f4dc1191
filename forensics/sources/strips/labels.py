"""The label of one container, task or log level in front of every line: `trainer-1  | `, `[pod/train-0/main] `, `0: `, `<6>`.

A log has at most MAX_LABELS, one in front of the other.
"""

from collections.abc import Iterator

from forensics.line_formats.common_label import BEHIND_STAMP, common_label, sole_program
from forensics.sources.formats.base import Head
from forensics.sources.strips.base import Strip

MAX_LABELS = 3  # a cluster's in front of a launcher's in front of a level


def label_strips(head: Head) -> Iterator[Strip]:
    """A strip for each label, the outermost first."""
    lines = head.written
    for _ in range(MAX_LABELS):
        found = common_label(lines)
        if found is None:
            break
        yield Strip("label", found.pattern, label=found.text)
        texts = [found.pattern.sub(b"", line.encode("utf-8", "replace")).decode("utf-8", "replace") for line in lines]
        lines = [text for text in texts if text.strip()]
    if found := sole_program(lines):
        yield Strip("journal", found.pattern, rb"\1" + BEHIND_STAMP, found.text)

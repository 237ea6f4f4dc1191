"""The interface of a strip: the pattern to remove from each line."""

import re
from collections.abc import Iterator

from msgspec import Struct

from forensics.sources.lines import numbered_blocks

MIN_DECORATED_LINES = 3  # a single bar or quotation mark is text


class Strip(Struct, frozen=True):
    """`pattern`: what is removed, at any line's start or end (multi-line mode). `stays`: of it, as a template. `label`: the text
    of it that tells whose the lines are; empty for mere decoration."""

    name: str
    pattern: re.Pattern[bytes]
    stays: bytes = b""
    label: str = ""

    def undo(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """`blocks` without it, with the same lines."""
        for _, _, whole in numbered_blocks(blocks):
            yield self.pattern.sub(self.stays, whole) + b"\n"

"""The interface of a strip: how it is recognised in the first text, and the pattern to remove from each line."""

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from forensics.sources.formats.base import Head
from forensics.sources.lines import numbered_blocks

MIN_DECORATED_LINES = 3  # a single bar or quotation mark is text


class Strip(Struct, frozen=True):
    """`pattern`: what is removed, at any line's start or end (multi-line mode)."""

    name: str
    shows: Callable[[Head], bool]
    pattern: re.Pattern[bytes]

    def undo(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """`blocks` without it, with the same lines."""
        for _, _, whole in numbered_blocks(blocks):
            yield self.pattern.sub(b"", whole) + b"\n"

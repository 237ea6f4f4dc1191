"""Quoting that mail programs and other tools put around every line, removed without changing the number of lines.

    > RuntimeError: CUDA out of memory      ->  RuntimeError: CUDA out of memory
    │ RuntimeError: CUDA out of memory  │   ->  RuntimeError: CUDA out of memory

Each module exports STRIPS, a tuple of Strip; they are asked in the order below.
"""

from forensics.sources.formats.base import Head
from forensics.sources.strips import boxes, quotes
from forensics.sources.strips.base import Strip

__all__ = ["Strip", "needed"]

STRIPS: tuple[Strip, ...] = (*quotes.STRIPS, *boxes.STRIPS)


def needed(head: Head) -> tuple[Strip, ...]:
    """The strips that apply to a source, by its first text."""
    return tuple(s for s in STRIPS if s.shows(head))

"""What tools put around every line - quoting, boxes, labels -, removed without changing the number of lines.

> RuntimeError: CUDA out of memory            ->  RuntimeError: CUDA out of memory
│ RuntimeError: CUDA out of memory  │         ->  RuntimeError: CUDA out of memory
trainer-1  | RuntimeError: CUDA out of memory ->  RuntimeError: CUDA out of memory
"""

from collections.abc import Iterable

from forensics.sources.formats.base import Head
from forensics.sources.strips import boxes, quotes
from forensics.sources.strips.base import Strip
from forensics.sources.strips.labels import label_strips


def needed(head: Head) -> tuple[Strip, ...]:
    """The strips that apply to a source, by its first text."""
    found = [strip for shows, strip in ((quotes.shows, quotes.QUOTES), (boxes.shows, boxes.BOXES)) if shows(head)]
    return (*found, *label_strips(without(head, found)))


def without(head: Head, strips: Iterable[Strip]) -> Head:
    """`head` with what the strips remove taken away."""
    for strip in strips:
        head = Head(b"".join(strip.undo(iter([head.data]))), head.complete)
    return head

"""Long files that are many logs in one to their sections, each a blob of its own."""

from collections.abc import Iterator

from forensics.model import Warn
from forensics.sources.blob import Blob
from forensics.sources.bundles import nvidia

Part = tuple[Blob, bytes, int]
"""A blob, its first bytes, and the number that its first line has in the whole."""


def parts(blob: Blob, head: bytes, warn: Warn) -> Iterator[Part]:
    """The sections of `blob` when it is a bundle; else `blob` itself."""
    if nvidia.recognises(head):
        yield from nvidia.sections(blob, warn)
    else:
        yield blob, head, 1

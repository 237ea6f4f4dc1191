"""A blob of text becomes a Source. Its first bytes show encoding, quoting and container format; it is decoded while it is read.

Plain text passes unchanged, block by block.
"""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from forensics.model import Source, Warn, Warning
from forensics.sources.blob import PACKING_PROBE_BYTES, Blob, read_blocks
from forensics.sources.colours import rejoin_exceptions
from forensics.sources.encodings import binary_kind, decode_blocks, detect_encoding
from forensics.sources.formats import Format, Head, recognise
from forensics.sources.origin import LineOrigin, line_blocks
from forensics.sources.programs import code_of, holds_code
from forensics.sources.strips import Strip, needed, without
from forensics.sources.turning import oldest_first


def text_source(blob: Blob, head: bytes, warn: Warn, first: int = 1) -> Source | None:
    """The Source of `blob`, or None (with a Warning) if it is not text. `head`: its first bytes. `first`: the number that its
    first line has in the original file, if it is a section of a longer one."""
    blob = replace(blob, head=None)
    complete = len(head) < PACKING_PROBE_BYTES
    source = _text_source(blob, head, complete, warn, first)
    return replace(source, code=partial(code_of, blob)) if source and holds_code(blob.name) else source


def _text_source(blob: Blob, head: bytes, complete: bool, warn: Warn, first: int) -> Source | None:
    if found := recognise(Head(head, complete), raw=True):
        return decoded_source(blob, found, None, (), first)
    if kind := binary_kind(head):
        warn(Warning("binary", f"not read: {kind}", blob.name))
        return None
    name = detect_encoding(head)
    start = Head(b"".join(decode_blocks(iter([head]), name)), complete)
    strips = needed(start)
    if found := recognise(without(start, strips), raw=False):
        return decoded_source(blob, found, name, strips, first)

    def blocks(warn: Warn) -> Iterator[bytes]:
        return rejoin_exceptions(_undone(decode_blocks(read_blocks(blob, warn), name), strips))

    shift = (lambda line: line + first - 1) if first > 1 else None
    size = None if shift else blob.size
    return Source(blob.name, blocks, blob.compression, blob.modified, shift, size=size, label=_label(strips))


def _label(strips: tuple[Strip, ...]) -> str:
    return "".join(strip.label for strip in strips)


def _undone(blocks: Iterator[bytes], strips: tuple[Strip, ...]) -> Iterator[bytes]:
    for strip in strips:
        blocks = strip.undo(blocks)
    return blocks


def decoded_source(blob: Blob, found: Format, name: str | None, strips: tuple[Strip, ...], first: int) -> Source:
    """The Source of a blob whose records are `found`, in the encoding `name`. `first`: see text_source()."""
    origin = LineOrigin(first)

    def blocks(warn: Warn) -> Iterator[bytes]:
        def note(kind: str, message: str, line: int | None) -> None:
            warn(Warning(kind, message, blob.name, line))

        given = read_blocks(blob, warn)
        text = given if found.raw else _undone(decode_blocks(given, name), strips)
        pieces = found.decode(text, note)
        return rejoin_exceptions(line_blocks(oldest_first(pieces, note, found.falls) if found.falls else pieces, origin))

    return Source(
        name=blob.name,
        blocks=blocks,
        compression=blob.compression,
        modified=blob.modified,
        origin=origin,
        format=None if found.plain else found.name,
        coded=blob.stored,
        label=_label(strips),
    )

"""What `kubectl describe` prints of a pod, pasted into one text with the log of its container.

    Traceback (most recent call last): ...     line 3 of ticket.txt
    Name:         trainer-0                    line 11 of ticket.txt!describe
    Namespace:    ml
    Events: ...                                line 44 of ticket.txt!describe
    $ nvidia-smi                               line 45 of ticket.txt

The description is the platform's view of an end, and the program's own log says why: read as one text, the platform's lines would
look like the program's last ones.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from msgspec.structs import replace

from forensics.core import lazy
from forensics.model import Source
from forensics.sources.blob import Blob, read_blocks
from forensics.sources.encodings import decode_blocks, detect_encoding
from forensics.sources.formats.base import Format, Note
from forensics.sources.lines import numbered_blocks
from forensics.sources.origin import Piece
from forensics.sources.texts import decoded_source

MAX_SPLIT_BYTES = 64 << 20  # chosen by hand: of a longer text the parts stay together
MIN_OWN_LINES = 3  # chosen by hand: the command that was typed and a blank line are no log
NAME_LINE, NAMESPACE_LINE, EVENTS_LINE = b"Name: ", b"Namespace: ", b"Events:"
TOP_KEY_LINE = lazy.regex(rb"[A-Z][A-Za-z]*(?:[ -][A-Z][A-Za-z]*){0,4}:(?:\s|$)")


def may_have_descriptions(head: bytes) -> bool:
    """May what begins with `head` hold a description? Cheap, for every file."""
    return b"\n" + NAMESPACE_LINE in head


def described_parts(blob: Blob, head: bytes) -> Iterator[Source]:
    """What stands outside of all descriptions, and these; nothing where `blob` has not both."""
    encoding = detect_encoding(head)
    if blob.is_read_once or (blob.size or 0) > MAX_SPLIT_BYTES:
        return
    text = decode_blocks(read_blocks(blob, lambda _w: None), encoding)
    inside = {number for number, _ in _of_descriptions(_numbered(text))}
    text = decode_blocks(read_blocks(blob, lambda _w: None), encoding)
    own = sum(1 for number, line in _numbered(text) if number not in inside and line.strip())
    for is_described in (False, True) if inside and own >= MIN_OWN_LINES else ():
        form = Format("kubectl", lambda _head: True, partial(_part, inside, is_described), b"", plain=True)
        name = f"{blob.name}!describe" if is_described else blob.name
        yield decoded_source(replace(blob, name=name, head=None), form, encoding, (), 1)


def _part(inside: set[int], is_described: bool, blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    for number, line in _numbered(blocks):
        if (number in inside) == is_described:
            yield number, 1, line, 1


def _numbered(blocks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    for first, _, whole in numbered_blocks(blocks):
        yield from enumerate(whole.split(b"\n"), first)


def _of_descriptions(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The lines of `lines` that are part of a description.

    It begins with its name, behind which the namespace stands, and ends with the rows below `Events:`, or where a line is neither
    indented nor begins with a key.
    """
    is_inside = has_events = False
    name: tuple[int, bytes] | None = None
    for number, line in lines:
        if is_inside and not _continues(line, has_events):
            is_inside = has_events = False
        if not is_inside and name and line.startswith(NAMESPACE_LINE):
            is_inside = True
            yield name
        name = (number, line) if line.startswith(NAME_LINE) else None
        if is_inside:
            has_events = has_events or line.startswith(EVENTS_LINE)
            yield number, line


def _continues(line: bytes, has_events: bool) -> bool:
    if line.startswith(NAME_LINE):
        return False
    return not line.strip() or line[:1] in b" \t" or (not has_events and TOP_KEY_LINE.match(line) is not None)

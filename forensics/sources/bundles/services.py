"""What docker compose prints of several services to the log of each: `redis-1  | Ready` is a line of redis.

    redis-1    | Ready to accept connections tcp      line 1 of compose.log!redis-1
    trainer-1  | RuntimeError: no data                line 2 of compose.log!trainer-1, without the label
    trainer-1 exited with code 1                      line 3 of compose.log!trainer-1
    Gracefully stopping...                            line 4 of compose.log, which is left with what compose itself says

That one service works says nothing about another one, and each has an end of its own.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from forensics.core import lazy
from forensics.line_formats.common_label import MIN_LABELLED_LINES, MIN_LABELLED_SHARE
from forensics.model import Source
from forensics.sources.blob import Blob, read_blocks
from forensics.sources.encodings import decode_blocks, detect_encoding
from forensics.sources.formats.base import Format, Note
from forensics.sources.lines import numbered_blocks
from forensics.sources.origin import Piece
from forensics.sources.texts import decoded_source

MAX_SERVICES = 64  # chosen by hand: the whole is read once for each
MAX_SPLIT_BYTES = 64 << 20  # chosen by hand: of a longer one the services stay together
COLOURS = rb"^(?:\r|\x1b\[[\d;]{0,9}[mK]){0,3}"
# A container that was given a name of its own has no number, and two blanks behind it at least.
SERVICE_NAME = rb"(?!\d{4}-)([A-Za-z0-9][\w.-]{0,80}[-_]\d{1,4}(?= )|[a-z][\w.-]{0,80}(?=  +\|| exited with code \d))"
SERVICE_LINE = lazy.regex(
    COLOURS + SERVICE_NAME + rb"(?: +\|(?= |\r|\x1b|$)(?:\x1b\[0?m)?[ ]?| exited with code \d)", re.MULTILINE
)
SERVICE_LABEL = lazy.regex(COLOURS + SERVICE_NAME + rb" +\|(?= |\r|\x1b|$)(?:\x1b\[0?m)?[ ]?")


def services_of(blob: Blob, head: bytes) -> Iterator[Source]:
    """The log of each service, and last what compose itself says; nothing where `blob` is no log of several services."""
    encoding = detect_encoding(head)
    labelled = Counter(m[1] for m in SERVICE_LINE.finditer(b"".join(decode_blocks(iter([head]), encoding))))
    if len(labelled) < 2 or sum(labelled.values()) < MIN_LABELLED_LINES or blob.is_read_once:
        return
    names = _names(blob, encoding)
    for name in (*names, b"") if 1 < len(names) <= MAX_SERVICES else ():
        title = f"{blob.name}!{name.decode('ascii', 'replace')}" if name else blob.name
        form = Format("compose", lambda _head: True, partial(_lines_of, name), b"")
        source = decoded_source(replace(blob, name=title, head=None), form, encoding, (), 1)
        if name or any(block.strip() for block in source.blocks(lambda _w: None)):
            yield source


def _names(blob: Blob, encoding: str | None) -> list[bytes]:
    """The names of all services, in order; none where many lines have no label, or the whole is long."""
    found: Counter[bytes] = Counter()
    size = written = 0
    for block in decode_blocks(read_blocks(blob, lambda _w: None), encoding):
        size += len(block)
        if size > MAX_SPLIT_BYTES:
            return []
        written += sum(1 for line in block.split(b"\n") if line.strip())
        found.update(m[1] for m in SERVICE_LINE.finditer(block))
    return [*found] if sum(found.values()) >= MIN_LABELLED_SHARE * written else []


def _lines_of(name: bytes, blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    """The lines of the service `name`, without its label; those of no service for an empty name."""
    for first, _, whole in numbered_blocks(blocks):
        for number, line in enumerate(whole.split(b"\n"), first):
            found = SERVICE_LINE.match(line)
            if (found[1] if found else b"") == name and (name or line.strip()):
                yield number, 1, SERVICE_LABEL.sub(b"", line), 1

"""What docker compose prints of several services to the log of each: `redis-1  | Ready` is a line of redis.

    redis-1    | Ready to accept connections tcp      line 1 of compose.log!redis-1
    trainer-1  | RuntimeError: no data                line 2 of compose.log!trainer-1, without the label
    trainer-1 exited with code 1                      line 3 of compose.log!trainer-1
    Gracefully stopping...                            line 4 of compose.log, which is left with what compose itself says

That one service works says nothing about another one, and each has an end of its own. What `up` prints before it attaches to
the services - images that it pulls and builds - is compose's own, however long it is. Compose 1 names a container that exited
with its project in front of it: `shop_redis_1 exited with code 0` is a line of `redis_1`. A CI system or `ts` writes the time in
front of each line, which stays: `2026-08-22T03:00:07.1234567Z redis-1  | Ready` is `2026-08-22T03:00:07.1234567Z Ready`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from forensics.core import lazy
from forensics.line_formats.common_label import MIN_LABELLED_LINES, MIN_LABELLED_SHARE
from forensics.model import Source
from forensics.model.logs import OF_SERVICES
from forensics.sources.blob import Blob, read_blocks
from forensics.sources.encodings import decode_blocks, detect_encoding
from forensics.sources.formats.base import Format, Note
from forensics.sources.lines import numbered_blocks
from forensics.sources.origin import Piece
from forensics.sources.texts import decoded_source

MAX_SERVICES = 64  # chosen by hand: the whole is read once for each
MAX_SPLIT_BYTES = 64 << 20  # chosen by hand: of a longer one the services stay together
COLOURS = rb"(?:\r|\x1b\[[\d;]{0,9}[mK]){0,3}"
TIME = (  # of GitHub Actions, GitLab (with the number and kind of its stream), journals, `docker logs -t`, `ts`
    rb"(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]{0,10}(?:Z|[+-]\d\d:?\d\d)?\]? (?:\d\d[OE][+ ]?)?"
    rb"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d )?"
)
BEHIND_LINE_END = rb"\n" + TIME + COLOURS  # searched in b"\n" + text: a line end is found five times as fast as `^`
# A container that was given a name of its own has no number, and two blanks behind it at least.
SERVICE_NAME = rb"(?!\d{4}-)(?P<name>[A-Za-z0-9][\w.-]{0,80}[-_]\d{1,4}(?= )|[a-z][\w.-]{0,80}(?=  +\|| exited with code \d))"
SERVICE_LINE = lazy.regex(
    BEHIND_LINE_END + SERVICE_NAME + rb"(?: +\|(?= |\r|\x1b|$)(?:\x1b\[0?m)?[ ]?| exited with code \d)", re.MULTILINE
)
SERVICE_LABEL = lazy.regex(
    rb"^(?P<time>" + TIME + rb")" + COLOURS + SERVICE_NAME + rb" +\|(?= |\r|\x1b|$)(?:\x1b\[0?m)?[ ]?", re.MULTILINE
)
ATTACHES = lazy.regex(rb"^" + TIME + COLOURS + rb"Attaching to \S", re.MULTILINE)
PREPARES = lazy.regex(  # what `docker compose up` prints first of all
    BEHIND_LINE_END + rb"(?:Attaching to \S|Building [\w.-]{1,80}\r?$|Pulling [\w.-]{1,80} \(|Creating (?:network|volume) [\"\w]"
    rb"|(?:Creating|Starting|Recreating) [\w.-]{1,80} \.\.\.|\[\+\] (?:Running|Building|up) "
    rb"| ?(?:Network|Container|Volume) [\w.\"-]{1,80} +(?:Creating|Created|Starting|Started|Running)"
    rb"|Step 1/\d{1,4} : |#\d{1,4} \[[\w. /-]{1,80}\] )",
    re.MULTILINE,
)


def may_have_services(head: bytes) -> bool:
    """May what begins with `head` hold the lines of services? Cheap, for every file."""
    return b" | " in head or _prepares(head)


def _prepares(text: bytes) -> bool:
    return PREPARES.search(b"\n" + text) is not None


def _services_in(text: bytes) -> Iterator[bytes]:
    """The name in each line of a service."""
    return (found["name"] for found in SERVICE_LINE.finditer(b"\n" + text))


def services_of(blob: Blob, head: bytes) -> Iterator[Source]:
    """The log of each service, and last what compose itself says; nothing where `blob` is no log of several services."""
    encoding = detect_encoding(head)
    start = b"".join(decode_blocks(iter([head]), encoding))
    labelled = Counter(_services_in(start))
    if blob.is_read_once or not ((len(labelled) > 1 and sum(labelled.values()) >= MIN_LABELLED_LINES) or _prepares(start)):
        return
    names = _names(blob, encoding)
    services = tuple(dict.fromkeys(names.values()))
    for name in (*services, b"") if 1 < len(services) <= MAX_SERVICES else ():
        title = f"{blob.name}!{name.decode('ascii', 'replace')}" if name else blob.name
        form = Format(OF_SERVICES, lambda _head: True, partial(_lines_of, name, names), b"")
        source = decoded_source(replace(blob, name=title, head=None), form, encoding, (), 1)
        if name or any(block.strip() for block in source.blocks(lambda _w: None)):
            yield source


def _names(blob: Blob, encoding: str | None) -> dict[bytes, bytes]:
    """Each name that stands in front of a line, in order -> its service; empty where many lines have no label behind the one
    that says which services follow, or the whole is long.
    """
    found: Counter[bytes] = Counter()
    labelled: set[bytes] = set()
    size = written = 0
    attached: re.Match[bytes] | None = None
    for block in decode_blocks(read_blocks(blob, lambda _w: None), encoding):
        size += len(block)
        if size > MAX_SPLIT_BYTES:
            return {}
        if not attached and (attached := ATTACHES.search(block)):
            block, written = block[attached.start() :], 0
        written += sum(1 for line in block.split(b"\n") if line.strip())
        found.update(_services_in(block))
        labelled.update(m["name"] for m in SERVICE_LABEL.finditer(block))
    if sum(found.values()) < max(MIN_LABELLED_LINES, MIN_LABELLED_SHARE * written):
        return {}
    return {name: _service(name, labelled) for name in found}


def _service(name: bytes, labelled: set[bytes]) -> bytes:
    """The labelled service whose container has `name`, with its project in front; else `name`."""
    return name if name in labelled else next((s for s in labelled if name.endswith((b"_" + s, b"-" + s))), name)


def _lines_of(name: bytes, names: dict[bytes, bytes], blocks: Iterator[bytes], _note: Note) -> Iterator[Piece]:
    """The lines of the service `name`, without its label; those of no service for an empty name. `names`: see _names."""
    for first, _, whole in numbered_blocks(blocks):
        for number, line in enumerate(whole.split(b"\n"), first):
            found = SERVICE_LINE.match(b"\n" + line)
            if (names.get(found["name"], b"") if found else b"") == name and (name or line.strip()):
                yield number, 1, SERVICE_LABEL.sub(rb"\g<time>", line), 1

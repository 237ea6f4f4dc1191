"""Convert the export format of the systemd journal (`journalctl -o export`) to lines.

    __REALTIME_TIMESTAMP=1755831607123456
    _HOSTNAME=gpu-node-7
    MESSAGE=python3 invoked oom-killer: ...
    <blank line>

A field with a binary value is written as its name, a line end, the length (eight bytes, little-endian), the value and a line
end. (Source: Journal Export Formats, of systemd.)
"""

from collections.abc import Iterator

from msgspec import convert

from forensics.core import lazy, limits
from forensics.sources.formats.base import Format, Note
from forensics.sources.formats.entry import JOURNAL_FIELDS, Entries, Entry
from forensics.sources.lines import numbered_blocks
from forensics.sources.origin import Piece

EXPORT_START_PATTERN = lazy.regex(rb"\A(?:\w{1,256}=[^\n]*\n){0,4}__REALTIME_TIMESTAMP=\d{10,}\n")
WANTED = {name.encode() for name in JOURNAL_FIELDS.values()}


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    entries = Entries()
    raw = (line for first, _, whole in numbered_blocks(blocks) for line in enumerate(whole.split(b"\n"), first))
    for number, fields in _entries(raw, note):
        yield from entries.pieces(convert(fields, Entry), number, 1)


def _entries(lines: Iterator[tuple[int, bytes]], note: Note) -> Iterator[tuple[int, dict[str, str]]]:
    """The needed fields of each entry, with the line on which its message begins."""
    fields: dict[str, str] = {}
    at = 1
    for number, line in lines:
        if not line:
            yield at, fields
            fields = {}
            continue
        name, equals, value = line.partition(b"=")
        if name == b"MESSAGE":
            at = number + (not equals)  # a binary value begins on the next line, behind its length
        if not equals:
            value, whole = _binary(lines)
            if not whole:
                note("truncated", f"the field {name[:64].decode('ascii', 'replace')} is cut short", number)
        if name in WANTED:
            fields[name.decode()] = value.decode("utf-8", "replace")
    yield at, fields


def _binary(lines: Iterator[tuple[int, bytes]]) -> tuple[bytes, bool]:
    """The value of a binary field, which may contain line ends, and whether the value is complete."""
    data = b""
    wanted = 8
    known = False
    parts: list[bytes] = []
    size = -1  # there is no line end before the first part
    for _, line in lines:
        parts.append(line)
        size += len(line) + 1
        if not known and size >= 8:
            data = b"\n".join(parts)
            wanted = 8 + int.from_bytes(data[:8], "little")
            known, parts = True, [data]
            if wanted > limits.current.field:
                return data[8:], False
        if known and size >= wanted:
            return b"\n".join(parts)[8:wanted], True
    return b"\n".join(parts)[8:], False


SAMPLE = b"__CURSOR=s=1;i=1\n__REALTIME_TIMESTAMP=1755831607123456\n_HOSTNAME=gpu-node-7\nMESSAGE=text\n\n"
FORMATS = (Format("journal export", lambda head: bool(EXPORT_START_PATTERN.match(head.data[:4096])), _decode, SAMPLE, raw=True),)

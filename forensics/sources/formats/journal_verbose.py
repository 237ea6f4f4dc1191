"""Convert `journalctl -o verbose` to lines. An entry has a head line with the cursor, then one line for each field.

    Fri 2025-08-22 03:00:07.123456 UTC [s=fefa15e3;i=1;b=493676ee;m=2b897c2ad;t=63ceb673a5e00;x=6b70ca4d]
        _HOSTNAME=gpu-node-7
        MESSAGE=multi
                line message

`t` of the cursor is the time in microseconds since 1970, in hexadecimal. It does not depend on the time zone of the head line.
"""

import re
from collections.abc import Iterator

from msgspec import convert

from forensics.core import lazy
from forensics.core.text import with_noun
from forensics.sources.formats.base import Format, Note
from forensics.sources.formats.entry import Entries, Entry
from forensics.sources.lines import numbered_lines
from forensics.sources.origin import Piece

ENTRY_PATTERN = lazy.regex(r"\w{2,9}\.? \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+ \[(s=\w+;[^\]]*)\]")
ENTRY_BYTES_PATTERN = lazy.regex(ENTRY_PATTERN.pattern.encode())
FIELD_PATTERN = lazy.regex(rb" {4}([A-Z_][A-Z0-9_]*)=(.*)", re.DOTALL)


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    entries = Entries()
    at, fields, last, blobs = 0, dict[str, str](), "", 0
    for number, line in numbered_lines(blocks):
        head, field = ENTRY_BYTES_PATTERN.match(line), FIELD_PATTERN.match(line)
        if head:
            yield from entries.pieces(convert(fields, Entry), at, 1)
            fields, last = _cursor(head[1].decode("ascii", "replace")), ""
        elif field and fields:
            last = field[1].decode()
            fields[last] = field[2].decode("utf-8", "replace")
            at = number if last == "MESSAGE" else at
            blobs += last == "MESSAGE" and bool(re.fullmatch(r"\[\S+ blob data\]", fields[last]))
        elif last and line.startswith(b"     "):
            fields[last] += "\n" + line.decode("utf-8", "replace")[5 + len(last) :]
    yield from entries.pieces(convert(fields, Entry), at, 1)
    if blobs:
        note("blob", f"shown as blob data: {with_noun(blobs, 'message')}; export with `journalctl -a` to read them", None)


def _cursor(text: str) -> dict[str, str]:
    """The times and the boot from `s=...;b=...;m=...;t=...`; m and t are hexadecimal."""
    parts = dict(p.split("=", 1) for p in text.split(";") if "=" in p)
    found: dict[str, str] = {}
    for key, name in (("t", "__REALTIME_TIMESTAMP"), ("m", "__MONOTONIC_TIMESTAMP")):
        if re.fullmatch(r"[0-9a-f]{1,16}", parts.get(key, "")):
            found[name] = str(int(parts[key], 16))
    return found | {"_BOOT_ID": parts.get("b", "")}


SAMPLE = b"Fri 2025-08-22 03:00:07.123456 UTC [s=fe;i=1;b=49;m=2b897c2ad;t=63ceb673a5e00;x=6b]\n    MESSAGE=text\n"
FORMATS = (Format("journal verbose", lambda head: any(map(ENTRY_PATTERN.match, head.lines[:3])), _decode, SAMPLE),)

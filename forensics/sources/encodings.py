"""Text in any encoding that logs come in, to UTF-8 bytes with the same lines.

    ff fe 54 00 72 00 61 00   (PowerShell's `>`)   -> Tra
    54 00 72 00 61 00         (the same, BOM lost) -> Tra
    00 00 00 ... Aug 22 ...   (a crash left zeros) -> Aug 22 ...

Plain UTF-8 and anything that resembles it passes unchanged. Line numbers never change.
"""

import codecs
import re
from collections.abc import Iterator

from forensics.core import lazy

BOMS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
ENCODING_PROBE_BYTES = 8192  # some hundred lines of text; the start of a binary file shows within the first page
MAX_ODD_SHARE = 0.3  # control characters and bad bytes; a text in an old encoding has fewer
MAX_ZERO_RUNS = 8  # runs of zeros in ENCODING_PROBE_BYTES; a crash leaves few and long ones, a binary file many
MIN_CLEAN_SHARE = 0.25  # in clean lines; of 1,288 binary files those that begin with a clean line had .11 at most
MIN_FIRST_LINE_BYTES = 8  # more than the mark of a format, which may end like a line
MAX_CLEAN_LINE_BYTES = 2000  # the strings of a binary file are not in lines
BINARY_JOURNAL_MAGIC = b"LPKSHHRH"
CONTROL_BYTES = bytes((*range(7), *range(14, 27), *range(28, 32)))
ODD_CHARACTER_PATTERN = lazy.regex("[\x00-\x06\x0e-\x1a\x1c-\x1f\ufffd]")
CLEAN_LINE_PATTERN = lazy.regex(rb"(?:^|(?<=[\n\r\0]))[\t\x1b\x20-\x7e\x80-\xff]{1,%d}\0*[\r\n]" % MAX_CLEAN_LINE_BYTES)
# Recognised so that a message can say what it is.
FOREIGN_ENCODINGS = {
    BINARY_JOURNAL_MAGIC: "binary systemd journal",
    b"\x7fELF": "program or core dump",
    b"\x04\x22\x4d\x18": "lz4 archive; unpack it with `lz4 -d`",
    b"7z\xbc\xaf\x27\x1c": "7z archive; unpack it first",
    b"Rar!": "rar archive; unpack it first",
    b"\x1f\x9d": "compress archive; unpack it with `uncompress`",
    b"%PDF-": "PDF document; export its text",
    b"\x89PNG": "picture; the log's text is needed",
    b"\xff\xd8\xff": "picture; the log's text is needed",
    b"SQLite format 3": "SQLite database",
}


def detect_encoding(head: bytes) -> str | None:
    """`utf-16-le` or `utf-16-be` by byte-order mark, or by zeros in every second byte; None for everything else."""
    for bom, name in BOMS.items():
        if head.startswith(bom):
            return name
    start = head[: ENCODING_PROBE_BYTES // 2 * 2]
    if len(start) < 8 or b"\0" not in start:
        return None
    even, odd = start[::2].count(0), start[1::2].count(0)
    half = len(start) // 2
    if odd > half * 0.5 and even < half * 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > half * 0.5 and odd < half * 0.05 else None


def binary_kind(head: bytes) -> str | None:
    """The kind of a binary file, None for text. `head`: its first bytes, not decoded."""
    for magic, kind in FOREIGN_ENCODINGS.items():
        if head.startswith(magic):
            return kind
    if detect_encoding(head):
        return None
    zero_runs = re.findall(rb"\0+", head[:ENCODING_PROBE_BYTES]) if b"\0" in head else []
    if len(zero_runs) > MAX_ZERO_RUNS and not _reads_as_text(head[:ENCODING_PROBE_BYTES]):
        return "binary data"
    start = (head.translate(None, b"\0") if b"\0" in head else head)[:ENCODING_PROBE_BYTES]
    if not start:
        return "nothing but zeros"
    if start.isascii() and len(start.translate(None, CONTROL_BYTES)) == len(start):  # most of all texts: no need to decode it
        return None
    text = start.decode("utf-8", "replace")
    return "binary data" if len(ODD_CHARACTER_PATTERN.findall(text)) > len(text) * MAX_ODD_SHARE else None


def _reads_as_text(start: bytes) -> bool:
    """Does it begin with a line of clean text, and have enough of them?

    So does a log that was truncated while its writer continued (copytruncate), or a console to which a program printed binary
    data. A binary file begins with the mark of its format.
    """
    zeros = start.count(0)
    clean = sum(len(line) for line in CLEAN_LINE_PATTERN.findall(start))
    first = CLEAN_LINE_PATTERN.match(start, len(start) - len(start.lstrip(b"\0")))
    return first is not None and len(first[0]) >= MIN_FIRST_LINE_BYTES and clean >= MIN_CLEAN_SHARE * (len(start) - zeros)


def decode_blocks(blocks: Iterator[bytes], name: str | None) -> Iterator[bytes]:
    """`blocks` as UTF-8 without byte-order marks and zeros; what has neither passes as it is. `name`: from detect_encoding()."""
    if name is None:
        yield from _plain(blocks)
        return
    decoder = codecs.getincrementaldecoder(name)(errors="replace")
    for block in blocks:
        text = decoder.decode(block)
        if "\ufeff" in text or "\0" in text:  # a shell that appends writes its byte-order mark again
            text = text.replace("\ufeff", "").replace("\0", "")
        yield text.encode("utf-8", "replace")


def _plain(blocks: Iterator[bytes]) -> Iterator[bytes]:
    first = True
    for block in blocks:
        if first and block.startswith(codecs.BOM_UTF8):
            block = block[len(codecs.BOM_UTF8) :]
        first = False
        yield block.translate(None, b"\0") if b"\0" in block else block

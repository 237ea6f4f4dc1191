"""One file to one Source: recognises gzip and binary content by its first bytes and streams the text in blocks."""

import codecs
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

from forensics.model import Source, Warn, Warning

BLOCK_BYTES = 4 << 20
PROBE_BYTES = 8192
MOST_ODD = 0.3  # control characters and bad bytes; a text in an old encoding has fewer
GZIP = b"\x1f\x8b"
# Recognised so that a message can say what it is; reading them is not this module's business.
FOREIGN = {
    b"\xfd7zXZ\x00": "xz archive",
    b"BZh": "bzip2 archive",
    b"\x28\xb5\x2f\xfd": "zstd archive",
    b"PK\x03\x04": "zip archive",
    b"LPKSHHRH": "binary systemd journal; export it with `journalctl --file NAME -o short-iso`",
    b"\x7fELF": "program or core dump",
}
BOMS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def file_source(path: Path, warn: Warn) -> Source | None:
    """The Source of a regular file, or None (with a Warning) when it is empty, unreadable or not text."""
    name = str(path)
    try:
        with _open(path) as (file, compression):
            probe = file.read(PROBE_BYTES)
        modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, EOFError) as error:
        warn(Warning("unreadable", getattr(error, "strerror", None) or str(error), name))
        return None
    if not probe:
        warn(Warning("empty", "the file is empty", name))
        return None
    kind = not_text(probe)
    if kind:
        warn(Warning("binary", f"not read: {kind}", name))
        return None

    def blocks(warn: Warn) -> Iterator[bytes]:
        try:
            with _open(path) as (file, _):
                yield from decoded(_read(file), probe)
        except (OSError, EOFError) as error:
            warn(Warning("truncated", f"reading stopped early: {getattr(error, 'strerror', None) or error}", name))

    return Source(name=name, blocks=blocks, compression=compression, modified=modified)


def not_text(probe: bytes) -> str | None:
    """What the first bytes of something are when they are no text, else None."""
    for magic, kind in FOREIGN.items():
        if probe.startswith(magic):
            return kind
    if any(probe.startswith(bom) for bom in BOMS):
        return None
    text = probe.decode("utf-8", "replace")
    odd = sum(1 for c in text if c == "\ufffd" or (c < " " and c not in "\t\n\r\x1b\x0c\x08\x07"))
    return "binary data" if odd > len(text) * MOST_ODD else None


def decoded(blocks: Iterator[bytes], probe: bytes) -> Iterator[bytes]:
    """`blocks` as UTF-8: UTF-16 with a byte-order mark is turned, everything else passes untouched."""
    for bom, encoding in BOMS.items():
        if probe.startswith(bom):
            decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
            for block in blocks:
                yield decoder.decode(block).lstrip("\ufeff").encode("utf-8", "replace")
            return
    yield from blocks


class _open:  # noqa: N801 - reads as the function it stands for
    """Opens a file or, by its first bytes, the text inside a gzip."""

    def __init__(self, path: Path) -> None:
        self.raw: BinaryIO = path.open("rb", buffering=0)

    def __enter__(self) -> tuple[BinaryIO, str | None]:
        magic = self.raw.read(2)
        self.raw.seek(0)
        if magic != GZIP:
            return self.raw, None
        from isal import igzip

        return cast(BinaryIO, igzip.open(self.raw, "rb")), "gzip"

    def __exit__(self, *_: object) -> None:
        self.raw.close()


def _read(file: BinaryIO) -> Iterator[bytes]:
    while block := file.read(BLOCK_BYTES):
        yield block

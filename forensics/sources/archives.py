"""Archives to blobs: the regular members of a tar or a zip, named as `bundle.tar.gz!var/log/kern.log`.

Nothing is written to disk. A tar is walked once to find its members; a zip needs its end, so one that cannot be sought in
(inside another archive, on standard input) is held in memory up to a limit.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import BinaryIO

from msgspec.structs import replace

from forensics.core.text import printable
from forensics.model import Warn, Warning
from forensics.sources.blob import Blob, error_text, warning_kind
from forensics.sources.slices import Slices

TAR_MAGIC = 257  # where a tar's header says "ustar", in the POSIX and in the GNU form
SKIPPED_MEMBERS = ("__MACOSX/", "PaxHeader/")


def detect_archive(head: bytes) -> str | None:
    """`tar` or `zip` by the first bytes, None for anything else."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "tar" if head[TAR_MAGIC : TAR_MAGIC + 5] == b"ustar" else None


def archive_members(blob: Blob, kind: str, warn: Warn) -> Iterator[Blob]:
    """A Blob for each regular member of the archive `blob`, in the archive's order. Use each before asking for the next, or open
    it later. A fault becomes a Warning, and the members before it are kept."""
    try:
        yield from (_tar if kind == "tar" else _zip)(blob)
    except (OSError, EOFError) as error:
        warn(Warning(warning_kind(error), f"archive: {error_text(error)}", blob.name))


def _named(blob: Blob, kind: str, path: str, open: Callable[[], BinaryIO], modified: datetime | None, size: int) -> Blob:
    name = f"{blob.name}!{printable(path.removeprefix('./'), 500)}"
    return Blob(name, open, modified or blob.modified, (*blob.packing, kind), budget=blob.budget, expected=size)


def _tar(blob: Blob) -> Iterator[Blob]:
    from forensics.sources.tars import tar_members

    whole = Slices(blob.open, blob.budget.pool)
    for entry, head in tar_members(blob):
        if not _skipped(entry.name):
            open = partial(whole.part, entry.offset_data, entry.size)
            yield replace(_named(blob, "tar", entry.name, open, _time(entry.mtime), entry.size), head=head)


def _time(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def _zip(blob: Blob) -> Iterator[Blob]:
    from forensics.sources.zips import zip_members

    for member, open in zip_members(blob):
        if not _skipped(member.path):
            yield _named(blob, "zip", member.path, open, member.modified, member.bytes)


def _skipped(path: str) -> bool:
    return path.startswith(SKIPPED_MEMBERS) or path.rsplit("/", 1)[-1].startswith("._")

"""A blob becomes Sources: it is decompressed and taken out of archives and bundles, until only text is left.

bundle.tar.gz -> bundle.tar.gz!kern.log (compression `gzip+tar`), bundle.tar.gz!old/job.zip!train.log, ...
"""

from collections import Counter
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import BinaryIO, cast

from msgspec.structs import replace

from forensics.core import limits
from forensics.core.errors import unexpected
from forensics.model import Source, Warn, Warning
from forensics.sources.archives import archive_members, detect_archive
from forensics.sources.blob import Blob, error_text, first_bytes, warning_kind
from forensics.sources.bundles import nvidia
from forensics.sources.bundles.described import described_parts, may_have_descriptions
from forensics.sources.bundles.services import may_have_services, services_of
from forensics.sources.compression import detect_compression, unpacked_stream
from forensics.sources.encodings import BINARY_JOURNAL_MAGIC
from forensics.sources.rank_dumps import is_flight_recorder
from forensics.sources.texts import text_source

MIN_HEAD_BYTES = 4096  # fewer unpacked bytes do not show what the data is; it is then opened again
EXPECTED_RATIO = 10  # chosen by hand: real logs shrink 5 to 200 times, most of them 5 to 20 times
COUNTED_KINDS = ("empty", "binary")
MAX_EQUAL_WARNINGS = 5  # chosen by hand: of one archive, each with the name of a member; the others are counted


def open_blob(blob: Blob, warn: Warn, archives: int = 0) -> Iterator[Source]:
    """Every Source in `blob`. What cannot be read becomes a Warning, for faults in the data and for faults in this program."""
    try:
        for source in _opened(blob, warn, archives):
            whole = source if source.time else replace(source, expected=blob.expected, time=blob.budget.pool.time)
            yield whole if archives else replace(whole, blocks=_until_fault(whole))
    except Exception as error:
        warn(Warning("internal", unexpected(error), blob.name))


def _until_fault(source: Source) -> Callable[[Warn], Iterator[bytes]]:
    """The blocks of `source`. If decoding them raises an exception, they end there, with a Warning."""

    def blocks(warn: Warn) -> Iterator[bytes]:
        try:
            yield from source.blocks(warn)
        except Exception as error:
            warn(Warning("internal", f"reading stopped early: {unexpected(error)}", source.name))

    return blocks


def _opened(blob: Blob, warn: Warn, archives: int) -> Iterator[Source]:
    try:
        head = blob.start()
    except (OSError, EOFError) as error:
        warn(Warning(warning_kind(error, "unreadable"), error_text(error), blob.name))
        return
    if not head:
        warn(Warning("empty", "the file is empty", blob.name))
    elif kind := detect_compression(head):
        yield from _packed(blob, kind, head, warn, archives)
    elif kind := detect_archive(head):
        yield from _archived(blob, kind, warn, archives)
    elif head.startswith(BINARY_JOURNAL_MAGIC):
        from forensics.sources.binary_journal import journal_source  # rare, and slow to import

        yield from journal_source(blob, warn)
    elif is_flight_recorder(head):
        from forensics.sources.dumps import dump_source  # rare

        yield dump_source(replace(blob, head=None))
    else:
        yield from _text(blob, head, warn)


def _packed(blob: Blob, kind: str, head: bytes, warn: Warn, archives: int) -> Iterator[Source]:
    if len(blob.packing) >= limits.current.packings:
        warn(Warning("limit", "compressed too many times; it was not read", blob.name))
        return
    bare = replace(blob, head=None)

    def unpacked(raw: BinaryIO) -> BinaryIO:
        return unpacked_stream(raw, kind, blob.budget, blob.packing)

    packing, grown = (*blob.packing, kind), blob.expected * EXPECTED_RATIO
    inner = replace(bare, open=lambda: unpacked(bare.open()), packing=packing, size=None, expected=grown)
    try:  # use the first bytes, which are already read; to open it again would cost a seek in an archive
        start = first_bytes(unpacked(cast(BinaryIO, BytesIO(head))))
    except (OSError, EOFError):
        start = b""
    yield from open_blob(replace(inner, head=start) if len(start) >= MIN_HEAD_BYTES else inner, warn, archives)


def _archived(blob: Blob, kind: str, warn: Warn, archives: int) -> Iterator[Source]:
    if archives >= limits.current.archives:
        warn(Warning("limit", "an archive inside an archive inside an archive; it was not opened", blob.name))
        return
    told: Counter[tuple[str, str]] = Counter()

    def tell(warning: Warning) -> None:
        same = ("skipped", warning.kind) if warning.kind in COUNTED_KINDS else (warning.kind, warning.message)
        told[same] += 1
        if warning.kind not in COUNTED_KINDS and told[same] <= MAX_EQUAL_WARNINGS:
            warn(warning)

    for member in archive_members(replace(blob, head=None), kind, warn):
        yield from open_blob(member, tell, archives + 1)
    if counts := " and ".join(f"{count} {kind}" for (same, kind), count in sorted(told.items()) if same == "skipped"):
        warn(Warning("skipped", f"members that were not read: {counts}", blob.name))
    for (same, message), count in told.items():
        if same != "skipped" and count > MAX_EQUAL_WARNINGS:
            warn(Warning(same, f"{count - MAX_EQUAL_WARNINGS:,} more members: {message}", blob.name))


def _text(blob: Blob, head: bytes, warn: Warn) -> Iterator[Source]:
    if may_have_services(head) and (services := [*services_of(blob, head)]):
        yield from services
        return
    if may_have_descriptions(head) and (parts := [*described_parts(blob, head)]):
        yield from parts
        return
    sections = nvidia.sections(blob, warn) if nvidia.recognises(head) else [(blob, head, 1)]
    yield from filter(None, (text_source(part, start, warn, first) for part, start, first in sections))

"""More hostile inputs, rows as in inputs.py: one for each form of archive and each method, made to take memory or time."""

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

from tests.hostile.floods import ROWS
from tests.hostile.inputs import TEXT, row, simple

__all__ = ["PACKED", "ROWS"]

MIB = 1 << 20
FILLED = b"a" * MIB
BEFORE = len(ROWS)


def zip_of(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def large_dictionary() -> bytes:
    """A zip whose LZMA member says that it needs a dictionary of 4 GiB."""
    made = bytearray(zip_of({"a.log": TEXT}, zipfile.ZIP_LZMA))
    at = made.index(b"\x05\x00", 30) + 3  # behind the length of the properties and the first of them
    made[at : at + 4] = b"\xff\xff\xff\xff"
    return bytes(made)


def large_header(kind: bytes) -> bytes:
    """A tar.gz that begins with a header of 8 GiB, of which 4 GiB are there."""
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = kind, (8 << 30) - 512
    return gzip.compress(entry.tobuf(tarfile.GNU_FORMAT)) + gzip.compress(FILLED) * 4096


def tree(width: int) -> bytes:
    inner = zip_of({f"{i}.log": b"step 1\n" for i in range(width)})
    return zip_of({f"{i}.zip": zip_of({f"{j}.zip": inner for j in range(width)}) for i in range(width)})


def small_logs(count: int) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=6) as archive:
        for i in range(count):
            entry = tarfile.TarInfo(f"{i}.log")
            entry.size = 7
            archive.addfile(entry, io.BytesIO(b"step 1\n"))
    return made.getvalue()


def under_the_ratio(megabytes: int) -> bytes:
    """Lines in gzip with so much in them that cannot be packed that it stays under the ratio of a bomb."""
    packer, rng = zlib.compressobj(6, zlib.DEFLATED, 31), random.Random(0)
    lines = (b"step 1 loss 0.5 grad 0.3 lr 0.001\n" * 31_000)[:MIB]
    made, size = [], 0
    while size < megabytes * 1_000_000:
        made.append(packer.compress(lines + rng.randbytes(1400).hex().encode() + b"\n"))
        size += len(made[-1])
    return b"".join([*made, packer.flush()])


def large_directory() -> bytes:
    """A zip whose directory names one member 200,000 times."""
    raw = zip_of({"00000": TEXT})
    start = raw.index(b"PK\x01\x02")
    entry = raw[start : raw.index(b"PK\x05\x06")] * 200_000
    return raw[:start] + entry + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 65535, 65535, len(entry), start, 0)


def many_zips(count: int) -> bytes:
    """A tar of zips that each unpack to 32 MiB; each has to be held to be read."""
    inner = zip_of({"a.log": b"\n" * (32 << 20)})
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for i in range(count):
            entry = tarfile.TarInfo(f"{i}.zip")
            entry.size = len(inner)
            archive.addfile(entry, io.BytesIO(inner))
    return made.getvalue()


simple(
    "zip_bzip2",
    "a zip whose bzip2 member is 300 MiB",
    lambda: zip_of({"a.log": b"\n" * (300 << 20)}, zipfile.ZIP_BZIP2),
    "limit",
    slow=True,
)
simple("zip_bzip2_text", "a zip whose bzip2 member is 32 MiB", lambda: zip_of({"a.log": b"\n" * (32 << 20)}, zipfile.ZIP_BZIP2))
simple("zip_lzma_dictionary", "a zip whose LZMA member needs 4 GiB", large_dictionary, "limit")
simple("zip_lzma", "a zip whose LZMA member is 32 MiB", lambda: zip_of({"a.log": b"\n" * (32 << 20)}, zipfile.ZIP_LZMA))
simple("zip_directory", "a zip with a directory of 10 MB", large_directory, "limit")
simple("zip_tree", "zips in zips in a zip, 40 in each", lambda: tree(40), "limit")
simple("zip_many_held", "5 zips in a tar, each of 32 MiB", lambda: many_zips(5), slow=True)
simple("zip_many_newlines", "20 zips in a tar, each of 32 MiB of newlines", lambda: many_zips(20), "limit")
simple("tar_long_name", "a tar.gz with a GNU long name of 8 GiB", lambda: large_header(tarfile.GNUTYPE_LONGNAME), "limit")
simple("tar_pax", "a tar.gz with a pax header of 8 GiB", lambda: large_header(tarfile.XHDTYPE), "limit")
simple("tar_small_logs", "a tar.gz of 75 kB with 10,000 logs", lambda: small_logs(10_000))
simple("bzip2_streams", "40 bzip2 streams in a row, each of 16 MiB", lambda: bz2.compress(b"\n" * (16 << 20)) * 40, "limit")
simple("gzip_ratio", "20 GB in a gzip of 99 MB, a ratio below that of a bomb", lambda: under_the_ratio(99), "limit", slow=True)
simple("xz_twice", "xz in xz", lambda: lzma.compress(lzma.compress(b"\n" * (40 << 20), preset=1)))
simple(
    "zstd_window",
    "a zstd frame with a window of 1 GiB",
    lambda: b"\x28\xb5\x2f\xfd\x00\xa0" + (1 | 1 << 1 | 100_000 << 3).to_bytes(3, "little") + b"a",
    "unreadable",
)


@row("2,000 links to files that the kernel makes, and to a file outside", "skipped")
def links_out(folder: Path) -> None:
    for i in range(2000):
        (folder / f"{i}.log").symlink_to(f"/proc/self/{'mem' if i % 2 else 'status'}")
    (folder / "kmsg.log").symlink_to("/proc/kmsg")


PACKED = ROWS[BEFORE:]

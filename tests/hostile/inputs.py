"""Hostile inputs, made here: each is laid beside a kernel log whose cause must still be found.

A row: name -> (what is made, in words; the kind of Warning that must tell of it, or None where nothing need be told).
`python -m tests.hostile.measure` runs them all, each in a process of its own, and prints time and memory.
"""

import gzip
import io
import json
import lzma
import os
import random
import socket
import struct
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
OOM = (ROOT / "sample_logs/jupyter_oom/dmesg.log").read_bytes()
CAUSE = "host_memory.oom_cgroup"
TEXT = b"Nov 21 08:23:04 node17 kernel: usb 1-1: new device\n" * 400


@dataclass(frozen=True)
class Row:
    name: str
    what: str
    make: Callable[[Path], object]
    warning: str | None = None
    slow: bool = False


ROWS: list[Row] = []


def row(
    what: str, warning: str | None = None, slow: bool = False
) -> Callable[[Callable[[Path], object]], Callable[[Path], object]]:
    """Register a maker; it gets a folder that is there and empty."""

    def register(make: Callable[[Path], object]) -> Callable[[Path], object]:
        ROWS.append(Row(make.__name__, what, make, warning, slow))
        return make

    return register


def simple(name: str, what: str, data: Callable[[], bytes], warning: str | None = None, slow: bool = False) -> None:
    ROWS.append(Row(name, what, lambda folder: (folder / "hostile.log").write_bytes(data()), warning, slow))


def tar(entries: list[tarfile.TarInfo], data: bytes = TEXT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        for entry in entries:
            entry.size = len(data) if entry.isreg() else 0
            made.addfile(entry, io.BytesIO(data) if entry.isreg() else None)
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, link
    return entry


def zipped(names: list[str], data: bytes = TEXT) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name in names:
            made.writestr(name, data)
    return buffer.getvalue()


def notebook(outputs: object) -> bytes:
    return json.dumps(
        {"nbformat": 4, "cells": [{"cell_type": "code", "execution_count": 1, "outputs": outputs, "source": []}]}
    ).encode()


def nested_tar(levels: int) -> bytes:
    data = TEXT
    for _ in range(levels):
        data = tar([member("inner.tar")], data)
    return data


NOISE = random.Random(8)
simple("empty", "a file of 0 bytes", bytes, "empty")
simple("one_newline", "a single line end", lambda: b"\n")
simple("random", "1 MiB of random bytes", lambda: NOISE.randbytes(1 << 20), "binary")
simple("nuls", "4 MiB of NULs", lambda: bytes(4 << 20))
simple("nuls_inside", "text with a megabyte of NULs in its middle", lambda: TEXT + bytes(1 << 20) + TEXT)
simple("long_line", "one line of 200 MB without a line end", lambda: b"loss 1.0 Killed process " * (200_000_000 // 24), slow=True)
simple("long_line_short", "one line of 20 MB without a line end", lambda: b"loss 1.0 Killed process " * (20_000_000 // 24))
simple(
    "parens",
    "50 lines of 5,000 ( and 5,000 ) and a signature's anchor",
    lambda: (b"(" * 5000 + b")" * 5000 + b" Killed process\n") * 50,
)
simple("anchors", "200,000 lines of anchors alone", lambda: b"out of memory Xid NCCL WARN Killed process Traceback\n" * 200_000)
simple(
    "escapes",
    "terminal escapes by the megabyte, half of them unfinished",
    lambda: b"\x1b[31m\x1b]0;" * 100_000 + b"\n" + b"\x1b]" * 500_000,
)
simple(
    "returns", "a progress bar of 500,000 frames on one line", lambda: b"\r 50%|#####     | 5/10 [00:01<00:01, 5.0it/s]" * 500_000
)
for _kind, _pack in (("gzip", gzip.compress), ("xz", lzma.compress)):
    simple(f"{_kind}_cut", f"{_kind} cut in half", lambda p=_pack: p(NOISE.randbytes(3 << 16).hex().encode())[:100_000])
    simple(f"{_kind}_head_only", f"the first 8 bytes of {_kind}", lambda p=_pack: p(TEXT)[:8])
    simple(f"{_kind}_flipped", f"{_kind} with bytes overwritten", lambda p=_pack: p(TEXT)[:60] + b"\xff" * 20 + p(TEXT)[80:])
    simple(
        f"{_kind}_bomb",
        f"text and 600 MiB of zeros in {_kind}",
        lambda p=_pack: p(TEXT * 9 + bytes(600 << 20)),
        "limit",
        slow=True,
    )
simple("zip_cut", "zip without its end", lambda: zipped(["a.log"])[:-30])
simple("zip_wrong_magic", "text that begins like a zip", lambda: b"PK\x03\x04" + TEXT)
simple("gzip_wrong_magic", "text that begins like gzip", lambda: b"\x1f\x8b\x08" + TEXT)
simple("zstd_wrong_magic", "random bytes that begin like zstd", lambda: b"\x28\xb5\x2f\xfd" + NOISE.randbytes(5000))
simple("journal_wrong_magic", "a binary journal's magic and random bytes", lambda: b"LPKSHHRH" + NOISE.randbytes(100_000))
simple("tar_cut", "tar cut inside a member", lambda: tar([member("a.log"), member("b.log")])[:30_000])
simple(
    "tar_header_damaged",
    "tar with a damaged second header",
    lambda: (t := tar([member("a.log"), member("b.log")]))[:21_000] + b"\xff" * 900 + t[21_900:],
)
simple("tar_nested", "a tar in a tar in a tar in a tar", lambda: nested_tar(4), "limit")
simple("tar_many", "25,000 members", lambda: tar([member(f"{i}.log") for i in range(25_000)], b""), slow=True)
simple(
    "tar_traversal",
    "members ../../x, /etc/x, a\\..\\x",
    lambda: tar([member("../../hostile-out"), member("/tmp/hostile-out"), member("a\\..\\x")]),
)
simple("tar_links", "symbolic and hard links to /etc/passwd, a device, a FIFO", lambda: tar([
    member("s", tarfile.SYMTYPE, "/etc/passwd"), member("h", tarfile.LNKTYPE, "../../etc/passwd"), member("d", tarfile.CHRTYPE),
    member("f", tarfile.FIFOTYPE), member("real.log")]))  # fmt: skip
simple("zip_traversal", "members ../x and /x, one name twice", lambda: zipped(["../x.log", "/x.log"]))
simple(
    "zip_bad_names",
    "names with newline, escape, right-to-left mark",
    lambda: zipped(["a\nb.log", "\x1b[31mx.log", "\u202egol.exe"]),
)
simple("json_deep", '{"a": 100,000 levels deep', lambda: b'{"a":' * 100_000)
simple("json_deep_values", "[1,[1,... 300,000 levels deep in a notebook", lambda: b'{"cells":' + b'[1,{"a":' * 150_000)
simple("json_deep_record", "a log of JSON lines with one line 200,000 levels deep", lambda: b'{"time":"2026-11-21T08:00:00Z","level":"info","msg":"a"}\n' * 9
       + b'{"time":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n")  # fmt: skip
simple("docker_deep", "Docker's log with a record 200,000 levels deep", lambda: b'{"log":"a\\n","stream":"stderr","time":"2026-08-22T03:00:07Z"}\n{"log":'
       + b'[' * 200_000 + b"\n" + b'{"log":"b\\n","stream":"stderr","time":"2026-08-22T03:00:07Z"}\n')  # fmt: skip
simple("json_huge_numbers", "numbers of 50,000 digits, 1e999, NaN", lambda: b'{"time":%b,"level":%b,"msg":"a"}\n' % (b"9" * 50_000, b"9" * 50_000)
       + b'{"time":1e999,"level":NaN,"msg":"x"}\n' * 5)  # fmt: skip
simple("dmesg_json_huge", "dmesg's JSON with a time and a priority beyond every integer", lambda: b'{\n "dmesg": [\n {"pri": %b, "time": %b, "msg": "x"},\n'
       b'{"pri": -3, "time": 1e999, "msg": "x"}, {"pri": "a", "time": [], "msg": {}}\n]}\n' % (b"9" * 4000, b"9" * 4000))  # fmt: skip
simple("kmsg_huge", "kmsg with numbers of 9,000 digits", lambda: b"6,1,1,-;a\n6," + b"9" * 9000 + b"," + b"9" * 9000 + b",-;x\n")
simple("notebook_types", "a notebook whose outputs are numbers, whose texts are objects", lambda: notebook(
    [1, None, {"output_type": 3}, {"output_type": "stream", "text": {"a": 1}}, {"output_type": "error", "traceback": 7, "ename": []}]))  # fmt: skip
simple("notebook_no_list", "a notebook whose cells are a string", lambda: b'{"nbformat": 4, "cells": "none"}')
simple(
    "notebook_cut",
    "a notebook cut inside an escape",
    lambda: notebook([{"output_type": "stream", "text": ["a\u20ac"] * 50}])[:-400],
)
simple(
    "error_file_types",
    "torchelastic's error file with wrong types",
    lambda: b'{"message": {"message": 5, "extraInfo": [], "py_callstack": 3}}',
)
simple("year_0", "stamps of year 0000", lambda: b"0000-00-00T00:00:00Z error x\n" * 50 + OOM)
simple(
    "year_9999",
    "stamps of year 9999 with the largest offsets",
    lambda: b"9999-12-31T23:59:59-23:59 error x\n" * 50 + b"0001-01-01T00:00:00+23:59 x\n" * 9,
)
simple(
    "uptime_huge",
    "kernel stamps of 30 digits",
    lambda: b"[999999999999999999999999999999.999999] Out of memory: Killed process 1 (x)\n" * 9,
)
simple(
    "fold",
    "an hour that happens twice",
    lambda: b"".join(b"2026-10-25 0%d:%02d:00,000 INFO step %d\n" % (2, m % 60, m) for m in range(120)),
)
simple(
    "other_languages",
    "logs in Chinese, Arabic, Russian and emoji",
    lambda: ("错误：内存不足\nخطأ: نفدت الذاكرة\nУбито\n💥🔥\n" * 500).encode(),
)
simple("utf16", "UTF-16 with an odd byte at its end", lambda: TEXT.decode().encode("utf-16") + b"\x00")
simple(
    "bad_utf8", "bytes that are no UTF-8 in each line", lambda: b"error \xff\xfe\xc3( \xed\xa0\x80 \xf8\x88\x80\x80\x80\n" * 2000
)
simple("huge_numbers_text", "numbers of 5,000 digits where records read numbers", lambda: b"CUDA out of memory. Tried to allocate " + b"9" * 5000
       + b" GiB (GPU 0; 1e400 GiB total)\nNVRM: Xid (PCI:0000:01:00): 79, pid=" + b"9" * 5000 + b"\nexitcode  : -" + b"9" * 5000 + b"\n")  # fmt: skip


@row("a symbolic link to its own folder, and two that point at each other", "unreadable")
def link_loops(folder: Path) -> None:
    (folder / "self").symlink_to(folder, target_is_directory=True)
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")


@row("a FIFO that nobody writes to", "skipped")
def fifo(folder: Path) -> None:
    os.mkfifo(folder / "pipe.log")


@row("a socket", "skipped")
def unix_socket(folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)  # the path of a socket is at most 107 bytes long
    try:
        socket.socket(socket.AF_UNIX).bind("sock.log")
    finally:
        os.chdir(here)


@row("links to /dev/zero, /dev/random and a terminal", "skipped")
def devices(folder: Path) -> None:
    for name in ("zero", "random", "ptmx"):
        (folder / name).symlink_to(f"/dev/{name}")


@row("a link to a file whose reading fails at once (EIO)", "skipped")
def read_error(folder: Path) -> None:
    (folder / "memory.log").symlink_to("/proc/self/mem")


@row("paths with newline, escape, right-to-left mark, and bytes that are no UTF-8")
def bad_names(folder: Path) -> None:
    for name in (b"a\nb.log", b"\x1b[31mred.log", b"\xff\xfe.log", "\u202egol.exe".encode(), b"=cmd.log", b"<script>.log", b" "):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(TEXT)


@row("2,000 small files", slow=True)
def many_files(folder: Path) -> None:
    for i in range(2000):
        (folder / f"{i:05}.log").write_bytes(b"2026-11-21 08:00:00 INFO step\n")


@row("one line of 2 GB without a line end", slow=True)
def long_line_2gb(folder: Path) -> None:
    block = (b"loss 1.0 Killed process " * 44_000)[: 1 << 20]
    with (folder / "hostile.log").open("wb") as file:
        for _ in range(2000):
            file.write(block)


@row("100,000 small files", "limit", slow=True)
def very_many_files(folder: Path) -> None:
    for i in range(100_000):
        (folder / f"{i:06}.log").write_bytes(b"2026-11-21 08:00:00 INFO step\n")


@row("folders 200 deep")
def deep_folders(folder: Path) -> None:
    inner = folder.joinpath(*["d"] * 200)
    inner.mkdir(parents=True)
    (inner / "a.log").write_bytes(TEXT)


@row("a binary journal with a header that points outside")
def journal_header(folder: Path) -> None:
    (folder / "system.journal").write_bytes(b"LPKSHHRH" + struct.pack("<II", 0, 0) + b"\xff" * 300)


def lay(row: Row, folder: Path) -> Path:
    """The input of `row` with the kernel log beside it, in `folder`."""
    inside = folder / "hostile"
    inside.mkdir(parents=True)
    row.make(inside)
    (folder / "dmesg.log").write_bytes(OOM)
    return folder

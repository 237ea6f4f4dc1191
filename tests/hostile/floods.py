"""More hostile inputs, rows as in inputs.py: what is harmless once, by the hundred thousand."""

import gzip
import io
import json
import os
import struct
import zipfile
from pathlib import Path

from tests.hostile.inputs import ROWS, notebook, row, simple

__all__ = ["ROWS"]

FAILED = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]}


def overlapping_zip(entries: int) -> bytes:
    """Many entries that share the compressed bytes of one, 200 MB of a single letter."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("00000", b"A" * 200_000_000)
    raw = made.getvalue()
    start = raw.index(b"PK\x01\x02")
    entry = raw[start : raw.index(b"PK\x05\x06")]
    names = b"".join(entry[:46] + b"%05d" % i + entry[51:] for i in range(entries))
    return raw[:start] + names + struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, entries, entries, len(names), start, 0)


def many_members(entries: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for i in range(entries):
            archive.writestr(f"{i}.log", b"x\n")
    return made.getvalue()


def kills(count: int) -> bytes:
    told = "[%d.0] Out of memory: Killed process %d (python) total-vm:9kB, anon-rss:7kB, file-rss:0kB, shmem-rss:0kB\n"
    return "".join(told % (i, i) for i in range(count)).encode()


simple(
    "notebook_one_emoji",
    "a notebook with a text of 120 MB, one character of which needs four bytes",
    lambda: json.dumps(
        {"cells": [{"cell_type": "code", "outputs": [{"text": "\N{FIRE}" + "y" * 120_000_000}]}]}, ensure_ascii=False
    ).encode(),
    slow=True,
)
simple("notebook_cells", "a notebook of 100,000 outputs that failed", lambda: notebook([FAILED] * 100_000), slow=True)
simple(
    "notebook_brackets",
    "a notebook of 20 million brackets",
    lambda: b'{"cells": [{"cell_type": "code", "outputs": [' + b"[" * 20_000_000,
    "limit",
    slow=True,
)
simple("json_list_brackets", "a list of 12 million numbers where records should be", lambda: b'[{"stream_name": "stdout", "time": 1, "data": "a"}' + b",1" * 12_000_000, "limit", slow=True)  # fmt: skip
simple("zip_overlap", "5,000 members that share the bytes of one: a terabyte in 0.4 MB", lambda: overlapping_zip(5_000), "limit")
simple("zip_many", "100,000 members", lambda: many_members(100_000), "limit", slow=True)
simple("gzip_members", "500,000 empty gzip members in a row", lambda: gzip.compress(b"") * 500_000, slow=True)
simple(
    "tracebacks", "a million first lines of tracebacks", lambda: b"Traceback (most recent call last):\n" * 1_000_000, slow=True
)
simple("frames", "a traceback of a million frames", lambda: b"Traceback (most recent call last):\n" + b'  File "/a.py", line 1, in f\n    f()\n' * 1_000_000
       + b"RecursionError: maximum recursion depth exceeded\n", slow=True)  # fmt: skip
simple("kills", "100,000 processes killed", lambda: kills(100_000), slow=True)


@row("5,000 FIFOs and 5,000 links to nothing", "skipped", slow=True)
def many_pipes(folder: Path) -> None:
    for i in range(5_000):
        os.mkfifo(folder / f"pipe{i}")
        (folder / f"link{i}").symlink_to("/nonexistent")


@row("a table saved as CSV with a quote that nothing closes, and 400 lines of 1 MB", slow=True)
def csv_open_quote(folder: Path) -> None:
    with (folder / "hostile.csv").open("wb") as file:
        file.write(b'@timestamp,@message\n2026-08-22 03:00:07,"torn\n')
        for _ in range(400):
            file.write(b"x" * 1_000_000 + b"\n")

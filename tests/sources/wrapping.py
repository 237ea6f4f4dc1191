"""One real log in the wrappings that people send logs in. Made here from a captured log, wrapping by wrapping."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import zstandard

START = datetime(2026, 8, 22, 3, 0, tzinfo=UTC)
Wrap = Callable[[bytes], bytes]


def tar(text: bytes, mode: str = "w", path: str = "var/log/kern.log") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in (("notes/empty", b""), (path, text), ("notes/readme", b"collected by hand\n")):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), 1_755_831_607
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def zipped(text: bytes, path: str = "var/log/kern.log") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes/readme", "collected by hand\n")
        archive.writestr(path, text)
    return out.getvalue()


def each_line(change: Callable[[int, str], str]) -> Wrap:
    def wrap(text: bytes) -> bytes:
        return "".join(change(i, line) for i, line in enumerate(text.decode().splitlines())).encode()

    return wrap


def stamp(i: int) -> str:
    return (START + timedelta(milliseconds=i)).strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"


def docker(i: int, line: str) -> str:
    return json.dumps({"log": line + "\n", "stream": "stderr", "time": stamp(i)}, separators=(",", ":")) + "\n"


def holes(text: bytes) -> bytes:
    """What a crash leaves: zeros where blocks were allotted and never written."""
    half = text.index(b"\n", len(text) // 2) + 1
    return bytes(4096) + text[:half] + bytes(512) + text[half:]


WAYS: dict[str, Wrap] = {
    "as it is": lambda t: t,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": lambda t: zstandard.ZstdCompressor().compress(t),
    "zlib": zlib.compress,
    "tar": tar,
    "tar.gz": lambda t: tar(t, "w:gz"),
    "tar.xz": lambda t: tar(t, "w:xz"),
    "zip": zipped,
    "gzip in zip": lambda t: zipped(gzip.compress(t), "kern.log.2.gz"),
    "zip in tar.gz": lambda t: tar(zipped(t), "w:gz", "old.zip"),
    "utf-16-le": lambda t: ("\ufeff" + t.decode()).encode("utf-16-le"),
    "utf-16-be": lambda t: ("\ufeff" + t.decode()).encode("utf-16-be"),
    "utf-16-le without mark": lambda t: t.decode().encode("utf-16-le"),
    "utf-16-be without mark": lambda t: t.decode().encode("utf-16-be"),
    "utf-8 with mark": lambda t: b"\xef\xbb\xbf" + t,
    "crlf": lambda t: t.replace(b"\n", b"\r\n"),
    "zeros": holes,
    "colours": each_line(lambda i, x: f"\x1b[32m{x[:15]}\x1b[0m\x1b[1m{x[15:]}\x1b[0m\n"),
    "quoted": each_line(lambda i, x: f"> {x}\n"),
    "docker": each_line(docker),
    "cri": each_line(lambda i, x: f"{stamp(i)} stderr F {x}\n"),
    "kubectl --timestamps": each_line(lambda i, x: f"{stamp(i)} {x}\n"),
    "kubectl --prefix": each_line(lambda i, x: f"[pod/train-0/main] {x}\n"),
    "srun -l": each_line(lambda i, x: f"3: {x}\n"),
    "syslog": each_line(lambda i, x: f"Aug 22 03:00:07 node-7 kernel: {x}\n"),
}

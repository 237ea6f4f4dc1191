"""Open files that are what they seem: regular files that end, inside the folder that was given.

A file is looked at before it is opened (O_PATH), and what is opened is what was looked at: nobody can put a link or a pipe in
its place in between.

    /proc/meminfo                      read, up to GENERATED_BYTES
    /proc/kmsg, a pipe, /dev/zero      refused: reading them does not end, or takes from others what it reads
    run/log -> /etc/passwd             refused where `run` was given, or is in $FORENSICS_ROOT; read where `run/log` was given
"""

import contextlib
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from forensics.core.text import format_size

ROOT_VARIABLE = "FORENSICS_ROOT"  # folders, separated as in $PATH: nothing outside of them is read
GENERATED_FOLDERS = ("/proc/", "/sys/")  # where the kernel makes the contents of files
NOTHING_NOW = "it has nothing to read now, and no end; reading stopped"
GENERATED_BYTES = 16 << 20  # of a file that the kernel makes; /proc/kallsyms, the largest that people collect, has 10 MB
LOOK_FLAGS = os.O_CLOEXEC | getattr(os, "O_PATH", os.O_NONBLOCK)  # without O_PATH (not Linux), a device is opened to look at it
READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
FILE_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Entry(NamedTuple):
    """A name in a folder. `is_folder`: also without following a link."""

    name: str
    is_folder: bool
    is_link: bool


class RefusedError(OSError):
    """The file is there and is not read. `kind`: that of the warning."""

    kind = "skipped"


class OutsideError(RefusedError):
    """It leads out of the folder that was given."""


def open_regular(path: Path | str, top: str | None = None) -> io.FileIO:
    """The regular file at `path`, to be read. `top`: the real path of a folder that it must be in.

    Raises RefusedError for anything else, and OSError if it cannot be opened.
    """
    looked = os.open(path, os.O_RDONLY | LOOK_FLAGS)
    try:
        status = os.fstat(looked)
        place = _real_path(looked, path)
        check_inside(place, top)
        check_kind(status, place)
        try:
            handle = os.open(f"/proc/self/fd/{looked}", READ_FLAGS)
        except FileNotFoundError:  # where there is no /proc
            handle = os.open(path, READ_FLAGS)
    finally:
        os.close(looked)
    opened = os.fstat(handle)
    if (opened.st_dev, opened.st_ino) != (status.st_dev, status.st_ino):  # where there is no /proc
        os.close(handle)
        raise RefusedError("it was replaced while it was opened")
    return io.FileIO(handle, "rb")


def read_short(opened: io.FileIO, most: int) -> tuple[os.stat_result, bytes]:
    """The status and at most the first `most` bytes of an open file, which is closed; fewer if an error stops the reading.
    Raises that error if nothing could be read."""
    with opened as file:
        status = os.fstat(file.fileno())
        size = min(most, status.st_size) if status.st_size else most
        if (data := file.read(size)) is None:
            raise OSError(NOTHING_NOW)
        with contextlib.suppress(OSError):
            while data and len(data) < size and (part := file.read(size - len(data))):
                data += part
        return status, data


def check_kind(status: os.stat_result, place: str) -> None:
    """Raise RefusedError if reading this file might not end. `place`: its real path."""
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in FILE_KINDS if test(status.st_mode)), "no regular file")
        raise RefusedError(f"{kind}, not a regular file; it was not opened")
    if place.startswith(GENERATED_FOLDERS) and not status.st_mode & stat.S_IROTH:
        raise RefusedError("the kernel makes it for one reader, and it may have no end; it was not opened")


def check_inside(place: str, top: str | None) -> None:
    """Raise OutsideError unless the real path `place` is inside `top` and inside one of the roots, as far as there are any."""
    if top is not None and not _inside(place, top):
        raise OutsideError("a link that leads out of the folder; it was not followed")
    roots = [os.path.realpath(root) for root in os.environ.get(ROOT_VARIABLE, "").split(os.pathsep) if root]
    if roots and not any(_inside(place, root) for root in roots):
        raise OutsideError("outside of the folders that may be read")


def looked_at(path: Path | str) -> tuple[str, os.stat_result]:
    """The real path and the status of what is at `path`, which is not opened for reading. Raises OSError if there is nothing."""
    looked = os.open(path, os.O_RDONLY | LOOK_FLAGS)
    try:
        return _real_path(looked, path), os.fstat(looked)
    finally:
        os.close(looked)


def open_folder(path: Path | str, top: str | None = None) -> tuple[str, list[Entry]]:
    """The real path of a folder and what is in it; raises OutsideError where it is not in `top`, OSError if it cannot be read."""
    with _opened_folder(path, top) as (handle, place), os.scandir(handle) as found:
        return place, [Entry(e.name, e.is_dir(follow_symlinks=False), e.is_symlink()) for e in found]


def folder_place(path: Path | str, top: str | None = None) -> str:
    """The real path of a folder, which has to be one that open_folder() opens; what is in it is not looked at."""
    with _opened_folder(path, top) as (_, place):
        return place


@contextlib.contextmanager
def _opened_folder(path: Path | str, top: str | None) -> Iterator[tuple[int, str]]:
    """The descriptor and the real path of a folder."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        place = _real_path(handle, path)
        check_inside(place, top)
        yield handle, place
    finally:
        os.close(handle)


def _inside(place: str, top: str) -> bool:
    return place == top or place.startswith(top.rstrip("/") + "/")


def _real_path(handle: int, path: Path | str) -> str:
    """The path of an open file without links."""
    try:
        return os.readlink(f"/proc/self/fd/{handle}")
    except OSError:
        return os.path.realpath(path)


class FileAsOpened(io.RawIOBase):
    """A file up to the size that it had when it was opened: a file that grows faster than it is read would never end.

    Files that the kernel makes (/proc) have no size. They are read to their end, at most GENERATED_BYTES.
    """

    def __init__(self, file: io.FileIO) -> None:
        self.file = file
        self.at = 0  # asking the file for it takes as long as a small read
        self.sized = bool(os.fstat(file.fileno()).st_size)
        self.size = file.seek(0, io.SEEK_END) if self.sized else GENERATED_BYTES
        if self.sized:
            file.seek(0)

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes, and none beyond the size at opening."""
        left = max(0, self.size - self.at)
        data = self.file.read(min(size, left) if size >= 0 else left)
        if data is None:
            raise OSError(NOTHING_NOW)
        self.at += len(data)
        return data

    def read_lines(self, most: int, near_end: int) -> bytes:
        """As `read`, but up to the last line end of these bytes if it is within `near_end` bytes of their end, so that no line
        has to be joined."""
        near = b""
        if self.sized and self.size - self.at > most:
            near = os.pread(self.file.fileno(), near_end, self.at + most - near_end)
        return self.read(most - len(near) + near.rfind(b"\n") + 1 if b"\n" in near else most)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to `offset`; SEEK_END counts from the size at opening."""
        self.at = self.file.seek(self.size + offset) if whence == io.SEEK_END else self.file.seek(offset, whence)
        return self.at

    def fileno(self) -> int:
        """The descriptor of the file."""
        return self.file.fileno()

    def tell(self) -> int:
        """The offset of the next read."""
        return self.at

    def close(self) -> None:
        """Close the file, too."""
        self.file.close()
        super().close()

    def readable(self) -> bool:
        """True: it can be read."""
        return True

    def seekable(self) -> bool:
        """True, as for every file with a size."""
        return self.sized

    def left_out(self) -> str:
        """A sentence about what there is beyond the bytes that were read, empty if there is nothing."""
        if self.sized:
            grown = self.file.seek(0, io.SEEK_END) > self.size
            return f"it grew while it was read; only {self.size:,} bytes were read" if grown else ""
        more = self.at >= self.size and bool(self.file.read(1))
        return f"the kernel makes it without an end; only {format_size(self.size)} were read" if more else ""

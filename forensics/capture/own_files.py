"""Files that are open in a program which is watched, and that may be closed there behind our back.

    with guard():
        os.closerange(3, 256)               # as daemons do
        checkpoint = open("last.pt", "wb")  # the system gives the program a number that was ours

A number is used and closed only as long as it still means the file that was opened. They are high numbers, which a program gets
last.
"""

from __future__ import annotations

import contextlib
import os

MAX_FILE_NUMBER = 1024  # a process has so many numbers by default; higher ones would make its table of files grow
FREE_NUMBERS = 128  # chosen by hand: below the highest number, for us and for others that want a high one


class OwnFile:
    """An open file by its number. `fd` is taken over: the file gets a high number, and `fd` is closed."""

    def __init__(self, fd: int) -> None:
        self.fd = _moved_up(fd)
        self._opened = _identity(self.fd)

    @property
    def is_own(self) -> bool:
        """Does the number still mean this file?"""
        return self.fd >= 0 and self._opened is not None and _identity(self.fd) == self._opened

    def close(self) -> None:
        """Close the file, if that was not done by somebody else."""
        if self.is_own:
            with contextlib.suppress(OSError):
                os.close(self.fd)
        self.fd = -1


def new_file(path: str) -> OwnFile:
    """The file `path`, for writing at its end. Raises OSError."""
    return OwnFile(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))


def _moved_up(fd: int) -> int:
    """The same file under a high number; `fd` itself where there is none left."""
    try:
        import fcntl
        import resource
    except ImportError:  # Windows
        return fd
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = MAX_FILE_NUMBER if limit == resource.RLIM_INFINITY else min(limit, MAX_FILE_NUMBER)
    try:
        moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, max(highest - FREE_NUMBERS, fd))
    except OSError:
        return fd
    os.close(fd)
    return moved


def _identity(fd: int) -> tuple[int, int] | None:
    """What no other open file has; None for a closed one."""
    try:
        status = os.fstat(fd)
    except OSError:
        return None
    return status.st_dev, status.st_ino

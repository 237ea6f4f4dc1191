"""The job's standard streams: the kind of each, what replaces it in the job, and how its output is relayed.

terminal        a pty in a session of its own, led by the supervisor
pipe, /dev/null a pipe; a thread copies from it to the log and to the original stream
regular file    the file itself; its size is looked at each second, and its new content is copied at the end
anything else   itself; its output is not captured
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import stat
import struct
import termios
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from forensics.capture.joblog import JobLog

STREAM_BLOCK_BYTES = 1 << 18  # read at once from a job that writes faster than it is read
LINES_BYTES = 1 << 13  # read at once from a job that writes single lines: a large buffer would be allocated at each read
PIPE_BYTES = 1 << 20  # the greatest size that /proc/sys/fs/pipe-max-size allows by default: a job seldom waits for its reader


class JobStreams:
    """Standard output and error of the job. Made before the supervisor is forked; `pty`: they are a terminal. `closed`: those
    that are closed, and here only held."""

    def __init__(self, closed: Collection[int] = ()) -> None:
        self.pty = any(is_terminal(fd) for fd in (1, 2))
        self.master = self.slave = -1
        self.files: list[tuple[str, int]] = []
        self.followed: list[int] = []  # descriptors of these files: a file that is renamed is still the job's
        self.reader_left = False  # of the job's output
        self.unseen = False  # a stream goes to a socket or a device: what comes there cannot be seen
        self._pipes: dict[int, tuple[int, int]] = {}  # stream -> the end of this process, the job's end
        self._same = _is_one_file()
        self._threads: list[threading.Thread] = []
        self._busy: dict[int, float] = {}
        if self.pty:
            self.master, self.slave = os.openpty()
            terminal = 2 if is_terminal(2) else 1
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self.slave, termios.TCSANOW, termios.tcgetattr(terminal))
            self.resize()
        for fd in (1, 2):
            kind = "closed" if fd in closed else _kind(fd)
            if kind == "pipe" and not (fd == 2 and self._same):
                self._pipes[fd] = self._pipe()
            elif kind == "file" and not (fd == 2 and self._same):
                self._follow(fd)
            self.unseen |= kind == "other"

    def _pipe(self) -> tuple[int, int]:
        ours, theirs = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        return ours, theirs

    def _follow(self, fd: int) -> None:
        self.followed.append(fd)
        with contextlib.suppress(OSError):
            path = os.readlink(f"/proc/self/fd/{fd}")
            self.files.append((path, os.lseek(fd, 0, os.SEEK_CUR) if not _appends(fd) else os.fstat(fd).st_size))

    def resize(self) -> None:
        """Give the pty the size of the terminal."""
        terminal = 2 if is_terminal(2) else 1
        with contextlib.suppress(OSError):
            size = fcntl.ioctl(terminal, termios.TIOCGWINSZ, struct.pack("HHHH", 0, 0, 0, 0))
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def lead_session(self) -> None:
        """In the supervisor: lead a session whose terminal is the pty."""
        if self.pty:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def in_job(self) -> None:
        """In the job, before its program starts: put its streams in place."""
        if self.pty:
            os.setpgid(0, 0)
            os.tcsetpgrp(self.slave, os.getpid())
            for fd in (0, 1, 2):
                if is_terminal(fd):
                    os.dup2(self.slave, fd)
        for fd, (_, theirs) in self._pipes.items():
            os.dup2(theirs, fd)
            if fd == 1 and self._same:
                os.dup2(theirs, 2)

    def opened(self) -> None:
        """In the supervisor, once the job runs: close the job's ends, once."""
        for fd, (ours, theirs) in self._pipes.items():
            if theirs >= 0:
                os.close(theirs)
                self._pipes[fd] = ours, -1
        if self.pty and self.slave >= 0:
            os.close(self.slave)  # as long as this process keeps the terminal open, it does not report its end
            self.slave = -1

    def give_terminal(self, group: int) -> None:
        """Make process group `group` the foreground group of the pty."""
        with contextlib.suppress(OSError):
            os.tcsetpgrp(self.master, group)

    def close_own_ends(self) -> None:
        """In `run`, after the supervisor is forked: close everything except the pty's master."""
        for ours, theirs in self._pipes.values():
            os.close(ours)
            os.close(theirs)
        if self.pty:
            os.close(self.slave)

    def relay(self, log: JobLog | None) -> None:
        """Begin to relay the output."""
        routes = [(ours, fd) for fd, (ours, _) in self._pipes.items()]
        if self.pty:
            routes.append((self.master, 2 if is_terminal(2) else 1))
        for ours, to in routes:
            thread = threading.Thread(target=self._copy, args=(ours, to, log), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _copy(self, ours: int, to: int, log: JobLog | None) -> None:
        name = "terminal" if ours == self.master else str(to)
        size = LINES_BYTES
        while True:
            try:
                data = os.read(ours, size)
            except OSError:  # a pty that no process has open any more
                break
            if not data:
                break
            size = STREAM_BLOCK_BYTES if len(data) == size else LINES_BYTES
            self._busy[ours] = time.monotonic()
            if log is not None:
                log.add(name, data.replace(b"\r\n", b"\n") if ours == self.master else data)
            if not _write_all(to, data):
                self.reader_left = True
                break
        if ours != self.master:
            os.close(ours)  # the reader is gone: the job's next line ends the job, as without a capture

    def drain(self, timeout_s: float | None) -> None:
        """Wait until all output is relayed, but at most `timeout_s` after the last output: a process left behind may keep it
        open."""
        for thread in self._threads:
            if timeout_s is None:
                thread.join()
                continue
            begun = time.monotonic()
            while thread.is_alive():
                thread.join(0.01)
                if time.monotonic() - max([begun, *self._busy.values()]) > timeout_s:
                    break

    def all_relayed(self) -> bool:
        """Has all output been relayed, and does no process write any more?"""
        return not any(thread.is_alive() for thread in self._threads)


def _write_all(fd: int, data: bytes) -> bool:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            select.select([], [fd], [], 1.0)
        except OSError:
            return False
    return True


def hold_closed() -> set[int]:
    """The standard streams that are closed. In this process they are held open, so that nothing else that is opened gets their
    numbers; the job finds them closed."""
    closed = set()
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            closed.add(fd)
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free is this one
    return closed


def is_terminal(fd: int) -> bool:
    """Is it open on a terminal?"""
    try:
        return os.isatty(fd)
    except OSError:
        return False


def _kind(fd: int) -> str:
    """terminal | pipe | file | other | closed"""
    try:
        found = os.fstat(fd)
    except OSError:
        return "closed"
    if is_terminal(fd):
        return "terminal"
    if stat.S_ISFIFO(found.st_mode) or (stat.S_ISCHR(found.st_mode) and found.st_rdev == os.makedev(1, 3)):
        return "pipe"
    return "file" if stat.S_ISREG(found.st_mode) else "other"


def _is_one_file() -> bool:
    """Are stdout and stderr open on one pipe or file, as with 2>&1?"""
    try:
        return os.path.sameopenfile(1, 2) and not is_terminal(1)
    except OSError:
        return False


def _appends(fd: int) -> bool:
    return bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_APPEND)

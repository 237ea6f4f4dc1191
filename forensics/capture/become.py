"""Become the command of a job, as a shell starts it, and end as the job ended.

The signals are blocked and ignored as they were when `forensics run` was started; /bin/sh reads a script without a #! line.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, NoReturn

    from forensics.capture.options import Options

NOT_FOUND, NOT_EXECUTABLE = 127, 126  # exit statuses of shells (POSIX, 2.8.2)
NUL_WITHIN_BYTES = 80  # shells look for a NUL in so many first bytes to tell a program from a script
PR_SET_DUMPABLE = 4  # include/uapi/linux/prctl.h


def take_back_locale() -> None:
    """Undo what Python did to its own environment where the locale is C or POSIX (PEP 538): it sets LC_CTYPE, by which the job's
    programs would count and print other characters."""
    with contextlib.suppress(OSError), open("/proc/self/environ", "rb") as file:
        given = {entry.partition(b"=")[0] for entry in file.read().split(b"\0")}
        if b"LC_CTYPE" not in given:
            os.environ.pop("LC_CTYPE", None)


def execute(command: list[str], env: Mapping[str, str]) -> NoReturn:
    """Become the command. Raises OSError."""
    try:
        os.execvpe(command[0], command, env)
    except OSError as error:
        path = shutil.which(command[0], path=env.get("PATH"))
        if error.errno != errno.ENOEXEC or path is None or b"\0" in _head(path):
            raise
    os.execve("/bin/sh", ["sh", path, *command[1:]], env)


def refusal(command: list[str], error: OSError) -> str:
    """Why the system could not start the command."""
    foreign = error.errno == errno.ENOEXEC and _head(command[0]).startswith(b"\x7fELF")
    return f"{command[0]}: {error.strerror}" + (" (a program for another kind of machine)" if foreign else "")


def refused_status(error: OSError) -> int:
    """The exit status of a shell for a command that could not be started."""
    return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE


def _head(path: str) -> bytes:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(NUL_WITHIN_BYTES)
    return b""


def run_uncaptured(options: Options, why: str, child_signal: Any = None) -> NoReturn:
    """Become the command: the job runs even if the capture failed."""
    if not options.quiet:
        _say(f"nothing is captured{why and ': '}{why}")
    if hasattr(signal, "pthread_sigmask"):
        restore_signals(options.blocked, child_signal)
    try:
        execute(options.command, os.environ)
    except OSError as error:
        _say(refusal(options.command, error))
        os._exit(refused_status(error))


def _say(line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(2, f"forensics: {line}\n".encode())


def restore_signals(blocked: Iterable[int] | None, child_signal: Any = None) -> None:
    """Restore the signals that this program ignores or blocks. `child_signal`: how SIGCHLD was handled before."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN if child_signal == signal.SIG_IGN else signal.SIG_DFL)
    for number in (signal.SIGPIPE, getattr(signal, "SIGXFSZ", None)):
        if number is not None:
            signal.signal(number, signal.SIG_DFL)
    if blocked is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def end_as(status: int) -> NoReturn:
    """End with a wait status: by the same signal, but without a core file of this process, which tells nothing."""
    if os.WIFEXITED(status):
        os._exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    with contextlib.suppress(OSError, ValueError):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)  # safe: this process itself
    os._exit(128 + number)  # the first process of a container does not end by its own signal

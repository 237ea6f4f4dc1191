"""Wait for the job alone, and reap the orphans that this process adopts: two waits that can never take each other's children.

The job is reaped by its process id in the main thread. Helpers such as py-spy are started and reaped by the thread that collects;
that thread reaps the orphans, too, and knows its helpers. So every child is reaped once, by who started or adopted it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time

from forensics.capture import proc

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


class WaitingThread:
    """A thread that is started early and gets its work later."""

    def __init__(self) -> None:
        self._work: Callable[[], object] | None = None
        self._wanted = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to wait. Raises RuntimeError if the system allows no further thread."""
        self._thread.start()

    def do(self, work: Callable[[], object]) -> None:
        """Do `work` now."""
        self._work = work
        self._wanted.set()
        if self._thread.ident is None:
            self.start()

    def join(self, timeout_s: float) -> None:
        """Wait for its end, at most `timeout_s`."""
        if self._wanted.is_set() and self._thread.ident is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        self._wanted.wait()
        if self._work:
            self._work()


CHANGES, SEEN = os.WEXITED | os.WSTOPPED | os.WCONTINUED, os.WUNTRACED | os.WCONTINUED  # of the job, for waitid and for wait4
UNKNOWN_WAIT_STATUS = 255 << 8  # the wait status if the kernel does not tell the true one: never that of a good end
PR_SET_CHILD_SUBREAPER = 36  # include/uapi/linux/prctl.h
REAPED_S = 1.0  # chosen by hand: so soon the first process of the system reaps a process that ended
END_POLL_S = 0.2  # chosen by hand: the pause where the kernel cannot wake this process, or after an error that should not occur


def wait_for_job(
    job: int,
    pidfd: int,
    stopped: Callable[[int], None],
    ends: Callable[[], None],
    reaped: Callable[[int, int, float], None] | None,
    continued: Callable[[], None] = lambda: None,
) -> int:
    """Wait for the child `job` alone, and return its wait status. `stopped`: called with the signal that stops it; `continued`:
    when it goes on after that.

    `ends`: called when it has ended, before it is reaped. `reaped`: called with its pid, status and seconds of processor time. An
    error in one of them never ends the wait.
    """
    while True:
        try:
            found = os.waitid(os.P_PID, job, CHANGES | os.WNOWAIT)  # safe: our own child, reaped nowhere else
            if found is None or found.si_code in (os.CLD_EXITED, os.CLD_KILLED, os.CLD_DUMPED):
                _tell(ends)
            pid, status, used = os.wait4(job, SEEN | os.WNOHANG)  # safe: this child alone, which waits to be reaped
        except ChildProcessError:  # it cannot be waited for: its pidfd tells the end, and the status from Linux 6.15 on
            while (status_known := status_of_other(job, pidfd)) is None:
                proc.readable(pidfd, END_POLL_S)
            return status_known
        except OSError:
            time.sleep(END_POLL_S)
            continue
        if not pid:  # it was stopped and goes on already
            continue
        if os.WIFSTOPPED(status):
            _tell(stopped, os.WSTOPSIG(status))
            continue
        if os.WIFCONTINUED(status):
            _tell(continued)
            continue
        if reaped is not None:
            _tell(reaped, job, status, used.ru_utime + used.ru_stime)
        return status


def _tell(listener: Callable[..., None], *what: float) -> None:
    """Call `listener`; an error in it is its own."""
    with contextlib.suppress(Exception):
        listener(*what)


def status_of_other(job: int, pidfd: int) -> int | None:
    """The wait status of a process that was started by another one, which is gone; None while it is alive.

    If this process adopted it, it is reaped here. UNKNOWN_WAIT_STATUS if nothing tells the status.
    """
    with contextlib.suppress(ChildProcessError):
        pid, status = os.waitpid(job, os.WNOHANG)  # safe: this pid alone, and only if it is a child of this process
        return status if pid else None
    if pidfd < 0:
        return UNKNOWN_WAIT_STATUS
    if not proc.readable(pidfd):
        return None
    until = time.monotonic() + REAPED_S
    while (found := proc.exit_status(pidfd)) is None and time.monotonic() < until:  # known when its parent has reaped it
        time.sleep(0.01)
    return UNKNOWN_WAIT_STATUS if found is None else found


def reap_orphans(
    job: int, ending: Callable[[int], None], reaped: Callable[[int, int, float], None], helpers: Collection[int] = ()
) -> None:
    """Reap all adopted processes that ended, except `job`. To be called by the thread that starts `helpers` and reaps them."""
    while True:
        try:
            # Safe: WNOWAIT only looks. What is found is an orphan, or the job or a helper, which are left alone.
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None or found.si_pid == job or found.si_pid in helpers:
                return
            ending(found.si_pid)
            pid, status, used = os.wait4(found.si_pid, os.WNOHANG)  # safe: the orphan that was found, by its process id
        except ChildProcessError:
            return
        if pid:
            reaped(pid, status, used.ru_utime + used.ru_stime)


def adopt_orphans(adopt: bool = True) -> None:
    """Become the parent of the processes below this one whose own parent ended (prctl PR_SET_CHILD_SUBREAPER), or no longer."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)

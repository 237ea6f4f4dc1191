"""`run` stops with the job, so that its shell sees a stopped command. When the job goes on, `run` goes on, too.

kill -STOP JOB; kill -CONT JOB      the shell sees `run` stopped and continued, as if the job were its own child
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

from forensics.capture import proc

STOPS_WITHIN_S = 2.0  # chosen by hand: `run` stops so soon after the job; it may have gone on before it did
LOOK_S = 0.02  # between two looks whether it has stopped


class StoppedRun:
    """Continues `run`, the parent of this process, when the job was stopped and goes on."""

    def __init__(self) -> None:
        self.pid = os.getppid()
        self.pidfd = proc.open_pidfd(self.pid)
        self.stops = 0

    def job_stopped(self) -> None:
        """The job was stopped; `run` will stop."""
        self.stops += 1

    def job_continued(self) -> None:
        """The job goes on."""
        if self.stops:
            threading.Thread(target=self._continue, args=(self.stops,), daemon=True).start()

    def _continue(self, stops: int) -> None:
        """Continue `run` as soon as it has stopped, unless the job is stopped again or a shell continued both."""
        until = time.monotonic() + STOPS_WITHIN_S
        while self.stops == stops and time.monotonic() < until:
            found = proc.stat(self.pid)
            if found is None:
                return
            if found.state == "T":
                with contextlib.suppress(OSError):  # safe: by the pidfd, so to `run` or to nobody
                    proc.send_signal(self.pidfd, self.pid, signal.SIGCONT)
                return
            time.sleep(LOOK_S)

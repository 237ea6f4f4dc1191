"""Watch a process that this one did not start: for guard(), notebooks, schedulers.

    python -m forensics.capture watch '{"pid": 4711, "link": 5, "bundle": ..., "options": {...}}'

It has a pidfd of the process, so the exit status is known on Linux 6.15 and later, child or not. The caller has the other end of
`link` and may send one JSON message per line: {"text": ...} for job.log, {"note": {...}} for run.json, {"close": true, "error":
text or ""} to end the watch at once. When the link closes, the process is watched to its own end.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import time

from forensics.capture import proc
from forensics.capture.account import finish
from forensics.capture.bundle import Bundle, size_of
from forensics.capture.cell_output import CELL_OUTPUT
from forensics.capture.collector import Collector
from forensics.capture.growth import EarlyWarnings, Growth
from forensics.capture.joblog import JobLog
from forensics.capture.options import Options
from forensics.capture.reporting import act_on_death, analyse_bundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

REAP_WAIT_S = 5.0  # chosen by hand: before Linux 6.15 a status is known only after the parent has waited for its child
LAST_NOTES_S = 2.0  # chosen by hand: a notebook server notices the end of its kernel within a second, and then tells the cell
WATCHER_POLL_S = 0.2  # chosen by hand: without a link the end of the process is found by polling alone
POOL_SHUTDOWN_S = 2.0  # chosen by hand: a pool that is shut down ends its workers first, and itself so soon after them


class Watcher:
    """Watches `pid` until it ends or the watch is closed."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.options = Options(**request["options"])
        self.pid, self.link = int(request["pid"]), int(request["link"])
        self.bundle = Bundle(request["bundle"])
        self.files: list[tuple[str, int]] = [(path, int(start)) for path, start in request.get("files", [])]
        self.log = JobLog(self.bundle.folder, self.options.max_log_bytes)
        growth = Growth((path for path, _ in self.files), self.bundle.folder)
        self.said = int(request.get("said", -1))  # a pipe to whom shows early warnings
        self.collector = Collector(self.options, self.bundle, self.pid, False, self.log, self._say, growth)
        if self.options.warn:
            with contextlib.suppress(OSError):
                self.collector.warnings = EarlyWarnings([(self.log.path, 0), *self.files])
        self.collector.tree.forget(os.getpid())
        self.notes: dict[str, Any] = {}
        self.closed: dict[str, Any] | None = None
        self._rest = b""

    def _say(self, line: str) -> None:
        if self.said >= 0:
            with contextlib.suppress(OSError):
                os.write(self.said, f"{line}\n".encode())

    def watch(self) -> None:
        """Watch to the end, then close the bundle."""
        self.collector.start()
        while self.closed is None and self.collector.root_end() is None and self.pid in self.collector.tree.living:
            self._receive(WATCHER_POLL_S if self.link < 0 else 1.0)
        self._receive_last_notes()
        until = time.monotonic() + REAP_WAIT_S
        while self.closed is None and self.collector.root_end() is None and time.monotonic() < until:
            time.sleep(0.05)
        self._close()

    def _receive_last_notes(self) -> None:
        """Whoever watches a kernel tells the notebook and the cell only after the kernel's end, then closes the link."""
        until = time.monotonic() + LAST_NOTES_S
        self._receive(0)
        while self.link >= 0 and self.closed is None and time.monotonic() < until:
            self._receive(0.05)

    def _was_ended_by_pool(self, end: dict[str, Any]) -> bool:
        """Did a pool end its worker: while the worker was idle, or together with the whole pool? Used if `idle` is given.

        Ray ends idle workers with exit status 1, and workers of a node that is stopped with SIGTERM and SIGKILL.
        """
        if not self.options.idle:
            return False
        if end.get("signal") not in (signal.SIGTERM, signal.SIGKILL):
            return end.get("exit_code") == 1
        if re.fullmatch(self.options.idle, end["command"]):
            return True
        until = time.monotonic() + POOL_SHUTDOWN_S
        while (parent := proc.stat(end["ppid"])) is not None and parent.state != "Z":
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True

    def _receive(self, wait_s: float) -> None:
        if self.link < 0:
            time.sleep(wait_s)
            return
        while proc.readable(self.link, wait_s):
            data = b""
            with contextlib.suppress(OSError):
                data = os.read(self.link, 1 << 16)
            if not data:
                os.close(self.link)
                self.link = -1
                return
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._do(json.loads(line))
            wait_s = 0

    def _do(self, message: dict[str, Any]) -> None:
        if "text" in message:
            self.log.add("guard", message["text"].encode("utf-8", "replace"))
        if "note" in message:
            self.notes |= message["note"]
        if message.get("close"):
            self.closed = message

    def _close(self) -> None:
        end = self.collector.root_end() or {}
        error = str((self.closed or {}).get("error", ""))
        died = bool(error) or (
            self.closed is None and (end.get("signal") or end.get("exit_code") or end.get("how") == "vanished")
        )
        died = died and not self._was_ended_by_pool(end)
        self.collector.stop()
        crash = self.bundle.path("faulthandler.log")
        for path, start in [*self.files, *([(crash, 0)] if size_of(crash) > 0 else [])]:
            self.log.append_file(path, start)
        with contextlib.suppress(OSError):
            os.unlink(self.bundle.path(CELL_OUTPUT))
        if self.closed is not None and self.pid in self.collector.tree.living:
            self.collector.unavailable.append(
                {"what": "the exit status", "why": "the process went on when the guarded part ended", "command": ""}
            )
        finish(self.collector, self.bundle, self.log, None, self.notes)
        if died and self.options.report:
            analyse_bundle(self.bundle.folder, self.options)
            act_on_death(self.bundle.folder, self.options)
        if not died and self.options.keep != "always":
            self.bundle.remove()


def main(text: str) -> NoReturn:
    """Watch the process that `text`, a JSON object, names."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    request = json.loads(text)
    if os.fork():  # safe: no thread runs yet; the caller reaps this process at once, and the other one is no child of it
        os._exit(0)
    try:
        watcher = Watcher(request)
        if request.get("ready", -1) >= 0:
            with contextlib.suppress(OSError):
                os.write(request["ready"], b"+")
                os.close(request["ready"])
        watcher.watch()
    except Exception as error:  # no caller waits, and no fault of this process may disturb the job
        with contextlib.suppress(OSError), open(os.path.join(request["bundle"], "watch.failed"), "w", encoding="utf-8") as file:
            file.write(f"{type(error).__name__}: {error}\n")
        sys.exit(1)
    sys.exit(0)

"""A thread for one kernel process, from its start to its end: it follows the kernel's messages and reports why it died.

After a death this thread, and not the server's loop, takes over the kernel's ports, closes the capture, has the bundle analysed
and publishes the message. An end that a user requested is not reported.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import zmq

from forensics.adapters.jupyter.crash_stacks import ask_for_crash_stacks, name_cells
from forensics.adapters.jupyter.message import ERROR_NAME
from forensics.adapters.jupyter.running_cell import TOPICS, Cell, RunningCell, ran
from forensics.adapters.jupyter.stand_in import StandIn, subscriber
from forensics.capture.bundle import new_name, remove_oldest, state_folder
from forensics.capture.guard import watch
from forensics.capture.proc import readable

if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.adapters.jupyter.message import Analysis
    from forensics.capture.guard import Watch

STDERR = "kernel.stderr"
MAX_STDERR_BYTES = 16 << 20  # chosen by hand: of one kernel; a cell that prints in a loop must not fill the disk
ECHO_S = 0.5  # chosen by hand: the interval at which the kernel's stderr is passed on
STATUS_S = 1.0  # chosen by hand: within it the status of a process that has ended can be read
ZOMBIE_S = 0.03  # before Linux 6.15 the watcher reads the status of the zombie, so it is reaped a little later
MAX_BIND_ATTEMPTS = 10  # another program may take the free port before it is bound; it does not do so ten times in a row
MAX_INTERRUPT_TO_END_S = 5.0  # chosen by hand: a kernel that ends by SIGINT so soon after an interrupt was asked to end


class Kernel(NamedTuple):
    """A kernel that was just started. `group`: its process group, None if it is that of this process. `name`: its notebook."""

    process: subprocess.Popen[bytes]
    connection: dict[str, Any]
    bundle: str
    name: str
    group: int | None


class Timeouts(NamedTuple):
    """How many seconds to wait at most: until the capture is complete, for the report, and until the clients reconnect."""

    capture_s: float
    report_s: float
    clients_s: float


class DeathReporter(NamedTuple):
    """How deaths are reported.

    `analysis`: the process that analyses. `timeouts`: how long each step may take. `link`: bundle -> URL of its report.
    `answers`: answer requests of clients in place of the kernel. `again`: how the user runs the cells again, empty if nobody can.
    `report_death`: called with each death.
    """

    analysis: Analysis
    timeouts: Timeouts
    link: Callable[[str], str]
    answers: bool
    again: str
    report_death: Callable[[dict[str, Any]], None]


class KernelWatch(threading.Thread):
    """Watches `kernel`.

    `done` is set when its death was reported, or when there is nothing to report. `captures` is set when the capture has the
    process, so that it may be reaped. The provisioner sets `left` when no client uses this kernel any more. `kernel_info`: the
    kernel's description of itself, if its client has requested it.
    """

    def __init__(self, kernel: Kernel, reporter: DeathReporter) -> None:
        super().__init__(name=f"forensics-{kernel.process.pid}", daemon=True)
        self.kernel, self.reporter = kernel, reporter
        self.pidfd = os.pidfd_open(kernel.process.pid)
        self.done, self.captures, self.left = threading.Event(), threading.Event(), threading.Event()
        self.cell = RunningCell()
        self.kernel_info: dict[str, Any] = {}
        self._context: Any = zmq.Context()
        self._capture: Watch | None = None
        self._asked, self._interrupted = False, float("-inf")
        self._copied = 0

    def ask(self, signum: int = signal.SIGTERM) -> None:
        """Note that the user, or the server for them, ends or interrupts the kernel now."""
        if signum == signal.SIGINT:
            self._interrupted = time.monotonic()
            return
        self._asked = True
        self.left.set()
        self.done.set()
        if self._capture is not None:
            self._capture.close()

    def run(self) -> None:
        """The thread's work. A fault in it is written to the log and has no other effect."""
        try:
            socket = subscriber(self._context, self.kernel.connection, TOPICS)  # before the kernel says its first word
            asked = ask_for_crash_stacks(self._context, self.kernel.connection, self.kernel.process.args, self.kernel.bundle)
            self._begin()
            self._follow_messages(socket)
            asked.close()
            if self._died_unrequested():
                self._report_death()
        except Exception as error:
            print(f"forensics: a kernel's death could not be reported: {type(error).__name__}: {error}", file=sys.stderr)
        finally:
            self.captures.set()
            self.done.set()
            self._echo()
            os.close(self.pidfd)
            with contextlib.suppress(Exception):
                self._context.destroy(linger=200)

    def _begin(self) -> None:
        stderr = str(Path(self.kernel.bundle, STDERR))
        remove_oldest(state_folder())
        self._capture = watch(
            self.kernel.process.pid, bundle=self.kernel.bundle, name=self.kernel.name, files=[stderr], report=False
        )
        self.captures.set()
        if self._asked:
            self._capture.close()

    def _follow_messages(self, socket: Any) -> None:
        """Follow the messages until the process ends."""
        poller = zmq.Poller()
        poller.register(socket, zmq.POLLIN)
        poller.register(self.pidfd, zmq.POLLIN)
        ended = False
        while not ended:
            ended = self.pidfd in dict(poller.poll(int(ECHO_S * 1000)))
            with contextlib.suppress(zmq.Again):
                while True:
                    self.cell.take(socket.recv_multipart(zmq.NOBLOCK))
            self._echo()
        socket.close()

    def _echo(self) -> None:
        """Copy the kernel's stderr to our own."""
        with contextlib.suppress(OSError), Path(self.kernel.bundle, STDERR).open("r+b") as file:
            file.seek(self._copied)
            while data := file.read(1 << 16):
                self._copied += os.write(2, data)
            if self._copied > MAX_STDERR_BYTES:
                file.truncate(0)
                self._copied = 0

    def _died_unrequested(self) -> bool:
        """Did the kernel end badly, and without a request?"""
        time.sleep(ZOMBIE_S)
        status = self._status()
        if status == -signal.SIGINT and time.monotonic() - self._interrupted < MAX_INTERRUPT_TO_END_S:
            self.ask()
        return bool(status) and not self._asked

    def _status(self) -> int:
        """The status as in Popen: -9 for signal 9; 0 if unknown."""
        readable(self.pidfd, STATUS_S)
        return self.kernel.process.poll() or 0  # safe: the kernel alone; only now that its watch has read its status

    def _report_death(self) -> None:
        moment = datetime.now(UTC)
        cell = self.cell.now
        stand_in = self._stand_in()
        facts: dict[str, Any] = {
            "pid": self.kernel.process.pid,
            "status": describe_status(self._status()),
            "time": moment.isoformat(),
            "again": self.reporter.again,
        }
        at = self._cell_facts(cell)
        self._close_capture(at)
        facts |= at
        facts |= {"bundle": self.kernel.bundle, "link": self.reporter.link(Path(self.kernel.bundle).name)}
        message = self.reporter.analysis.of(facts, self.reporter.timeouts.report_s)
        if stand_in is not None and not self._asked:
            if cell is not None:
                self._publish(stand_in, message, cell.request)
            if self.reporter.answers:
                self.done.set()
                not_run = f"not run, the kernel died before: {message['error']}"
                stand_in.serve(cell_error(not_run, [not_run]), self.kernel_info, self.left)
            stand_in.close()
        self.reporter.report_death(facts | message)

    def _cell_facts(self, cell: Cell | None) -> dict[str, Any]:
        """Notebook, cell, and what of the cell was running; `line`: in the cell, 0 if unknown."""
        codes = dict(self.cell.codes)
        count = cell.number if cell else 0
        if cell and not count:  # its messages were lost with the kernel: it is the cell after the last one
            codes[count := max(codes, default=0) + 1] = cell.code
        line = name_cells(self.kernel.bundle, codes, count)
        code = ran(cell.code, line) if cell else ""
        return {"notebook": self.kernel.name, "count": count if line or not cell else cell.number, "line": line, "code": code}

    def _close_capture(self, notes: dict[str, Any]) -> None:
        """Close the capture and wait until the bundle is complete."""
        assert self._capture is not None
        self._capture.write(self.cell.printed())
        self._capture.note(**notes)
        self._capture.release()
        self._capture.wait(self.reporter.timeouts.capture_s)  # safe: for the watching process, with a limit; it reaps nothing

    def _stand_in(self) -> StandIn | None:
        """Take over the kernel's ports. Children of the dead kernel may still have them open; they are killed, as at a
        restart."""
        for attempt in range(MAX_BIND_ATTEMPTS):
            try:
                return StandIn(self._context, self.kernel.connection, self.reporter.timeouts.clients_s)
            except zmq.ZMQError:
                if attempt == 1 and self.kernel.group:
                    with contextlib.suppress(OSError):
                        # Safe: its ports are held, so one of the group lives, and the number is no other group's.
                        os.killpg(self.kernel.group, signal.SIGKILL)
                time.sleep(0.05)
        return None

    def _publish(self, stand_in: StandIn, message: dict[str, Any], request: dict[str, Any]) -> None:
        shown = {"data": {"text/plain": message["text"], "text/html": message["html"]}, "metadata": message["metadata"]}
        messages: list[tuple[str, dict[str, Any], dict[str, Any]]] = [("display_data", shown | {"transient": {}}, {})]
        error = cell_error(message["error"], message["text"].splitlines())
        if self.reporter.answers:
            messages.append(("error", error, {}))
        stand_in.publish(messages, request)
        if self.reporter.answers:
            stand_in.reply({"status": "error", "execution_count": message["metadata"]["forensics"]["count"], **error}, request)


def cell_error(why: str, traceback: list[str]) -> dict[str, Any]:
    """The content of an error message of a cell."""
    return {"ename": ERROR_NAME, "evalue": why, "traceback": traceback}


def describe_status(status: int) -> str:
    """-9 -> was ended by signal 9 (SIGKILL)"""
    if status >= 0:
        return f"ended with exit status {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by signal {-status} ({signal.Signals(-status).name})"
    return f"was ended by signal {-status}"


def new_bundle(name: str, kernel_id: str) -> str:
    """A new folder for the capture of a kernel. Raises OSError."""
    folder = Path(state_folder(), new_name(name, "kernel", kernel_id[:8]))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return str(folder)

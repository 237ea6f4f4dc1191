"""The supervising process of a job: it starts the job, relays its output, watches it and completes the bundle.

It survives a SIGKILL of the command `run` that the user sees; then job and output continue. If the output is a terminal, it leads
the session of a pty, in which job control works as on the terminal itself. Otherwise it stays in the process group of `run`, so
that it can distinguish a signal to the whole group from a signal to `run` alone.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import threading
import time

from forensics.capture import proc
from forensics.capture.account import closing_lines
from forensics.capture.bundle import Bundle
from forensics.capture.collector import Collector, WaitingThread
from forensics.capture.joblog import JobLog
from forensics.capture.prepare import job_environment, linked_folders
from forensics.capture.reporting import act_on_death, analyse_bundle, remember_end, reports_no_crash
from forensics.capture.streams import JobStreams
from forensics.capture.times import time_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from forensics.capture.options import Options

CAPTURED_COMMAND, PLAIN_COMMAND = b"c", b"p"  # commands to the job's process: begin, with captured streams or with those of `run`
DRAIN_S = 0.5  # chosen by hand: the wait after the end for the output of processes left behind
GROUP_SIGNAL_S = 0.005  # chosen by hand: a signal to a group reaches its members one after the other
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # exit statuses of shells (POSIX, 2.8.2)
GRACE_KERNEL_S = 0.02  # the kernel's lines about a kill arrive before wait() returns; those of a crash soon after


class JobSupervisor:
    """Starts and supervises the job. `link`: socket to `run`. `forwarded`: the signals that `run` forwards."""

    def __init__(self, options: Options, link: socket.socket, streams: JobStreams, forwarded: set[int]) -> None:
        self.options, self.link, self.streams, self.forwarded = options, link, streams, forwarded
        self.job, self.refused = 0, ""
        self.bundle: Bundle | None = None
        self.log: JobLog | None = None
        self.collector: Collector | None = None
        self.signals: list[dict[str, Any]] = []  # those that `run` received

    def send(self, **message: object) -> None:
        """Send a message to `run`, if it is still alive."""
        with contextlib.suppress(OSError):
            self.link.send(json.dumps(message).encode())

    def say(self, line: str) -> None:
        """Show one line to the user."""
        self.send(say=line)

    def keep(self) -> NoReturn:
        """Start the job and supervise it to its end; never returns."""
        signal.pthread_sigmask(signal.SIG_BLOCK, self.forwarded | {signal.SIGTTOU, signal.SIGTTIN, signal.SIGPIPE})
        self._open_bundle()
        go, heard = self._fork()
        collects = WaitingThread()
        try:
            collects = self._threads()
            word = CAPTURED_COMMAND
        except RuntimeError as error:  # no room for one more thread: the job has its own streams
            self.say(f"nothing is captured: {error}")
            word, self.bundle = PLAIN_COMMAND, None
        os.write(go, word)
        os.close(go)
        self.refused = os.read(heard, 4096).decode("utf-8", "replace")  # ends when the program has begun
        os.close(heard)
        self.streams.opened()
        if self.streams.pty and word == CAPTURED_COMMAND:
            self.streams.give_terminal(self.job)
        adopt_orphans()
        proc.protect_from_memory_killer()
        self.send(started=self.job)
        if self.bundle:
            try:
                self.collector = Collector(self.options, self.bundle, self.job, True, self.log, self.say)
                self.collector.refused, self.collector.signals = self.refused, self.signals
                self.collector.start(collects)
            except Exception as error:  # whatever it is, the job continues
                self.say(f"nothing is captured but the output: {type(error).__name__}: {error}")
        status = self._wait()
        self._close(status)
        self.streams.drain(None)
        os._exit(0)

    def _threads(self) -> WaitingThread:
        """Start all threads that are needed later, when the job may have reached the limit of processes.

        Raises RuntimeError if that limit is reached already.
        """
        threading.Thread(target=self._listen, daemon=True).start()
        collects = WaitingThread()
        collects.start()
        if self.bundle:
            self.log = JobLog(self.bundle.folder, self.options.max_log_bytes)
        self.streams.relay(self.log)
        return collects

    def _open_bundle(self) -> None:
        name = self.options.command[0] if self.options.command else "run"
        try:
            self.bundle = Bundle(self.options.folder, name)
            linked_folders(self.bundle.folder)
        except OSError as error:
            self.say(f"nothing is captured: {error.filename}: {error.strerror}")

    def _fork(self) -> tuple[int, int]:
        """Fork the process that becomes the job, which waits for a command. Returns the fds for the command and the answer."""
        env = dict(os.environ)
        if self.bundle:
            env |= job_environment(env, self.options, self.bundle.folder)
        heard, said = os.pipe()
        waits, go = os.pipe()
        self.job = os.fork()
        if self.job:
            if self.streams.pty:
                with contextlib.suppress(OSError):
                    os.setpgid(self.job, self.job)
            os.close(said)
            os.close(waits)
            return go, heard
        try:
            os.close(go)
            if os.read(waits, 1) == CAPTURED_COMMAND:
                self.streams.in_job()
            os.close(waits)
            restore_signals(self.forwarded)
            os.execvpe(self.options.command[0], self.options.command, env)
        except OSError as error:
            refused = f"{self.options.command[0]}: {error.strerror}"
            os.write(said, (refused if error.errno != errno.ENOEXEC else refused + binary_kind(self.options.command[0])).encode())
            os.write(2, f"forensics: {refused}\n".encode())
            os._exit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE)
        finally:
            os._exit(NOT_EXECUTABLE)

    def _wait(self) -> int:
        """The wait status of the job; adopted orphans are reaped."""
        while True:
            try:
                ending = os.waitid(os.P_ALL, 0, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
                if ending and self.collector:
                    self.collector.ending(ending.si_pid)
                pid, status, used = os.wait4(ending.si_pid if ending else -1, os.WUNTRACED)
            except ChildProcessError:
                return 0
            if pid == self.job and os.WIFSTOPPED(status):
                self.send(stopped=os.WSTOPSIG(status))
                continue
            if os.WIFSTOPPED(status):
                continue
            if self.collector:
                self.collector.reaped(pid, status, used.ru_utime + used.ru_stime)
            if pid == self.job:
                return status

    def _listen(self) -> None:
        """Act on the messages of `run`."""
        while True:
            try:
                data = self.link.recv(4096)
            except OSError:
                return
            if not data:
                return
            message = json.loads(data)
            if "signal" in message:
                self._pass_on(message)
            elif "resume" in message and self.streams.pty:
                self.streams.give_terminal(self.job)
                with contextlib.suppress(OSError):
                    os.killpg(self.job, signal.SIGCONT)

    def _pass_on(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            if self.streams.pty and message.get("typed"):
                os.killpg(self.job, message["signal"])
            elif self.streams.pty or not self._went_to_all(message["signal"]):
                os.kill(self.job, message["signal"])
        if message["signal"] not in (signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP):
            sent = {"time": time.time(), "signal": message["signal"], "to": self.job, "to_comm": "the command"}
            sent |= {"from": message["pid"], "from_comm": message.get("comm", ""), "uid": message["uid"], "code": message["code"]}
            sent |= {"from_command": message["command"]} if message.get("command") else {}
            self.signals.append(sent)

    def _went_to_all(self, number: int) -> bool:
        """Did this signal go to the whole group of `run` and the job? Then it is pending in this process, where it is blocked."""
        return signal.sigtimedwait({number}, GROUP_SIGNAL_S) is not None

    def _close(self, status: int) -> None:
        """After the job has ended: complete the bundle, have it analysed, and send the result to `run`."""
        self.send(ended=status)
        if self.collector is None or self.bundle is None or self.log is None:
            self.send(done="")
            return
        self.streams.drain(DRAIN_S)
        if status == 0 and self.options.keep == "crash" and not self.options.remember:
            self.send(done="", died=False)  # nobody waits for what nobody will read
        time.sleep(GRACE_KERNEL_S)
        self.collector.stop()
        for path, start in self.streams.files:
            self.log.append_file(path, start)
        finish(self.collector, self.bundle, self.log, status)
        died = status != 0
        if self.log.fault or self.bundle.fault:
            self.say(f"the capture is not whole: {self.log.fault or self.bundle.fault}")
        if not died and self.options.remember:
            remember_end(self.bundle.folder)
        if died and self.options.report:
            analyse_bundle(self.bundle.folder, self.options)
            died = not reports_no_crash(self.bundle.folder)
        if died and self.options.report:
            act_on_death(self.bundle.folder, self.options)
        keep = self.options.keep == "always" or (self.options.keep == "crash" and died)
        self.send(done=self.bundle.folder if keep else "", died=died)
        if not keep and not self.options.folder:
            self.bundle.remove()


def finish(
    collector: Collector,
    bundle: Bundle,
    log: JobLog | None,
    status: int | None,
    notes: dict[str, Any] | None = None,
    closing: list[str] | None = None,
) -> None:
    """Complete the bundle. `notes`: of the caller that asked for the capture. `closing`: the last lines of job.log."""
    lines = closing_lines(collector, status) if closing is None else closing
    if log is None:
        bundle.write("job.log", "".join(line + "\n" for line in lines))
    else:
        log.close(lines)
        bundle.write_rows("job.times", ([at, round(moment, 3)] for at, moment in log.times()))
    kernel = collector.kernel.finish()
    if kernel:
        bundle.write("kernel.log", "".join(line + "\n" for line in kernel))
    if collector.kernel.method:
        collector.unavailable = [c for c in collector.unavailable if c["what"] != "the kernel's log"]
    bundle.write_rows(
        "exits.jsonl",
        (
            {**e, "end": time_text(e["end"])} | ({"start": time_text(e["start"])} if "start" in e else {})
            for e in collector.tree.ends
        ),
    )
    bundle.write_rows("memory.jsonl", ({**r, "time": time_text(r["time"])} for r in collector.samples.rows))
    bundle.write_run(collector.run_record(True, status) | ({"notes": notes} if notes else {}))
    collector.tree.close()


def binary_kind(path: str) -> str:
    """Why the kernel could not start a file: it is a program for another kind of machine, or no program."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return " (a program for another kind of machine)" if file.read(4) == b"\x7fELF" else " (no program, and no #! line)"
    return ""


def adopt_orphans() -> None:
    """Become the parent of the job's processes whose own parent ended (prctl PR_SET_CHILD_SUBREAPER)."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def restore_signals(blocked: set[int]) -> None:
    """In the job: restore the signals that this program ignores or blocks."""
    for number in (signal.SIGPIPE, getattr(signal, "SIGXFSZ", None)):
        if number is not None:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, blocked | {signal.SIGTTOU, signal.SIGTTIN, signal.SIGPIPE})

"""The process that the user starts and waits for. It forwards signals and keys, stops and continues with the job, and returns
the job's status.

    forensics run -- python train.py       this process  --forks-->  supervisor  --starts-->  python train.py

A signal to the whole process group has reached the job, too, and is not forwarded again.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import termios
import threading
import time
import tty

from forensics.capture import proc
from forensics.capture.become import end_as, run_uncaptured
from forensics.capture.bundle import report_text
from forensics.capture.reaping import END_POLL_S, UNKNOWN_WAIT_STATUS, adopt_orphans, status_of_other
from forensics.capture.reporting import shown_report
from forensics.capture.streams import JobStreams, hold_closed, is_terminal
from forensics.capture.supervisor import JobSupervisor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from forensics.capture.options import Options

# Not forwarded: what no process can receive, the ends of children, and what this process may cause by what it writes.
OWN_SIGNALS = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ}
FROM_KERNEL = 128  # si_code SI_KERNEL: a key of the terminal, a terminal that went away
FOREVER_S = 3600.0  # a wait that a signal ends
TERMINAL_STOP_SIGNALS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)


def forwarded_signals() -> set[int]:
    """The signals to forward: all that were not ignored when this process was started (nohup, background)."""
    return {int(n) for n in signal.valid_signals() - OWN_SIGNALS if signal.getsignal(n) != signal.SIG_IGN}


def main(options: Options) -> NoReturn:
    """Run the command to its end; exits with its status."""
    wanted = forwarded_signals()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    options.blocked = sorted(before) if options.blocked is None else options.blocked
    child_signal = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, as it may be inherited, no status is kept
    try:
        streams = JobStreams(hold_closed())
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        adopt_orphans()  # if the supervisor is killed, the job becomes a child of this process, which can wait for it
        forked = os.fork()  # safe: this process waits for the job alone, and for the supervisor by their socket
    except OSError as error:  # a limit of open files or processes
        run_uncaptured(options, str(error.strerror), child_signal)
    if forked == 0:
        ours.close()
        try:
            streams.lead_session()
            JobSupervisor(options, theirs, streams, wanted, child_signal).keep()
        except BaseException as error:
            if not options.quiet:
                os.write(2, f"forensics: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(3)
    theirs.close()
    streams.close_own_ends()
    proc.protect_from_memory_killer()
    signal.pthread_sigmask(signal.SIG_BLOCK, wanted | {signal.SIGCHLD})
    front = Foreground(options, ours, streams, wanted)
    try:
        status = front.wait()
    finally:
        front.keys(False)
    if not front.job:  # the supervisor failed before the command began
        run_uncaptured(options, "", child_signal)
    front.close()
    end_as(status)


class Foreground:
    """The process that the user sees. `wait` returns when the job has ended."""

    def __init__(self, options: Options, link: socket.socket, streams: JobStreams, wanted: set[int]) -> None:
        self.options, self.link, self.streams, self.wanted = options, link, streams, wanted
        self.status: int | None = None
        self.done: dict[str, Any] | None = None
        self.job, self.pidfd = 0, -1
        self.lost = False
        self.stopped = 0
        self.saved: list[Any] | None = None
        self.interactive = streams.pty and is_terminal(0)
        self.keys(True)
        works = [self._listen, *([self._forward_keys] if self.interactive else [])]
        self.threads = [threading.Thread(target=work, daemon=True) for work in works]
        self._start_threads()

    def _start_threads(self) -> None:
        """Start the threads, or as many as the limit of processes allows now; until it allows the first, listen here."""
        while self.threads:
            try:
                self.threads[0].start()
            except RuntimeError:
                if len(self.threads) > int(self.interactive) and proc.readable(self.link.fileno()):
                    self._hear()
                return
            del self.threads[0]

    def keys(self, raw: bool) -> None:
        """Switch the terminal: raw, so that keys go to the job unchanged, or back to the shell's mode."""
        if not self.interactive:
            return
        with contextlib.suppress(termios.error, OSError):
            if raw and self.saved is None and _in_foreground():
                self.saved = termios.tcgetattr(0)
                tty.setraw(0, termios.TCSADRAIN)
            elif not raw and self.saved is not None:
                termios.tcsetattr(0, termios.TCSADRAIN, self.saved)
                self.saved = None

    def wait(self) -> int:
        """The wait status of the job."""
        while self.done is None and not self.lost:  # its end, or that of the supervisor
            found = signal.sigtimedwait(self.wanted | {signal.SIGCHLD}, END_POLL_S if self.threads else FOREVER_S)
            self._start_threads()
            if found is None:
                continue
            if found.si_signo != signal.SIGCHLD:
                self._received(found)
            elif self.stopped:
                self._suspend()
        return self.status if self.status is not None else self._wait_without_supervisor()

    def _wait_without_supervisor(self) -> int:
        """The wait status of the job after the supervisor was killed; signals are still forwarded."""
        status = None if self.job else UNKNOWN_WAIT_STATUS
        while status is None and (status := status_of_other(self.job, self.pidfd)) is None:
            found = signal.sigtimedwait(self.wanted | {signal.SIGCHLD}, END_POLL_S)
            if found and found.si_signo != signal.SIGCHLD and found.si_code != FROM_KERNEL:
                with contextlib.suppress(OSError):  # safe: by the pidfd, so to the job or to nobody
                    proc.send_signal(self.pidfd, self.job, found.si_signo)
        if status == UNKNOWN_WAIT_STATUS and self.job:
            os.write(2, b"forensics: the exit status of the command is not known\n")
        return status

    def _received(self, found: signal.struct_siginfo) -> None:
        number = found.si_signo
        if found.si_pid == os.getpid():
            return  # by _key_for_all: the job has its own
        if number == signal.SIGWINCH and self.streams.pty:
            self.streams.resize()
            return
        if number in TERMINAL_STOP_SIGNALS:  # the supervisor stops the job and tells so; then this process stops, too
            self._send(self._signal_message(found))
            return
        sender = proc.stat(found.si_pid) if found.si_pid else None
        names = {"comm": sender.comm if sender else "", "command": proc.command_line(found.si_pid) if found.si_pid else ""}
        self._send({**self._signal_message(found), **names})
        if number == signal.SIGCONT:
            self.keys(True)

    def _signal_message(self, found: signal.struct_siginfo) -> dict[str, Any]:
        """The message about a signal to the supervising process. `typed`: by a key, or because the terminal went away."""
        typed = found.si_code == FROM_KERNEL
        return {"signal": found.si_signo, "pid": found.si_pid, "uid": found.si_uid, "code": found.si_code, "typed": typed}

    def _suspend(self) -> None:
        """The job has stopped: stop, too, until the shell continues this process.

        A key of the pty reached the job alone: then the whole pipeline stops, as without this program.
        """
        self.stopped = 0
        self.keys(False)
        # Safe: stops `run`, at a terminal with its pipeline; the job has stopped already and is continued with them.
        os.kill(0 if self.streams.pty else os.getpid(), signal.SIGSTOP)
        self.keys(True)
        self._send({"resume": 1})

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self.link.send(json.dumps(message).encode())

    def _listen(self) -> None:
        """Read the messages of the supervisor."""
        while not self.lost:
            self._hear()

    def _hear(self) -> None:
        """Read one message of the supervisor, and wake the main thread."""
        try:
            data = self.link.recv(65536)
        except OSError:
            data = b""
        if data:
            self._heard(json.loads(data))
        else:
            self.lost = True
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGCHLD)

    def _heard(self, message: dict[str, Any]) -> None:
        if "say" in message and not self.options.quiet:
            line = f"forensics: {message['say']}\n"
            os.write(2, (line.replace("\n", "\r\n") if self.saved else line).encode())
        elif "started" in message:
            self.job = message["started"]
            self.pidfd = proc.open_pidfd(self.job)
        elif "ended" in message:
            self.status = message["ended"]
        elif "stopped" in message:
            self.stopped = message["stopped"]
        elif "done" in message:
            self.done = message

    def _forward_keys(self) -> None:
        """Forward keys while this process is in the foreground."""
        while self.done is None:
            mode = self.saved
            if mode is None or not _in_foreground():
                time.sleep(0.1)
                continue
            try:
                if select.select([0], [], [], 0.5)[0] and (data := os.read(0, 4096)):
                    self._key_for_all(data)
                    os.write(self.streams.master, data)
            except OSError:
                time.sleep(0.1)

    def _key_for_all(self, data: bytes) -> None:
        """The keys that interrupt and quit reach the job by its pty, which tells nobody else: here the other processes in the
        foreground get them, such as a script that goes on to its next line otherwise."""
        with contextlib.suppress(termios.error):
            mode = termios.tcgetattr(self.streams.master)  # the job's: an editor takes these keys as they are
            if mode[3] & termios.ISIG and mode[6][termios.VINTR] in data:
                self._send({"interrupt": 1})
                os.kill(0, signal.SIGINT)  # safe: the foreground group of the terminal; this process ignores its own signal
            if mode[3] & termios.ISIG and mode[6][termios.VQUIT] in data:
                os.kill(0, signal.SIGQUIT)  # safe: as above

    def close(self) -> None:
        """Show the report if the job died."""
        folder = (self.done or {}).get("done", "")
        if not folder:
            return
        died = (self.done or {}).get("died")
        text = shown_report(folder, self.options) if died else report_text(folder)
        if self.options.quiet:
            return
        with contextlib.suppress(OSError):
            if died:
                os.write(2, text.encode("utf-8", "replace"))
            if self.options.keep != "never" and (text or self.options.verbose or self.options.keep == "always"):
                os.write(2, f"forensics: captured in {folder}\n".encode())


def _in_foreground() -> bool:
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False

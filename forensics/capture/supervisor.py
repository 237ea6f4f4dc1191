"""The supervising process of a job: it starts the job, relays its output, watches it and completes the bundle.

It survives a SIGKILL of the command `run` that the user sees; then job and output continue. If the output is a terminal, it leads
the session of a pty, in which job control works as on the terminal itself. Otherwise it stays in the process group of `run`, so
that it can distinguish a signal to the whole group from a signal to `run` alone.

`run` stops with the job, so that its shell sees a stopped command. When the job goes on, `run` goes on, too.

kill -STOP JOB; kill -CONT JOB      the shell sees `run` stopped and continued, as if the job were its own child
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import time

from forensics.capture import proc
from forensics.capture.account import finish, lost_its_reader, memory_kill, was_interrupted
from forensics.capture.become import NOT_EXECUTABLE, execute, refusal, refused_status, restore_signals
from forensics.capture.bundle import Bundle
from forensics.capture.collector import Collector, KernelReports
from forensics.capture.growth import EarlyWarnings, Growth
from forensics.capture.joblog import JobLog
from forensics.capture.options import job_environment, linked_folders
from forensics.capture.reaping import WaitingThread, adopt_orphans, wait_for_job
from forensics.capture.reporting import act_on_death, analyse_bundle, remember_end, reports_no_crash, shown_report
from forensics.capture.spare import is_whole, spare_bundle
from forensics.capture.streams import JobStreams

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from forensics.capture.options import Options


STOPS_WITHIN_S = 2.0  # chosen by hand: `run` stops so soon after the job; it may have gone on before it did
LOOK_S = 0.02  # between two looks whether it has stopped


class StoppedRun:
    """Continues `run`, the parent of this process, when the job was stopped and goes on."""

    def __init__(self) -> None:
        self.pid = os.getppid()
        self.pidfd = proc.open_pidfd(self.pid)
        self.stops = 0
        self.follows: threading.Thread | None = None  # since the job goes on

    def job_stopped(self) -> None:
        """The job was stopped; `run` will stop."""
        self.stops += 1
        self.follows = None

    def job_continued(self) -> None:
        """The job goes on, or has ended: a job that goes on and ends at once is only seen to end."""
        if self.stops and self.follows is None:
            self.follows = threading.Thread(target=self._continue, args=(self.stops,), daemon=True)
            self.follows.start()

    def close(self) -> None:
        """Wait until `run` goes on."""
        if self.follows is not None:
            self.follows.join(STOPS_WITHIN_S)

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


CAPTURED_COMMAND, PLAIN_COMMAND = b"c", b"p"  # commands to the job's process: begin, with captured streams or with those of `run`
DRAIN_S = 0.5  # chosen by hand: the wait after the end for the output of processes left behind
SHOWN_S = 10.0  # chosen by hand: so long `run` may take to show the report; it only reads a file
GROUP_SIGNAL_S = 0.005  # chosen by hand: a signal to a group reaches its members one after the other
GRACE_KERNEL_S = 0.02  # the kernel's lines about a kill arrive before wait() returns; those of a crash soon after


class JobSupervisor:
    """Starts and supervises the job. `link`: socket to `run`. `forwarded`: the signals that `run` forwards."""

    def __init__(
        self, options: Options, link: socket.socket, streams: JobStreams, forwarded: set[int], child_signal: Any = None
    ) -> None:
        self.options, self.link, self.streams, self.forwarded = options, link, streams, forwarded
        self.child_signal = child_signal  # how SIGCHLD was handled when this program was started
        self.run = StoppedRun()
        self.job, self.pidfd, self.refused = 0, -1, ""
        self.finished = False
        self.ended = False  # the job has ended: its process id may soon be that of another program
        self.interrupted = 0.0  # when the user typed the key that interrupts
        self.bundle: Bundle | None = None
        self.log: JobLog | None = None
        self.reports: KernelReports | None = None
        self.collector: Collector | None = None
        self.signals: list[dict[str, Any]] = []  # those that `run` received
        self.left = threading.Event()  # `run` has ended

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
        self.send(started=self.job)  # before the program begins: whatever happens here, `run` knows for whom to wait
        os.write(go, word)
        os.close(go)
        self._attempt(lambda: self._begun(heard, word))
        self._attempt(lambda: self._collect(collects))
        reaped = self.collector.reaped if self.collector else None
        status = wait_for_job(self.job, self.pidfd, self._stopped, self._ends, reaped, self.run.job_continued)
        self.send(ended=status)
        self._attempt(self.run.job_continued)
        self._attempt(lambda: self._close(status))
        if self.bundle:
            self.bundle.release()
        self._finish("", False)
        self.streams.opened()
        self.streams.drain(None)
        self.run.close()
        os._exit(0)

    def _finish(self, folder: str, died: bool, closes: bool = False) -> None:
        """Tell `run`, once, that all is done: where the bundle is, empty for none, and whether the job died. `closes`: the bundle
        is still being completed."""
        if not self.finished:
            self.finished = True
            if self.bundle and not closes:
                self.bundle.release()
            self.send(done=folder, died=died)

    def _leave(self, folder: str, died: bool) -> None:
        """Let `run` end with the status of the job. What is still to be done holds none of the streams, for whose end a pipeline
        or a scheduler waits, unless a process that the job left behind has them, too."""
        self._finish(folder, died)
        if self.streams.all_relayed():
            null = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)

    def _leave_early(self, folder: str) -> None:
        """Let `run` end before the report is ready."""
        if self.options.keep == "never":
            self.say("the report is not ready, and --keep never keeps nothing from which it can be made again")
        self._leave("" if self.options.keep == "never" else folder, True)

    def _attempt(self, work: Callable[[], None]) -> None:
        """Do a part of the capture. Whatever fails, the job continues, and it is waited for."""
        try:
            work()
        except Exception as error:
            self.say(f"the capture is not whole: {type(error).__name__}: {error}")

    def _begun(self, heard: int, word: bytes) -> None:
        """Wait until the program has begun, and give it the terminal."""
        self.refused = os.read(heard, 4096).decode("utf-8", "replace")  # ends when the program has begun
        os.close(heard)
        self.streams.opened()
        if self.streams.pty and word == CAPTURED_COMMAND:
            self.streams.give_terminal(self.job)
        proc.protect_from_memory_killer()

    def _collect(self, collects: WaitingThread) -> None:
        """Begin to collect. Orphans are adopted only if there is a thread that reaps them."""
        if self.bundle is None:
            return
        warnings = self._warnings(self.bundle.path("job.log"))
        adopt_orphans()
        try:
            growth = Growth(self.streams.followed, self.bundle.folder)
            if self.streams.unseen:  # output that cannot be seen is no silence
                self.options.stall_s = 0.0
            self.collector = Collector(self.options, self.bundle, self.job, True, self.log, self.say, growth, self.reports)
            self.collector.refused, self.collector.signals = self.refused, self.signals
            self.collector.warnings = warnings
            self.collector.start(collects)
        except Exception as error:  # whatever it is, the job continues
            adopt_orphans(False)
            self.say(f"nothing is captured but the output: {type(error).__name__}: {error}")

    def _warnings(self, log: str) -> EarlyWarnings | None:
        """Who warns early of the losses, if that is asked for."""
        with contextlib.suppress(OSError):
            return EarlyWarnings([(log, 0), *self.streams.files]) if self.options.warn else None
        return None

    def _stopped(self, number: int) -> None:
        self.run.job_stopped()
        self.send(stopped=number)

    def _ends(self) -> None:
        """The job has ended and is not reaped yet."""
        self.ended = True
        if self.collector:
            self.collector.ending(self.job)

    def _threads(self) -> WaitingThread:
        """Start all threads that are needed later, when the job may have reached the limit of processes.

        Raises RuntimeError if that limit is reached already.
        """
        threading.Thread(target=self._listen, daemon=True).start()
        collects = WaitingThread()
        collects.start()
        if self.bundle:
            self.log = JobLog(self.bundle.folder, self.options.max_log_bytes)
            self._attempt(self._listen_to_kernel)
        self.streams.relay(self.log)
        return collects

    def _listen_to_kernel(self) -> None:
        self.reports = KernelReports(self.options)

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
        self.job = os.fork()  # by the main thread, which waits for it; the job begins only when it is told to
        if self.job:
            self.pidfd = proc.open_pidfd(self.job)  # a child that nobody has reaped: the pid is still its own
            if self.streams.pty:
                with contextlib.suppress(OSError):
                    os.setpgid(self.job, self.job)
            os.close(said)
            os.close(waits)
            return go, heard
        try:
            os.close(go)
            word = os.read(waits, 1)
            if not word:  # the supervisor is gone before the program began
                os._exit(NOT_EXECUTABLE)
            if word == CAPTURED_COMMAND:
                self.streams.in_job()
            os.close(waits)
            restore_signals(self.options.blocked, self.child_signal)
            execute(self.options.command, env)
        except OSError as error:
            refused = refusal(self.options.command, error)
            os.write(said, refused.encode())
            os.write(2, f"forensics: {refused}\n".encode())
            os._exit(refused_status(error))
        finally:
            os._exit(NOT_EXECUTABLE)

    def _listen(self) -> None:
        """Act on the messages of `run`, until it has ended."""
        with contextlib.suppress(OSError):
            while data := self.link.recv(4096):
                self._act_on(json.loads(data))
        self.left.set()

    def _act_on(self, message: dict[str, Any]) -> None:
        if "interrupt" in message or (message.get("signal") == signal.SIGINT and message.get("typed")):
            self.interrupted = time.time()
        if self.ended:
            return  # nothing is sent to a process id that may be that of another program
        if "signal" in message:
            self._pass_on(message)
        elif "resume" in message and self.streams.pty:
            self.streams.give_terminal(self.job)
            with contextlib.suppress(OSError):
                os.killpg(self.job, signal.SIGCONT)

    def _pass_on(self, message: dict[str, Any]) -> None:
        if message["signal"] == signal.SIGCONT and message["pid"] == os.getpid():
            return  # from StoppedRun: the job goes on already
        with contextlib.suppress(OSError):
            # Safe: the job is not reaped, so its group and its pid are still its own.
            if self.streams.pty and message.get("typed"):
                os.killpg(self.job, message["signal"])
            elif self.streams.pty or not self._went_to_all(message["signal"]):
                proc.send_signal(self.pidfd, self.job, message["signal"])
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
        if self.collector is None or self.bundle is None or self.log is None:
            return
        self.streams.drain(DRAIN_S)
        self.collector.refresh()
        killed = memory_kill(self.collector) if status == 0 else ""
        if status == 0 and not killed and self.options.keep == "crash" and not self.options.warn:
            self._finish("", False, closes=True)  # nobody waits for what nobody will read
        time.sleep(GRACE_KERNEL_S)
        self.collector.stop()
        for path, start in self.streams.files:
            self.log.append_file(path, start)
        finish(self.collector, self.bundle, self.log, status)
        own = self.options.folder
        fault = self.log.fault or self.bundle.fault
        if not self.finished and not is_whole(self.bundle, self.log):
            fault, own = fault or f"no room in {self.bundle.folder}", ""
            if not self._save_elsewhere(fault, status):
                return
        elif fault:
            self.say(f"the capture is not whole: {fault}")
        died = self._explain(status)
        keep = self.options.keep == "always" or (self.options.keep == "crash" and (died or bool(killed)))
        if killed:
            self.say(f"{killed}, while the command itself ended well" + (f"; forensics why {self.bundle.folder}" if keep else ""))
        if status == 0 and self.options.remember:
            self._leave(self.bundle.folder if keep else "", died)
            remember_end(self.bundle.folder)
        if died and not keep and self.options.report:
            self._finish(self.bundle.folder, died)
            self.left.wait(SHOWN_S)  # `run` reads the report there
        if not keep and not own:
            self.bundle.remove()
        self._finish(self.bundle.folder if keep else "", died)

    def _save_elsewhere(self, fault: str, status: int) -> bool:
        """The bundle lacks the end of the run: write what is in memory elsewhere; without room one line tells the end."""
        assert self.bundle is not None and self.collector is not None and self.log is not None
        spare = spare_bundle(self.collector, self.log, status)
        if not self.bundle.has_output:
            self.bundle.discard()
        if spare is None:
            end = self.log.closing[-1].partition(": ")[2] if self.log.closing else ""
            self.say(f"the capture is not whole, and nothing can be stored elsewhere: {fault}; {end}")
            self._finish("", False)
            return False
        self.say(f"the capture is not whole: {fault}; the end of the run is in {spare.folder}")
        self.bundle = spare
        return True

    def _explain(self, status: int) -> bool:
        """Have the end analysed, if it needs an explanation. Did the job die?"""
        assert self.bundle is not None and self.collector is not None
        if status == 0 or self.refused:  # the shell's message says all
            return False
        if was_interrupted(self.collector, status, self.interrupted):
            self.say("interrupted by Ctrl-C at the terminal")
            return False
        if lost_its_reader(status, self.streams.reader_left):
            self.say("the reader of its output left, which ended the command")
            return False
        if not self.options.report:
            return True
        folder = self.bundle.folder
        analyse_bundle(folder, self.options, lambda: self._leave_early(folder))
        if self.finished and self.options.output:
            shown_report(folder, self.options)  # into the file that nobody else writes now
        died = not reports_no_crash(folder)
        if died:
            act_on_death(folder, self.options)
        return died or self.finished  # what `run` has named stays

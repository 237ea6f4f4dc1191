"""`forensics watch FILE... | --pid PID | --job ID`: say when a live log, process or Slurm job dies, stalls or diverges.

Tail("train.log").look()            the bytes that came since the last look; a log that was truncated or rotated is followed on
Follower([tail], rules).step(now)   Happening("died", report), Happening("stalled", report) ... or None while all is well

Of each log the last FOLLOWED_BYTES are kept and analysed, so memory and time have a bound however long the log is.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, NamedTuple

import typer

from forensics.cli.common import Format, Output, filled, warn_of_names
from forensics.cli.output import OutputOptions, capture_settings, check_format, rendered, save, say, write
from forensics.core.errors import UsageError
from forensics.core.limits import MIB

if TYPE_CHECKING:
    from forensics.database import Database
    from forensics.model import Report, Source, Warn, Warning


FOLLOWED_BYTES = 2 * MIB  # chosen by hand: an hour of an ordinary log, a tenth of a second to analyse
BLOCK_READ_BYTES = MIB
MAX_BLOCKS_PER_LOOK = 64  # a log that grows faster than that is read on at the next look
SETTLE_S = 10.0  # chosen by hand: a launcher needs some seconds to write the rest of its last words
ENDED_OUTCOMES = ("failed", "stopped", "stalled")  # outcomes after which a run does not go on
GO_ON = ("machine", "notebook")  # subjects whose log goes on behind the end of what ran on them
IDLE_SHARE = 20  # chosen by hand: an analysis is followed by so many times its duration without one


class Tail:
    """The end of one log. `dropped`: lines before the kept ones; `restarts`: how often it was truncated or rotated."""

    def __init__(self, path: Path) -> None:
        self.path, self.kept, self.dropped, self.restarts, self.position = path, bytearray(), 0, 0, 0
        self._file: BinaryIO = path.open("rb")
        self._identity = self._identify(os.fstat(self._file.fileno()))

    def look(self) -> int:
        """How many bytes came since the last look."""
        came = self._read()
        try:
            there = self.path.stat()
        except OSError:  # moved away, and no new one yet
            return came
        if self._identify(there) != self._identity:
            self._file.close()
            self._file = self.path.open("rb")
            self._identity = self._identify(os.fstat(self._file.fileno()))
        elif there.st_size < self.position:
            self._file.seek(0)
        else:
            return came
        self.restarts, self.position = self.restarts + 1, 0
        return came + self._read()

    def source(self) -> "Source":
        """What is kept, as a source whose lines have the numbers of the file."""
        from forensics.model import Source

        kept, dropped = bytes(self.kept), self.dropped

        def blocks(_warn: "Warn") -> Iterator[bytes]:
            yield kept

        return Source(name=str(self.path), blocks=blocks, origin=(lambda line: line + dropped) if dropped else None)

    def last_line(self) -> str:
        """The last line with a text in it."""
        lines = bytes(self.kept[-4 * 1024 :]).decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Give up the file."""
        self._file.close()

    def _read(self) -> int:
        came = 0
        for _ in range(MAX_BLOCKS_PER_LOOK):
            block = self._file.read(BLOCK_READ_BYTES)
            if not block:
                break
            came += len(block)
            self.kept += block
            if len(self.kept) > FOLLOWED_BYTES:
                cut = self.kept.find(b"\n", len(self.kept) - FOLLOWED_BYTES) + 1 or len(self.kept) - FOLLOWED_BYTES
                self.dropped += self.kept.count(b"\n", 0, cut)
                del self.kept[:cut]
        self.position += came
        return came

    @staticmethod
    def _identify(found: os.stat_result) -> tuple[int, int]:
        return found.st_dev, found.st_ino


class Happening(NamedTuple):
    """What was noticed: `died`, `stalled`, `diverges`, `went wrong` or `ended`, how the report puts it, and the report itself.
    `standing`: where the processes of a run stand that goes on."""

    what: str
    said: str
    report: "Report"
    standing: str = ""

    @property
    def is_last(self) -> bool:
        """Is there nothing to follow any more?"""
        return self.what in ("died", "ended")


class Rules(NamedTuple):
    """When it is said to stall, and after which quiet time its last lines are taken for its last ones."""

    stall_s: float = 900.0
    settle_s: float = SETTLE_S


class Run(NamedTuple):
    """A run of which more than its logs is known: does it live, the report at its end, None if nothing shows a bad one, and
    where its processes stand."""

    lives: Callable[[], bool]
    report: Callable[[], "Report | None"]
    standing: Callable[[], str] = str


class Follower:
    """Follows logs of one run. `run`: the run itself; None if only its logs are known."""

    def __init__(self, tails: Sequence[Tail], rules: Rules, knowledge: "Database", now: float, run: Run | None = None) -> None:
        self.tails, self.rules, self.knowledge, self.run = tails, rules, knowledge, run
        self.last, self.next_judgement = now, 0.0
        self.is_fresh, self.is_unsettled, self.is_stalled = False, False, False
        self.told = set[str]()
        self.report: Report | None = None

    def step(self, now: float) -> Happening | None:
        """Look once. `now`: monotonic seconds."""
        is_over = self.run is not None and not self.run.lives()  # first, so that its last lines are read after it
        if sum([tail.look() for tail in self.tails]):
            self.last, self.is_fresh, self.is_unsettled, self.is_stalled = now, True, True, False
        quiet = now - self.last
        if is_over:
            ended = self.run.report() if self.run else None
            report = ended or self._judged(now)
            is_bad = report.verdict == "crash" or (ended is not None and report.verdict != "no_crash")
            return Happening("died" if is_bad else "ended", _said(report), report)
        if self.is_unsettled and quiet >= self.rules.settle_s:
            self.is_unsettled = False
            return self._settled(now)
        if self.is_fresh and now >= self.next_judgement:
            return self._diverged(self._judged(now))
        if self.rules.stall_s and quiet >= self.rules.stall_s and not self.is_stalled:
            self.is_stalled = True
            report = self.report or self._judged(now)
            said = f"no output for {quiet:.0f} s; its last line: {self._last_line()}"
            return Happening("stalled", said, report, self.run.standing() if self.run else "")
        return None

    def _settled(self, now: float) -> Happening | None:
        """What the last lines tell after which nothing came."""
        report = self._judged(now) if self.is_fresh or self.report is None else self.report
        if self.run is None and report.subject is not None and report.subject.outcome == "ended_well":
            return Happening("ended", _said(report), report)
        if self.run is None and report.verdict == "crash" and _shows_end(report):
            return Happening("died", _said(report), report)
        if self.run is None and _is_spoiled(report) and report.subject and report.subject.why:
            self.is_unsettled = report.causes[0].id not in self.told  # told first, and at the next look as the end
            return self._diverged(report) or Happening("ended", _said(report), report)
        if self.run is None and report.verdict == "crash" and report.subject and report.subject.kind in GO_ON:
            return self._once("went wrong", report)
        return self._diverged(report)

    def _diverged(self, report: "Report") -> Happening | None:
        """Its numbers went wrong."""
        return self._once("diverges", report) if _is_spoiled(report) else None

    def _once(self, what: str, report: "Report") -> Happening | None:
        """Told once for each cause, as the log continues after it."""
        if report.causes[0].id in self.told:
            return None
        self.told.add(report.causes[0].id)
        return Happening(what, _said(report), report)

    def _judged(self, now: float) -> "Report":
        from forensics import pipeline

        started, noted = time.monotonic(), list["Warning"]()
        name = self.tails[0].path.name if self.tails else "watched"
        self.report = pipeline.analyze([tail.source() for tail in self.tails], name, self.knowledge, noted)
        self.is_fresh, self.next_judgement = False, now + IDLE_SHARE * (time.monotonic() - started)
        return self.report

    def _last_line(self) -> str:
        return next((line[:200] for line in (tail.last_line() for tail in self.tails) if line), "none")


def _shows_end(report: "Report") -> bool:
    """Does a line show that the run itself ended? A log may go on behind an error, and a server behind the end of a kernel."""
    subject = report.subject
    return subject is not None and bool(subject.why) and subject.kind not in GO_ON and subject.outcome in ENDED_OUTCOMES


def _is_spoiled(report: "Report") -> bool:
    return report.verdict == "crash" and report.subject is not None and report.subject.outcome == "spoiled"


def _said(report: "Report") -> str:
    first = report.causes[0]
    return first.title if report.verdict == "no_crash" else f"{first.title} ({first.id})"


Hook = Annotated[
    str,
    typer.Option(
        "--exec",
        help="A shell command to run then; {report} is the path of the report, {cause} its id. Its output is not shown.",
    ),
]
HOOK_NAMES = ("report", "cause", "what")  # in the command of --exec
JOB_POLL_S = 30.0  # chosen by hand: each look asks the cluster's controller
UNASKED_S = 20.0  # chosen by hand: a parent asks for the status of its child at once, or not at all
STATUS_OF = {"died": 1, "diverges": 1, "went wrong": 1}  # exit statuses; 0 for a good end
INTERRUPTED = 130  # 128 + SIGINT, as a shell gives it
GOING_ON = ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED", "RESIZING", "SIGNALING", "STAGE_OUT")


def watch(
    files: Annotated[list[Path] | None, typer.Argument(metavar="[FILE...]", help="Logs that are still written to.")] = None,
    pid: Annotated[int, typer.Option(min=0, help="A running process; its output is followed where it is a file.")] = 0,
    job: Annotated[str, typer.Option(help="A Slurm job; its output files are followed.")] = "",
    stall: Annotated[str, typer.Option(help="Say so if there is no output for this long; 0 means never.")] = "15m",
    every: Annotated[str, typer.Option(help="Time between two checks.")] = "2s",
    execute: Hook = "",
    notify: Annotated[bool, typer.Option("--notify", help="Show a notification on the desktop, else ring the bell.")] = False,
    form: Format = "text",
    output: Output = None,
) -> None:
    """Follow a live log, process or Slurm job; say when it dies, stalls or diverges, and report. Prints nothing before.

    \b
    Examples:
      forensics watch train.log
      forensics watch --pid 4711 --stall 5m
      forensics watch --job 815 --exec 'mail -s "job 815" me@example.org < {report}'

    \b
    A log that is truncated or rotated is followed on. A stall and a divergence are told once, and the watch goes on.
    Exit status: 0 it ended well, 1 it died or diverged.
    """
    from forensics import pipeline
    from forensics.config import seconds

    check_format(form)
    capture_settings()
    warn_of_names("watch --exec", execute, HOOK_NAMES)
    rules, pause = Rules(seconds(stall)), max(0.1, seconds(every))
    paths, run = _chosen(files or [], pid, job, rules.stall_s)
    follower = Follower(_opened(paths, pause), rules, pipeline.database(), time.monotonic(), run)
    telling = OutputOptions(form, output)
    raise typer.Exit(_follow(follower, pause, lambda found: tell(found, telling, execute, notify)))


def _follow(follower: "Follower", pause: float, told: "Callable[[Happening], None]") -> int:
    """Look until it is over, or until the user has seen enough; the exit status."""
    status = 0
    while True:
        try:
            found = follower.step(time.monotonic())
            if found is None:
                time.sleep(pause)
                continue
        except KeyboardInterrupt:
            say("forensics watch: stopped by you; what was watched continues")
            return status or INTERRUPTED
        status = max(status, STATUS_OF.get(found.what, 0))
        told(found)
        if found.is_last:
            return status


def tell(found: "Happening", telling: OutputOptions, execute: str, notify: bool) -> None:
    """Print what happened and the report, then start the hooks; none of them is waited for."""
    from forensics.report.phrases import shows_no_crash
    from forensics.report.redaction.lines import masked_text

    said = masked_text(found.said)  # a stall quotes the last line of a log
    line = f"forensics watch: {time.strftime('%H:%M:%S')} {masked_text(found.report.case)} {found.what}: {said}"
    text = rendered(found.report, telling)
    say(line)
    if telling.form == "text" and found.what == "stalled":  # the report could only ask whether it runs
        text = masked_text(found.standing) or ("" if shows_no_crash(found.report) else text)
    if found.what != "ended" and text:
        write(text, telling.output, telling.form, masked=True)
    if found.what == "ended" or not (execute or notify):
        return
    from forensics.capture.bundle import state_folder

    place = telling.output or Path(
        state_folder(), "watched", f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{found.what.replace(' ', '-')}.txt"
    )
    if place != telling.output:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        save(f"{line}\n\n{text}", place, mode=0o600)
    if execute:
        values = dict(zip(HOOK_NAMES, (str(place), found.report.causes[0].id, found.what), strict=True))
        _start(["/bin/sh", "-c", filled(execute, values)])
    if notify and shutil.which("notify-send"):
        _start(["notify-send", f"{masked_text(found.report.case)} {found.what}", said])
    elif notify:
        print("\a", end="", file=sys.stderr, flush=True)


def _start(command: Sequence[str]) -> None:
    try:
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        say(f"forensics watch: {command[0]} could not be started: {error.strerror}")


def _opened(paths: Sequence[Path], pause: float) -> list["Tail"]:

    for path in paths:
        if not path.exists() and path.parent.is_dir():
            say(f"forensics watch: {path} is not there yet; waiting for it")
            while not path.exists():
                time.sleep(pause)
    try:
        return [Tail(path) for path in paths]
    except OSError as error:
        raise UsageError(f"cannot be followed ({error.strerror})", str(error.filename)) from error


def _chosen(files: list[Path], pid: int, job: str, stall_s: float) -> tuple[list[Path], "Run | None"]:
    """The logs to follow, and the run itself if more is known of it; raises UsageError if nothing, or too much, was asked for."""
    if bool(pid) and bool(job):
        raise UsageError("both --pid and --job", advice="give one of them")
    if pid:
        return _of_process(files, pid, stall_s)
    if job:
        return _of_job(files, job)
    if not files:
        raise UsageError("nothing to watch", advice="give a log, --pid PID or --job ID")
    return files, None


def _of_process(files: list[Path], pid: int, stall_s: float) -> tuple[list[Path], "Run"]:
    """The given logs and the files that the process writes its output to; a capture watches the process itself."""
    from forensics import pipeline
    from forensics.capture import proc
    from forensics.capture.guard import watch as captured

    if proc.stat(pid) is None:
        raise UsageError(f"no process {pid} runs here", advice="ps -ef lists them")
    paths = list(dict.fromkeys([*files, *_outputs(pid)]))
    try:
        held = captured(pid, name=f"pid {pid}", files=list(map(str, paths)), stall_s=stall_s, report=False)
    except OSError as error:
        raise UsageError(f"process {pid} cannot be watched ({error.strerror})") from error

    def report() -> "Report | None":
        """The report on what was captured, which is kept after a bad end alone."""
        bundle = Path(held.bundle)
        if not bundle.is_dir():
            return None
        from forensics.cli.why import keep_report
        from forensics.report import render

        found = pipeline.analyze_paths([bundle], f"pid {pid}", pipeline.database())
        keep_report(bundle, found, render(found, "text"))
        return found

    dead_since = 0.0

    def lives() -> bool:
        """False when the capture is complete, or when the process is dead and its parent does not ask for its status."""
        nonlocal dead_since
        now, found = time.monotonic(), proc.stat(pid)
        dead_since = dead_since or now if found is None or found.state in "ZX" else 0.0
        return not held.wait(0) and not (dead_since and now - dead_since > UNASKED_S)

    return paths, Run(lives, report, lambda: _standing(str(pid), of_job=False))


def _outputs(pid: int) -> list[Path]:
    """The files that a process writes its output to, but those that this program writes to itself."""
    own, its = ([Path(f"/proc/{one}/fd/{n}") for n in (1, 2)] for one in ("self", pid))
    told = {path.resolve() for path in own}
    return [path.resolve() for path in its if path.is_file() and path.resolve() not in told]


def _of_job(files: list[Path], job: str) -> tuple[list[Path], "Run"]:
    """The given logs and the output files of a Slurm job, which lives while its controller says so."""
    from forensics.adapters.slurm.accounting import control_fields, run_program
    from forensics.adapters.slurm.evidence import answer_about_job

    asked = run_program(["scontrol", "show", "job", job])
    fields = control_fields(asked.text)
    if not fields.get("JobState"):
        raise UsageError(
            f"nothing is known of job {job}" + (f" ({asked.fault})" if asked.fault else ""), advice="squeue lists jobs"
        )
    found = [Path(fields[name]) for name in ("StdOut", "StdErr") if Path(fields.get(name, "")).is_file()]
    state, asked_at = fields["JobState"], time.monotonic()

    def lives() -> bool:
        nonlocal state, asked_at
        if time.monotonic() - asked_at >= JOB_POLL_S:
            answer, asked_at = run_program(["scontrol", "show", "job", job]), time.monotonic()
            state = control_fields(answer.text).get("JobState", "" if not answer.fault else state)
        return state.startswith(GOING_ON)

    return list(dict.fromkeys([*files, *found])), Run(lives, lambda: answer_about_job(job).report, lambda: _standing(job))


def _standing(asked: str, of_job: bool = True) -> str:
    """Where the processes of a job, or those below a pid, stand now, as `forensics stacks` tells it."""
    from forensics.adapters import launchers
    from forensics.ranks.doing import standings
    from forensics.report.ranks import stacks_text

    found = launchers.of_job(asked) if of_job else launchers.of_process(int(asked))
    return stacks_text(found.hosts, standings(found.hosts))

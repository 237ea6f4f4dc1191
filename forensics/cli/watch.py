"""`forensics watch FILE... | --pid PID | --job ID`: say when a live log, process or Slurm job dies, stalls or diverges."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Format, Output
from forensics.cli.hooks import filled, warn_of_names
from forensics.cli.output import OutputOptions, capture_settings, check_format, rendered, save, say, write
from forensics.core.errors import UsageError

if TYPE_CHECKING:
    from forensics.cli.following import Follower, Happening, Run, Tail
    from forensics.model import Report

Hook = Annotated[
    str,
    typer.Option(
        "--exec", help="A shell command to run then; {report} is the path of the report, {cause} its id. Not waited for."
    ),
]
HOOK_NAMES = ("report", "cause", "what")  # in the command of --exec
JOB_POLL_S = 30.0  # chosen by hand: each look asks the cluster's controller
UNASKED_S = 20.0  # chosen by hand: a parent asks for the status of its child at once, or not at all
STATUS_OF = {"died": 1, "diverges": 1, "went wrong": 1}  # exit statuses; 0 for a good end
GOING_ON = ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED", "RESIZING", "SIGNALING", "STAGE_OUT")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def watch(
        files: Annotated[list[Path] | None, typer.Argument(metavar="[FILE...]", help="Logs that are still written to.")] = None,
        pid: Annotated[int, typer.Option(min=0, help="A running process; its output is followed where it is a file.")] = 0,
        job: Annotated[str, typer.Option(help="A Slurm job; its output files are followed.")] = "",
        stall: Annotated[str, typer.Option(help="Say so if there is no output for so long; 0 for never.")] = "15m",
        every: Annotated[str, typer.Option(help="Time between two looks.")] = "2s",
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
        from forensics.cli.following import Follower, Rules
        from forensics.config.capture import seconds

        check_format(form)
        capture_settings()
        warn_of_names("watch --exec", execute, HOOK_NAMES)
        rules, pause = Rules(seconds(stall)), max(0.1, seconds(every))
        paths, run = _chosen(files or [], pid, job, rules.stall_s)
        follower = Follower(_opened(paths, pause), rules, pipeline.database(), time.monotonic(), run)
        telling = OutputOptions(form, output)
        raise typer.Exit(_follow(follower, pause, lambda found: tell(found, telling, execute, notify)))


def _follow(follower: "Follower", pause: float, told: "Callable[[Happening], None]") -> int:
    """Look until it is over; the exit status."""
    status = 0
    while True:
        found = follower.step(time.monotonic())
        if found is None:
            time.sleep(pause)
            continue
        status = max(status, STATUS_OF.get(found.what, 0))
        told(found)
        if found.is_last:
            return status


def tell(found: "Happening", telling: OutputOptions, execute: str, notify: bool) -> None:
    """Print what happened and the report, then start the hooks; none of them is waited for."""
    from forensics.report.redaction.door import masked_text

    said = masked_text(found.said)  # a stall quotes the last line of a log
    line = f"forensics watch: {time.strftime('%H:%M:%S')} {masked_text(found.report.case)} {found.what}: {said}"
    text = rendered(found.report, telling)
    say(line)
    if found.what != "ended":
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
    from forensics.cli.following import Tail

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
    from forensics.cli.following import Run

    if proc.stat(pid) is None:
        raise UsageError(f"no process {pid} runs here", advice="ps -ef lists them")
    outputs = [Path(f"/proc/{pid}/fd/{number}") for number in (1, 2)]
    paths = list(dict.fromkeys([*files, *(path.resolve() for path in outputs if path.is_file())]))
    try:
        held = captured(pid, name=f"pid {pid}", files=list(map(str, paths)), stall_s=stall_s, report=False)
    except OSError as error:
        raise UsageError(f"process {pid} cannot be watched ({error.strerror})") from error

    def report() -> "Report | None":
        """The report on what was captured, which is kept after a bad end alone."""
        bundle = Path(held.bundle)
        return pipeline.analyze_paths([bundle], f"pid {pid}", pipeline.database()) if bundle.is_dir() else None

    dead_since = 0.0

    def lives() -> bool:
        """False when the capture is complete, or when the process is dead and its parent does not ask for its status."""
        nonlocal dead_since
        now, found = time.monotonic(), proc.stat(pid)
        dead_since = dead_since or now if found is None or found.state in "ZX" else 0.0
        return not held.wait(0) and not (dead_since and now - dead_since > UNASKED_S)

    return paths, Run(lives, report)


def _of_job(files: list[Path], job: str) -> tuple[list[Path], "Run"]:
    """The given logs and the output files of a Slurm job, which lives while its controller says so."""
    from forensics.adapters.slurm.accounting import control_fields
    from forensics.adapters.slurm.answer import answer_about_job
    from forensics.adapters.slurm.programs import run_program
    from forensics.cli.following import Run

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

    return list(dict.fromkeys([*files, *found])), Run(lives, lambda: answer_about_job(job).report)

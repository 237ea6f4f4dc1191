"""After a death: have another process analyse the bundle, and do what the user asked for."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import time

from forensics.capture.bundle import REPORT_HEAD, report_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from forensics.capture.options import Options

REPORT_S = 10.0  # chosen by hand: so long the report may hold up the end of a job; ten times what it takes on a quiet machine
UNAWAITED_REPORT_S = 1800.0  # nobody waits for a background process, and one of low priority may get almost no processor time
LOWEST_PRIORITY = 19  # the highest nice value of Linux
PROCESS_LIMIT_ERRORS = ("can't start new thread", "Resource temporarily unavailable")
RETRY_S = 0.5  # chosen by hand: between two tries, within REPORT_S; the processes that a job left behind end meanwhile
KEEP_TELLING = "1h"  # chosen by hand: so long a sink that cannot be reached is tried again; later the next death does it
MESSAGE_BYTES = 4096  # Kubernetes cuts a longer termination message


def analyse_bundle(folder: str, options: Options, late: Callable[[], object] | None = None) -> None:
    """Have another process analyse the bundle and write the report into it. `late`: called once if that takes longer than
    REPORT_S, as where the messages must be compiled first; the process goes on at the lowest priority, since other jobs may run
    by then."""
    command = [sys.executable, "-P", "-m", "forensics", "why", folder, "--again", "--format", options.form]
    command += ["--tokens", str(options.tokens)] if options.form == "brief" else []
    command += ["--redact"] if options.redact else []
    command += [] if options.remember is None else ["--remember" if options.remember else "--no-remember"]
    wrong = _run_analysis(command, late)
    if wrong:
        with contextlib.suppress(OSError), open(os.path.join(folder, "report.failed"), "w", encoding="utf-8") as file:
            file.write(wrong + "\n")


def shown_report(folder: str, options: Options) -> str:
    """What stderr shows of the report; with the option `output` the report is written to that file."""
    text = report_text(folder).rstrip()
    if not text and options.keep == "never":
        return "forensics: the report could not be made\n"
    if not text:
        return f"forensics: the report is not ready; forensics why {folder} shows it\n"
    if not options.output:
        return f"\n{text}\n"
    try:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        return f"\n{text}\nforensics: {options.output}: the report could not be written there: {error.strerror}\n"
    return f"forensics: the report is in {options.output}\n"


def remember_end(folder: str) -> None:
    """Add the good end of this run to the history: an earlier failure of the same program did not occur again."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = [sys.executable, "-P", "-m", "forensics", "history", "add", folder]
        # Safe: after the job was reaped, in a session of its own; this call reaps what it starts.
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=UNAWAITED_REPORT_S,
            check=False,
            start_new_session=True,
        )


def reports_no_crash(folder: str) -> bool:
    """Is the verdict of the report `no_crash`? Some programs use a status other than 0 as an answer: grep's 1 is `not found`."""
    try:
        with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
            return bool(json.load(file).get("verdict") == "no_crash")
    except (OSError, ValueError, AttributeError):
        return False


def _run_analysis(command: list[str], late: Callable[[], object] | None) -> str:
    """Run the analysis and return the error, empty for none.

    If the user's limit of processes is reached, no further process can be started for a while: then it is tried again.
    """
    until = time.monotonic() + REPORT_S
    while True:
        try:
            # Safe: after the job was reaped, in a session of its own; this call reaps what it starts.
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
            )
            wrong = _error(process, until, late)
            at_limit = any(word in wrong for word in PROCESS_LIMIT_ERRORS)
        except BlockingIOError as error:
            wrong, at_limit = str(error), True
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        if not at_limit or time.monotonic() > until:
            return wrong
        time.sleep(RETRY_S)


def _error(process: subprocess.Popen[bytes], until: float, late: Callable[[], object] | None) -> str:
    """What a process that fails says of it; empty for one that does its work. `late`: see `analyse_bundle`."""
    try:
        said = process.communicate(timeout=max(0.0, until - time.monotonic()))[1]
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PGRP, process.pid, LOWEST_PRIORITY)
        if late:
            late()
        try:
            said = process.communicate(timeout=UNAWAITED_REPORT_S)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return said.decode("utf-8", "replace").strip() if process.returncode else ""


def act_on_death(folder: str, options: Options) -> None:
    """Write a short report for Kubernetes, run the user's command and tell the sinks; nothing of it is waited for."""
    with contextlib.suppress(OSError):
        if options.termination_file and os.path.exists(options.termination_file):
            with (
                open(os.path.join(folder, "report.short.txt"), "rb") as report,
                open(options.termination_file, "wb") as file,
            ):
                file.write(report.read().removeprefix(REPORT_HEAD.encode())[:MESSAGE_BYTES])
    if options.on_crash:
        _start(["/bin/sh", "-c", options.on_crash.replace("{bundle}", shlex.quote(folder))])
    if options.tell:
        _start([sys.executable, "-P", "-m", "forensics", "tell", folder, "--keep-trying", KEEP_TELLING], subprocess.DEVNULL)


def _start(command: list[str], output: int | None = None) -> None:
    """Start a program that nobody waits for, with no place to write to if `output` says so."""
    with contextlib.suppress(OSError):
        # Safe: nobody waits for it: this process ends soon, and then the system reaps it.
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)

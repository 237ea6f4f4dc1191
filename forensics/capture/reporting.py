"""After a death: analysis of the bundle by another process, and the actions that the user asked for."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import time

from forensics.capture.bundle import REPORT_HEAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forensics.capture.options import Options

REPORT_S = 60.0  # what somebody may wait for who started the program in a terminal
UNAWAITED_REPORT_S = 1800.0  # nobody waits for a process beside, and one of low priority may get almost no processor
NO_ROOM = ("can't start new thread", "Resource temporarily unavailable")
ROOM_S = 10.0  # within this time, processes left behind by a job end or are ended
MESSAGE_BYTES = 4096  # Kubernetes cuts a longer termination message


def analyse(folder: str, options: Options, within_s: float = REPORT_S) -> None:
    """Analyse the bundle in another process, which writes the report into it."""
    command = [sys.executable, "-P", "-m", "forensics", "why", folder, "--again", "--format", options.form]
    command += ["--redact"] if options.redact else []
    command += [] if options.remember is None else ["--remember" if options.remember else "--no-remember"]
    wrong = _analysed(command, within_s)
    if wrong:
        with contextlib.suppress(OSError), open(os.path.join(folder, "report.failed"), "w", encoding="utf-8") as file:
            file.write(wrong + "\n")


def remember_end(folder: str) -> None:
    """Add the good end of this run to the history, which then knows that a failure of the same program did not return."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = [sys.executable, "-P", "-m", "forensics", "history", "add", folder]
        subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=REPORT_S, check=False, start_new_session=True
        )


def says_nothing_crashed(folder: str) -> bool:
    """Does the report say so? A status other than 0 is an answer of some programs: grep's 1 is `not found`."""
    try:
        with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
            return bool(json.load(file).get("verdict") == "no_crash")
    except (OSError, ValueError, AttributeError):
        return False


def _analysed(command: list[str], within_s: float) -> str:
    """Run the analysis; returns the error, empty for none. A job at its limit of processes may leave no room for another one
    for a while: then it is tried again."""
    until = time.monotonic() + ROOM_S
    while True:
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=within_s, check=False, start_new_session=True
            )
            wrong = done.stderr.decode("utf-8", "replace").strip() if done.returncode else ""
            no_room = any(word in wrong for word in NO_ROOM)
        except BlockingIOError as error:
            wrong, no_room = str(error), True
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        if not no_room or time.monotonic() > until:
            return wrong
        time.sleep(ROOM_S / 20)


def afterwards(folder: str, options: Options) -> None:
    """The actions after a death: a short report for Kubernetes, and the user's command."""
    with contextlib.suppress(OSError):
        if options.termination_file and os.path.exists(options.termination_file):
            with (
                open(os.path.join(folder, "report.short.txt"), "rb") as report,
                open(options.termination_file, "wb") as file,
            ):
                file.write(report.read().removeprefix(REPORT_HEAD.encode())[:MESSAGE_BYTES])
    if options.on_crash:
        with contextlib.suppress(OSError):
            subprocess.Popen(
                ["/bin/sh", "-c", options.on_crash.replace("{bundle}", shlex.quote(folder))],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

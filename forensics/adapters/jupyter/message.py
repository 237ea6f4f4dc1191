"""The message that a notebook shows for a dead kernel: a report in few lines, as text and as HTML.

The kernel died: A memory limit was hit (97 %)
The kernel killed python (pid 1917, 3.9 GiB resident) because its cgroup reached its limit of 4 GiB.
Its process was ended by signal 9 (SIGKILL).
Cell [12] was running, at line 3:
    df = load(everything)
Its variables are gone. Run the cells above this one again (Run > Run All Above Selected Cell).
What to do:
  1. Ask for more memory than the 4 GiB it had
The full report: /forensics/deaths/20261122-174701-train.ipynb-1917 or forensics why 20261122-174701-train.ipynb-1917

A separate process that analyses bundles, so that neither a server nor a pipeline loads the database or waits for it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from html import escape
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from forensics.capture.bundle import state_folder
from forensics.capture.proc import readable

if TYPE_CHECKING:
    from forensics.api import Report

REMEDIES_IN_MESSAGE = 2  # chosen by hand: the message is in a notebook's cell and links the whole report
MAX_ERROR_CODE_CHARS = 120  # chosen by hand: the name of the error and its reason come before it in one line
ERROR_NAME = "KernelDied"
MEMORY_GONE = "Its variables are gone."
MESSAGE_STYLE = (
    "border:1px solid #8886;border-left:4px solid #d93025;border-radius:4px;padding:.6em 1em;line-height:1.45;color:inherit;"
    "background:none;white-space:normal;max-width:70em"
)
CODE_STYLE = "margin:.3em 0;padding:.4em .7em;border:0;border-radius:4px;color:inherit;background:#8882;white-space:pre-wrap"
PART_STYLE = "margin-top:.6em"
SIGNAL_PATTERN = re.compile(r"\((SIG\w+)\)")
# JupyterLab and Notebook 7 run the command of a clicked element with such an attribute; the classic client has its page's object.
# Where the page is none of them (Visual Studio Code), the words below stay.
CLICK = (
    "<button class='forensics-click' style='display:none;font:inherit;cursor:pointer;margin:0 .3em;"
    "padding:.2em .8em;border:1px solid #888;border-radius:4px;color:inherit;background:none' "
    "data-commandlinker-command='{command}' data-commandlinker-args='{{}}' "
    "onclick='window.Jupyter&amp;&amp;Jupyter.notebook&amp;&amp;Jupyter.notebook.{classic}()'>{words}</button>"
)
CLICKS = (
    "<style>body[data-jp-theme-light] .forensics-click,body.notebook_app .forensics-click{display:inline-block!important}"
    "body[data-jp-theme-light] .forensics-words,body.notebook_app .forensics-words{display:none}</style>"
    + CLICK.format(command="notebook:run-all-above", classic="execute_cells_above", words="Run all cells above")
    + CLICK.format(command="notebook:restart-kernel", classic="restart_kernel", words="Restart the kernel")
)


def death_message(report: Report | None, facts: dict[str, Any]) -> dict[str, Any]:
    """The message as plain values: `text`, `html`, `error` (one line), `metadata`.

    `report`: on the bundle; None if there is none. `facts`: status ("was ended by signal 9 (SIGKILL)"), count, code and line of
    the cell (0 and "" if unknown), pid, bundle, link (the URL of the full report; "" for none), again (how the user runs the
    cells again; "" if nobody can).
    """
    from forensics.report.redaction import mask_text, without_secrets

    report = without_secrets(report) if report is not None else None  # type: ignore[assignment]
    facts = facts | {"code": "\n".join(map(mask_text, facts["code"].splitlines()))}
    cause = report.causes[0] if report is not None and report.verdict == "crash" else None
    if cause is not None:
        head, why = f"{cause.title} ({cause.probability:.0%})", cause.summary
        ways = [r.action for r in cause.remediations[:REMEDIES_IN_MESSAGE]]
    else:
        head = f"its process {facts['status']}"
        why = "Nothing that was captured says why." if report is not None else "What was captured could not be analysed in time."
        ways = []
    signal = SIGNAL_PATTERN.search(facts["status"])
    ended = [f"Its process {facts['status']}."] if cause and not (signal and signal[1] in why) else []
    said = [f"The kernel died: {head}", why, *ended]
    cell = _cell(facts)
    text = [
        *said,
        *([cell, indent(facts["code"], "    ")] if cell else []),
        *([f"{MEMORY_GONE} {facts['again']}."] * bool(facts["again"])),
    ]
    text += [*(["What to do:"] if ways else []), *(f"  {n}. {way}" for n, way in enumerate(ways, 1))]
    text += [f"The full report: {' or '.join(places)}"] if (places := _places(facts)) else []
    metadata = {key: facts[key] for key in ("pid", "status", "bundle", "count", "line", "code", "time")}
    metadata |= {"schema": "forensics-death/1", "verdict": report.verdict if report is not None else None}
    metadata |= {"cause": cause.id, "title": cause.title, "probability": cause.probability} if cause else {"cause": None}
    code = " ".join(facts["code"].split())[:MAX_ERROR_CODE_CHARS]
    return {
        "text": "\n".join(text) + "\n",
        "html": _html(said, cell, ways, facts),
        "error": " ".join([f"{said[0].removeprefix('The kernel died: ')}. {why}", *([f"{cell} {code}"] if cell else [])]),
        "metadata": {"forensics": metadata},
    }


def facts_of_bundle(bundle: str) -> dict[str, Any]:
    """The facts of a death if only the bundle is known."""
    return {"bundle": bundle, "status": "ended", "count": 0, "line": 0, "code": "", "pid": 0, "time": "", "link": "", "again": ""}


def _cell(facts: dict[str, Any]) -> str:
    """The words before the code that was running."""
    if not facts["code"]:
        return ""
    name = f"Cell [{facts['count']}]" if facts["count"] else "This cell"
    return f"{name} was running, at line {facts['line']}:" if facts["line"] else f"{name} was running:"


def _places(facts: dict[str, Any]) -> list[str]:
    """Where the full report is: a page of the server, and a command at its machine."""
    bundle = Path(facts["bundle"])
    command = f"forensics why {bundle.name if bundle.parent == Path(state_folder()) else bundle}" if facts["bundle"] else ""
    return [place for place in (facts["link"], command) if place]


def _html(said: list[str], cell: str, ways: list[str], facts: dict[str, Any]) -> str:
    """The message with inline styles alone, in the colours of the page: front ends clean what they show, each in its own way."""
    head, *rest = (escape(line) for line in said)
    parts = [f"<div style='font-weight:600;margin-bottom:.3em'>{head}</div>", *(f"<div>{line}</div>" for line in rest)]
    if cell:
        code = f"<pre style='{CODE_STYLE}'>{escape(facts['code'])}</pre>"
        parts.append(f"<div style='{PART_STYLE}'>{escape(cell)}</div>{code}")
    if facts["again"]:
        clicks = CLICKS if facts["link"] else ""
        words = f"<span class='forensics-words'>{escape(facts['again'])}.</span>"
        parts.append(f"<div style='{PART_STYLE}'>{MEMORY_GONE} {clicks}{words}</div>")
    if ways:
        listed = "".join(f"<li>{escape(way)}</li>" for way in ways)
        parts.append(f"<div style='{PART_STYLE}'>What to do:</div><ol style='margin:0;padding-left:1.8em'>{listed}</ol>")
    if places := _places(facts):
        shown = [f"<code style='background:none;color:inherit'>{escape(place)}</code>" for place in places]
        if facts["link"]:
            shown[0] = (
                f"<a href='{escape(facts['link'])}' target='_blank' rel='noopener' style='color:inherit'>The full report</a>"
            )
            shown[1:] = [f"or, on the server's machine, {place}" for place in shown[1:]]
        else:
            shown[0] = f"The full report: {shown[0]}"
        parts.append(f"<div style='{PART_STYLE}'>{' '.join(shown)}</div>")
    return f"<div style='{MESSAGE_STYLE}'>{''.join(parts)}</div>"


WORKER_COMMAND = [sys.executable, "-P", "-m", "forensics.adapters.jupyter.worker"]


class Analysis:
    """Starts the process when it is first needed and keeps it running; several threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False

    def warm(self) -> None:
        """Begin to load the database before it is needed. Raises OSError if no process can be started."""
        with self._lock:
            self._start()

    def of(self, facts: dict[str, Any], within_s: float) -> dict[str, Any]:
        """The message on a death (see `message.death_message`); without a report if that takes longer than `within_s`."""
        until = time.monotonic() + within_s
        with self._lock:
            try:
                process = self._start()
                assert process.stdin is not None
                if self._ready or self._line(until) is not None:
                    self._ready = True
                    process.stdin.write(json.dumps(facts).encode() + b"\n")
                    process.stdin.flush()
                    if found := self._line(until):
                        return found
            except (OSError, ValueError) as error:
                return death_message(None, facts) | {"fault": str(error)}
            if self._ready:  # a late answer would be taken for the next one
                self._stop()
        return death_message(None, facts)

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:  # safe: this child alone, under the lock
            self._ready = False
            # Safe: a session of its own, so that no signal of a terminal reaches it; reaped here or in _stop.
            self._process = subprocess.Popen(
                WORKER_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
        return self._process

    def _line(self, until: float) -> dict[str, Any] | None:
        assert self._process is not None
        assert self._process.stdout is not None
        if not readable(self._process.stdout.fileno(), max(0.0, until - time.monotonic())):
            return None
        found = json.loads(self._process.stdout.readline() or b"null")
        if found is None:
            raise OSError("the analysing process ended")
        return found if isinstance(found, dict) else {}

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()  # safe: Popen sends nothing to a child that it has reaped
            self._process.wait()  # safe: this child alone, which SIGKILL ends
            self._process = None

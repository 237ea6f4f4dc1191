"""The message that a notebook shows for a dead kernel: a report in few lines, as text and as HTML.

The kernel died: A memory limit was hit (97 %)
The kernel killed python (pid 1917, 3.9 GiB resident) because its cgroup reached its limit of 4 GiB.
Cell [12] was running: df = load(everything)
What to do:
  1. Ask for more memory than the 4 GiB it had
The full report: /forensics/deaths/20261122-174701-train.ipynb-1917
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forensics.api import Report

REMEDIES_IN_MESSAGE = 3  # chosen by hand: the message is in a notebook's cell and links the whole report
ERROR_NAME = "KernelDied"


def death_message(report: Report | None, facts: dict[str, Any]) -> dict[str, Any]:
    """The message as plain values: `text`, `html`, `error` (one line), `metadata`.

    `report`: on the bundle; None if there is none. `facts`: status ("was ended by signal 9 (SIGKILL)"), count and first_line of
    the cell (0 and "" for none), pid, bundle, link (the URL of the full report; "" for none).
    """
    from forensics.report.redaction import mask_text, without_secrets

    report = without_secrets(report) if report is not None else None  # type: ignore[assignment]
    facts = facts | {"first_line": mask_text(facts["first_line"])}
    is_crash = report is not None and report.verdict == "crash"
    cause = report.causes[0] if report is not None and is_crash else None
    if cause is not None:
        head, why = f"{cause.title} ({cause.probability:.0%})", cause.summary
        ways = [r.action for r in cause.remediations[:REMEDIES_IN_MESSAGE]]
    else:
        head = f"its process {facts['status']}"
        why = "Nothing that was captured says why." if report is not None else "What was captured could not be analysed in time."
        ways = []
    cell = _cell(facts)
    where = facts["link"] or facts["bundle"]
    lines = [f"The kernel died: {head}", why, *([f"Its process {facts['status']}."] if cause else []), *([cell] if cell else [])]
    text = [*lines, *(["What to do:"] if ways else []), *(f"  {n}. {way}" for n, way in enumerate(ways, 1))]
    text += [f"The full report: {where}"] if report is not None else []
    metadata = {key: facts[key] for key in ("pid", "status", "bundle", "count", "first_line", "time")}
    metadata |= {"schema": "forensics-death/1", "verdict": report.verdict if report is not None else None}
    metadata |= {"cause": cause.id, "title": cause.title, "probability": cause.probability} if cause else {"cause": None}
    return {
        "text": "\n".join(text) + "\n",
        "html": _html(lines, ways, facts),
        "error": " ".join([f"{lines[0].removeprefix('The kernel died: ')}. {why}", *([cell] if cell else [])]),
        "metadata": {"forensics": metadata},
    }


def facts_of_bundle(bundle: str) -> dict[str, Any]:
    """The facts of a death if only the bundle is known."""
    return {"bundle": bundle, "status": "ended", "count": 0, "first_line": "", "pid": 0, "time": "", "link": ""}


def _cell(facts: dict[str, Any]) -> str:
    if not facts["first_line"]:
        return ""
    name = f"Cell [{facts['count']}]" if facts["count"] else "This cell"
    return f"{name} was running: {facts['first_line'][:120]}"


def _html(lines: list[str], ways: list[str], facts: dict[str, Any]) -> str:
    head, *rest = (escape(line) for line in lines)
    parts = [f"<strong>{head}</strong>", *(f"<div>{line}</div>" for line in rest)]
    if ways:
        parts.append("<div>What to do:</div><ol style='margin:0'>" + "".join(f"<li>{escape(way)}</li>" for way in ways) + "</ol>")
    if facts["link"]:
        parts.append(f"<div><a href='{escape(facts['link'])}' target='_blank' rel='noopener'>The full report</a></div>")
    elif facts["bundle"]:
        parts.append(f"<div>The full report: <code>forensics why {escape(facts['bundle'])}</code></div>")
    style = "border-left:4px solid #c62828;padding:.4em .8em;line-height:1.45"
    return f"<div style='{style}'>{''.join(parts)}</div>"

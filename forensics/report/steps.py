"""The course of the incident in a few steps: when each cause first occurred, and in which source.

08:23:04 dmesg.log: A memory limit was hit | 2.5 s later jupyter.log: The notebook kernel died
"""

from datetime import datetime

from msgspec import Struct

from forensics.model import Report, TimelineEntry
from forensics.report.consequences import consequences
from forensics.report.phrases import time_between

MAX_STEPS = 5  # chosen by hand: a chain that is read as one sentence
SAME_MOMENT_S = 0.05  # chosen by hand: two events this close have the same time


class CourseStep(Struct, frozen=True):
    """The first line of a cause. `gap`: the time since the step before it, in words; empty if unknown."""

    source: str
    line: int
    title: str
    role: str
    time: datetime | None
    gap: str


def course_steps(report: Report) -> list[CourseStep]:
    """The first cause and what followed from it, in order of time on one clock; in order of line inside one source.

    Empty if the order is unknown, if there is only one, or if nothing ended badly. Events before the cause are no steps.
    """
    if report.verdict == "no_crash":
        return []
    findings = {f.id: f for f in (report.causes[0], *consequences(report))}
    first: dict[str, TimelineEntry] = {}
    begin = min((p.time for p in report.causes[0].evidence if p.time), default=None)
    for moment in _first_incident(report):
        too_early = moment.cause == report.causes[0].id and begin and moment.time and moment.time < begin
        if moment.cause in findings and not too_early:  # an earlier one happened to another process
            first.setdefault(moment.cause or "", moment)
    moments = list(first.values())
    if len(moments) < 2 or report.causes[0].id not in first:
        return []
    one_clock = len({m.lane for m in moments}) == 1
    if all(m.time for m in moments) and one_clock:
        moments.sort(key=lambda m: (m.time.timestamp() if m.time else 0.0, m.source, m.line))
    elif len({m.source for m in moments}) == 1:
        moments.sort(key=lambda m: m.line)
    else:
        return []
    moments = moments[next(i for i, m in enumerate(moments) if m.cause == report.causes[0].id) :]
    if len(moments) < 2:
        return []
    return [_step(m, moments[i - 1] if i else None, findings[m.cause or ""].title) for i, m in enumerate(moments[:MAX_STEPS])]


def _first_incident(report: Report) -> list[TimelineEntry]:
    """The moments of the incident that the causes are about."""
    incident = report.incidents[0] if report.incidents else None
    return list(report.timeline[: incident.events]) if incident else []


def _step(moment: TimelineEntry, before: TimelineEntry | None, title: str) -> CourseStep:
    gap = ""
    if before and before.time and moment.time and abs((moment.time - before.time).total_seconds()) >= SAME_MOMENT_S:
        gap = time_between(before.time, moment.time)
    return CourseStep(moment.source, moment.line, title, moment.role, moment.time, gap)

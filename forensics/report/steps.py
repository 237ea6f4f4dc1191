"""The course of the incident in a few steps: when each cause first occurred, and in which source.

08:23:04 dmesg.log: A memory limit was hit | 2.5 s later jupyter.log: The notebook kernel died
"""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from forensics.model import Finding, Proof, Report, TimelineEntry
from forensics.report.consequences import consequences
from forensics.report.moment import gap_text, shown_proof
from forensics.report.phrases import shows_no_crash

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
    """The first cause and what followed, in order of time on one clock; in order of line inside one source.

    Empty if the order is unknown, if there is only one, or if nothing ended badly. Events before the cause are no steps.
    """
    if shows_no_crash(report):
        return []
    root, findings = report.causes[0], {f.id: f for f in (report.causes[0], *consequences(report))}
    first: dict[str, TimelineEntry] = {}
    begin = min((p.time for p in root.evidence if p.time), default=None)
    for entry in _first_incident(report):
        too_early = entry.cause == root.id and begin and entry.time and entry.time < begin
        if entry.cause in findings and not too_early:  # an earlier one happened to another process
            first.setdefault(entry.cause or "", entry)
    shown = shown_proof(root)
    if root.id in first and shown and shown.time and first[root.id].time:
        first[root.id] = replace(first[root.id], time=shown.time, source=shown.source, line=shown.line)
    moments = list(first.values())
    if len(moments) < 2 or root.id not in first:
        return []
    one_clock = len({m.lane for m in moments}) == 1
    if all(m.time for m in moments) and one_clock:
        moments.sort(key=lambda m: (m.time.timestamp() if m.time else 0.0, m.source, m.line))
    elif len({m.source for m in moments}) == 1:
        moments.sort(key=lambda m: m.line)
    else:
        return []
    moments = moments[next(i for i, m in enumerate(moments) if m.cause == root.id) :]
    if len(moments) < 2:
        return []
    return [_step(m, moments[i - 1] if i else None, findings) for i, m in enumerate(moments[:MAX_STEPS])]


def _first_incident(report: Report) -> list[TimelineEntry]:
    """The moments of the incident that the causes are about."""
    incident = report.incidents[0] if report.incidents else None
    return list(report.timeline[: incident.events]) if incident else []


def _step(entry: TimelineEntry, before: TimelineEntry | None, findings: Mapping[str, Finding]) -> CourseStep:
    gap = ""
    if before and before.time and entry.time and abs((entry.time - before.time).total_seconds()) >= SAME_MOMENT_S:
        gap = gap_text(_line_of(before, findings), _line_of(entry, findings))
    return CourseStep(entry.source, entry.line, findings[entry.cause or ""].title, entry.role, entry.time, gap)


def _line_of(entry: TimelineEntry, findings: Mapping[str, Finding]) -> Proof:
    """The line of evidence at `entry`, with its time, and the doubt about it."""
    same = next((p for p in findings[entry.cause or ""].evidence if (p.source, p.line) == (entry.source, entry.line)), None)
    bare = Proof(entry.source, entry.line, "", entry.event, "hint", time=entry.time)
    return replace(bare, time_uncertainty_s=same.time_uncertainty_s, stamped=same.stamped) if same else bare

"""The course of the incident in a few steps: when what was first seen in which source.

08:23:04 dmesg.log: A memory limit was hit | 2.5 s later jupyter.log: The notebook kernel died
"""

from datetime import datetime

from msgspec import Struct

from forensics.model import Finding, Moment, Report
from forensics.report.consequences import consequences
from forensics.report.phrases import apart, as_consequence

MAX_STEPS = 5
MOMENT_S = 0.05  # less is told as no time at all


class Step(Struct, frozen=True):
    """The first sight of a cause. `gap`: how long after the step before it; empty where no clock tells."""

    source: str
    line: int
    title: str
    role: str
    time: datetime | None
    gap: str


def steps(report: Report) -> list[Step]:
    """The first cause and what followed from it, in order of time on one clock; in order of line inside one source.

    Nothing where the order cannot be known, where there is only one, or where nothing ended badly. What was seen before the
    cause is no step from it.
    """
    if report.verdict == "no_crash":
        return []
    told = {f.id: f for f in (report.causes[0], *consequences(report))}
    first: dict[str, Moment] = {}
    begin = min((p.time for p in report.causes[0].evidence if p.time), default=None)
    for moment in _first_incident(report):
        too_early = moment.cause == report.causes[0].id and begin and moment.time and moment.time < begin
        if moment.cause in told and not too_early:  # the same happened to somebody else before
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
    return [_step(m, moments[i - 1] if i else None, _title(told[m.cause or ""])) for i, m in enumerate(moments[:MAX_STEPS])]


def _title(finding: Finding) -> str:
    return as_consequence(finding.title) if finding.role == "symptom" else finding.title


def _first_incident(report: Report) -> list[Moment]:
    """The moments that belong to the incident the causes speak of."""
    incident = report.incidents[0] if report.incidents else None
    return list(report.timeline[: incident.events]) if incident else []


def _step(moment: Moment, before: Moment | None, title: str) -> Step:
    gap = ""
    if before and before.time and moment.time and abs((moment.time - before.time).total_seconds()) >= MOMENT_S:
        gap = apart(before.time, moment.time)
    return Step(moment.source, moment.line, title, moment.role, moment.time, gap)

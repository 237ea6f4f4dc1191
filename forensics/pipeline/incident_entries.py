"""The incidents of the report and the entries of its timeline.

Incident, Diagnosis, Finding -> IncidentSummary(1, hosts ["gpu-04"], causes ["host_memory.oom_cgroup"], ...), TimelineEntry(...)

The table of sources: the format of each, its times, its size, and the warnings about it.

SourceAnalysis, Clock -> SourceSummary("dmesg.txt", format "dmesg", 4,812 lines, clock "uptime", ...)

The times that commands name, counted from the line that shows the first cause.

'journalctl --since "TIME - 2 min"', a line of 10:44:07 -> 'journalctl --since "2026-12-01 10:42:07"'

When the first cause was shown, if the line that shows it has no time: by the lines around it.

Finding(evidence [train.log:2234 "RuntimeError: ... file write failed"])  -> when "between 2025-12-26 16:03:03 and 16:05:47"
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, timedelta
from itertools import zip_longest
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from forensics import advice, correlation
from forensics.core import lazy, limits
from forensics.correlation.asked_subject import Subject, job_of
from forensics.model import (
    Finding,
    Incident,
    IncidentCause,
    IncidentSummary,
    Observation,
    OpenQuestion,
    Proof,
    Role,
    SourceSummary,
    TimelineEntry,
    Warning,
)
from forensics.model.verdicts import Candidate, Diagnosis
from forensics.pipeline.source_analysis import SourceAnalysis

TIME_NEAR = lazy.regex(r"\bTIME (?P<sign>[+-]) (?P<minutes>\d{1,3}) min\b")  # in a command of ours
MAX_FULL_CAUSES = 3  # causes of an incident after the first that are given in full
MAX_INCIDENT_EVIDENCE_LINES = 5  # of each of these


def order_incidents(
    found: list[Incident], each: list[Diagnosis], decided: Diagnosis, first: Finding
) -> tuple[list[Incident], list[Diagnosis]]:
    """`found` and `each`, its diagnoses, in the report's order: first the incident with evidence of the first cause, then
    crashes.

    If several have such evidence, the one in which the process died that `first`, the finding of that cause, names. The first
    incident gets `decided`, the diagnosis of all incidents together.
    """
    main = {o.observation.place for o in decided.candidates[0].owned}

    def place(i: int) -> tuple[bool, bool, bool, bool, int]:
        own = [e for e in found[i].events if e.place in main and e.cause == first.id]
        named = any(e.fields.get("pid") == first.facts.get("pid") for e in own)
        return not own, not named, each[i].verdict != "crash", each[i].verdict == "no_crash", i

    order = sorted(range(len(each)), key=place)
    ordered = [each[i] for i in order]
    return [found[i] for i in order] + found[len(each) :], [decided, *ordered[1:]] if ordered else []


def incident_summaries(
    found: list[Incident],
    decided: list[Diagnosis],
    first: tuple[Finding, ...],
    findings_of: Callable[[Diagnosis], tuple[Finding, ...]],
    asked: Subject,
) -> tuple[IncidentSummary, ...]:
    """Each of `found` that has a diagnosis, with the findings that `findings_of` gives; `first`: those of the first incident.
    `asked`: the subject, beside which other jobs may stand.

    Behind the first one only those that ended something: messages that ended nothing stand among the notices.
    """
    every = enumerate(zip(found, decided, strict=False))
    both = [(incident, decision) for i, (incident, decision) in every if i == 0 or decision.verdict != "no_crash"]
    all_findings = [first, *(advice.annotate_links(findings_of(d), i) for i, d in both[1:])]
    return tuple(
        _incident(i, n, d, f, job_of(i, asked)) for n, ((i, d), f) in enumerate(zip(both, all_findings, strict=False), 1)
    )


def _incident(incident: Incident, number: int, decision: Diagnosis, found: tuple[Finding, ...], job: str) -> IncidentSummary:
    hosts = sorted({str(e.fields["host"]) for e in incident.events if "host" in e.fields})
    links = tuple(f"{k.first[0]}:{k.first[1]} and {k.second[0]}:{k.second[1]} by {k.by}" for k in incident.links[:20])
    first = found[0]
    in_full = number > 1 and decision.verdict != "no_crash"
    return IncidentSummary(
        id=number,
        start=incident.start,
        end=incident.end,
        causes=tuple(f.id for f in found),
        events=len(incident.events),
        hosts=tuple(hosts),
        links=links,
        time=min((e.time for e in incident.events if e.time and e.cause == first.id), default=incident.start),
        verdict=decision.verdict,
        subject=job or advice.affected(first.facts),
        candidates=tuple(IncidentCause(f.id, f.title, f.role, f.probability) for f in found),
        findings=tuple(_short(f) for f in found[:MAX_FULL_CAUSES]) if in_full else (),
    )


def _short(finding: Finding) -> Finding:
    """A finding with its best evidence only, and without the ledger, for one incident among many."""
    return replace(finding, evidence=finding.evidence[:MAX_INCIDENT_EVIDENCE_LINES], ledger=())


def timeline(found: list[Incident], decided: list[Diagnosis]) -> tuple[TimelineEntry, ...]:
    """The timeline: all observations, each with the role of its cause in its incident; what is of other jobs has none."""
    made: list[TimelineEntry] = []
    for incident, decision in zip_longest(found, decided):  # of very many incidents, the last ones have no diagnosis
        found_roles = [(c, _role(c, i == 0)) for i, c in enumerate(decision.candidates)] if decision else []
        role = {(*o.observation.place, o.observation.kind): r for c, r in found_roles for o in c.every}
        made += [_entry(e, role.get((*e.place, e.kind), "noise")) for e in incident.events]
    return tuple(made[: limits.current.moments])


def _role(candidate: Candidate, first: bool) -> Role:
    return "root" if first else "symptom" if candidate.explained_by else "contributing"


def _entry(event: Observation, role: Role | Literal["noise"]) -> TimelineEntry:
    return TimelineEntry(event.time, event.lane, event.source, event.line, event.kind, event.cause, role)


def source_summaries(
    analyses: list[SourceAnalysis], clocks: Mapping[str, correlation.Clock], noted: list[Warning]
) -> tuple[SourceSummary, ...]:
    """A row for each source, with the warnings of `noted` about it."""
    about: dict[str | None, list[Warning]] = {}
    for warning in dict.fromkeys(noted):
        about.setdefault(warning.source, []).append(warning)
    return tuple(_source(r, clocks[r.name], about.get(r.name, [])) for r in analyses)


def _source(reading: SourceAnalysis, clock: correlation.Clock, noted: list[Warning]) -> SourceSummary:
    scanned = reading.scan
    return SourceSummary(
        name=reading.name,
        format=scanned.source.format or reading.line_format,
        compression=scanned.source.compression,
        bytes=scanned.bytes,
        lines=scanned.lines,
        records=reading.records,
        first_time=clock.first,
        last_time=clock.last,
        clock=clock.kind,
        warnings=tuple(f"{w.kind}: {w.message}" for w in noted),
    )


MAX_GAP_S = 60.0  # chosen by hand: between two signs of one trouble; a program that is started again needs about as long


class LogTimes(Struct, frozen=True):
    """What is known of the times in the logs. `lines`: gives the lines around a line of evidence, and its index in them.
    `clocks`: of each source. `dated`: a source tells year and date; they are known for all then."""

    lines: Callable[[Proof], tuple[Sequence[str], int]]
    clocks: Mapping[str, correlation.Clock]
    dated: bool


def with_moment(found: tuple[Finding, ...], times: LogTimes) -> tuple[Finding, ...]:
    """`found` with the moment of the first finding, in words, if only the lines around its first line tell it."""
    lines = found[0].evidence
    if not lines or (lines[0].time and lines[0].stamped):
        return found
    told = _moment(lines[0], times)
    if told is None or (not told.at and any(p.time and p.stamped and p.source != lines[0].source for p in lines)):
        return found  # another log has the time of the same trouble
    same = [p for p in lines if p.source == lines[0].source and p.weight != "hint" and not p.earlier]
    above = {p.line: p for p in same if p.line < lines[0].line}
    for number in sorted(above, reverse=True):
        earlier = _moment(above[number], times)
        gap = correlation.seconds_between(earlier, told) if earlier else -1.0
        if earlier is None or not 0 <= gap <= MAX_GAP_S:
            break
        told = earlier if gap or not told.at else told
    clock = times.clocks[lines[0].source]
    told = correlation.in_one_zone(told, clock)
    text = correlation.moment_text(correlation.completed(told, clock) if times.dated else told)
    return (replace(found[0], when=text), *found[1:])


def _moment(proof: Proof, times: LogTimes) -> correlation.Moment | None:
    (lines, at), clock = times.lines(proof), times.clocks.get(proof.source)
    if clock is None or not lines:
        return None
    return correlation.moment_of([*reversed(lines)], len(lines) - 1 - at) if clock.backwards else correlation.moment_of(lines, at)


def with_times(asked: Iterable[OpenQuestion], first: Finding, sources: Iterable[SourceSummary]) -> tuple[OpenQuestion, ...]:
    """The questions with the times that their commands name, if a line of evidence has its own. One without a zone is that of the
    machine, which journalctl takes as it is."""
    proof = next((p for p in first.evidence if p.time and p.stamped and not p.earlier), None)
    if proof is None or (at := proof.time) is None:
        return tuple(asked)
    zone = " UTC" if any(s.name == proof.source and s.clock.endswith("+zone") for s in sources) else ""
    at = at.astimezone(UTC)

    def moved(found: re.Match[str]) -> str:
        gap = timedelta(minutes=int(f"{found['sign']}{found['minutes']}"))
        return f"{at + gap:%Y-%m-%d %H:%M:%S}{zone}"

    return tuple(replace(q, command=TIME_NEAR.sub(moved, q.command)) for q in asked)

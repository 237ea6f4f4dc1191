"""What a report says of the subject, its incidents, the moments of the timeline and the sources: values of model/, no decision.

Diagnosis, Incident, Reading, Clock -> SubjectSummary, IncidentSummary, Moment, SourceSummary
"""

import re
from collections.abc import Callable, Mapping
from itertools import zip_longest

from msgspec.structs import replace

from forensics import advice, correlation
from forensics.core import limits
from forensics.model import (
    EarlierAttempt,
    Finding,
    Incident,
    IncidentCause,
    IncidentSummary,
    Moment,
    Observation,
    Role,
    SourceSummary,
    SubjectSummary,
    Warning,
)
from forensics.model.verdicts import Candidate, Diagnosis, Entity
from forensics.ownership import Asked
from forensics.reading import Reading

JOB = re.compile(r"job (?P<number>\d+)")
MOST_CAUSES = 3  # of an incident after the first, told in full
MOST_ATTEMPTS = 20  # the last of them
MOST_PROOFS = 5  # evidence lines of each of these


def subject(decided: Diagnosis, asked: Asked, first: Finding) -> SubjectSummary:
    """What the verdict speaks of, and how it ended. `first`: what is said of the first cause, which may name the job."""
    entity, lane = asked.entity(), asked.main_lane()
    if lane and entity.name == lane.source:
        job = JOB.fullmatch(advice.who(first.facts)) if entity.kind == "job" and decided.verdict != "no_crash" else None
        entity = Entity(entity.kind, job["number"] if job else _own_source(decided, asked) or entity.name)
    attempts = len(lane.attempts) if lane and not asked.machine else 1
    shown = tuple(f"{source}:{line}: {text}" for source, line, text in decided.outcome.lines)
    ended = decided.outcome
    return SubjectSummary(entity.kind, entity.name, attempts, attempts, ended.state, ended.why, shown, ended.ended_badly)


def _own_source(decided: Diagnosis, asked: Asked) -> str:
    """Of several logs of the subject, the one that tells of the first cause, or of what it explains; empty where none does."""
    first = decided.candidates[0]
    if decided.verdict == "no_crash":
        return ""
    explained = [c for c in decided.candidates if c.explained_by == first.cause]
    owned = [o for c in (first, *explained) for o in c.owned if o.whose == "mine" and o.observation.source in asked.own]
    sources = [o.observation.source for o in owned]
    lane = asked.main_lane()
    return "" if lane is None or lane.source in sources else next(iter(sources), "")


def earlier_attempts(decided: Diagnosis, asked: Asked, told: tuple[Finding, ...]) -> tuple[EarlierAttempt, ...]:
    """The attempts of the subject's main lane before its last one that a line of weight shows the end of, in order."""
    lane = asked.main_lane()
    if lane is None or asked.machine:
        return ()
    titles = {f.id: f.title for f in told}
    ends = {
        o.observation.line: o.observation
        for c in decided.candidates
        if c.cause in titles and c.explained_by is None
        for o in c.owned
        if o.whose == "mine" and o.observation.source == lane.source and o.observation.weight != "hint" and o.observation.proofs
        if o.observation.ends != "nothing" and not o.aftermath.handled
    }
    found: list[EarlierAttempt] = []
    for attempt in lane.attempts[:-1]:
        lines = [n for n, e in ends.items() if attempt.first_line <= n and e.last_line <= attempt.last_line]
        if lines:
            end = ends[max(lines)]
            cause = str(end.cause)
            proof = end.proofs[0]
            found.append(
                EarlierAttempt(
                    attempt.number,
                    lane.source,
                    attempt.first_line,
                    attempt.last_line,
                    cause,
                    titles[cause],
                    proof.line,
                    proof.text,
                )
            )
    return tuple(found[-MOST_ATTEMPTS:])


def in_order(
    found: list[Incident], each: list[Diagnosis], decided: Diagnosis, first: Finding
) -> tuple[list[Incident], list[Diagnosis]]:
    """First the incident that holds the first cause's evidence, told as the whole is; then those that ended badly.

    Of several that hold some, the one in which the process died that `first`, what is said of that cause, names.
    """
    main = {o.observation.place for o in decided.candidates[0].owned}

    def place(i: int) -> tuple[bool, bool, bool, bool, int]:
        own = [e for e in found[i].events if e.place in main and e.cause == first.id]
        named = any(e.fields.get("pid") == first.facts.get("pid") for e in own)
        return not own, not named, each[i].verdict != "crash", each[i].verdict == "no_crash", i

    order = sorted(range(len(each)), key=place)
    told = [each[i] for i in order]
    return [found[i] for i in order] + found[len(each) :], [decided, *told[1:]] if told else []


def incidents(
    found: list[Incident],
    decided: list[Diagnosis],
    first: tuple[Finding, ...],
    tell: Callable[[Diagnosis], tuple[Finding, ...]],
) -> tuple[IncidentSummary, ...]:
    """Each of `found` that was decided, with what `tell` says of its causes; those of the first one are the report's own."""
    both = list(zip(found, decided, strict=False))
    told = [first, *(advice.linked(tell(d), i) for i, d in both[1:])]
    return tuple(_incident(i, n, d, f) for n, ((i, d), f) in enumerate(zip(both, told, strict=False), 1))


def _incident(incident: Incident, number: int, decision: Diagnosis, told: tuple[Finding, ...]) -> IncidentSummary:
    hosts = sorted({str(e.fields["host"]) for e in incident.events if "host" in e.fields})
    links = tuple(f"{k.first[0]}:{k.first[1]} and {k.second[0]}:{k.second[1]} by {k.by}" for k in incident.links[:20])
    first = told[0]
    in_full = number > 1 and decision.verdict != "no_crash"
    return IncidentSummary(
        id=number,
        start=incident.start,
        end=incident.end,
        causes=tuple(f.id for f in told),
        events=len(incident.events),
        hosts=tuple(hosts),
        links=links,
        time=min((e.time for e in incident.events if e.time and e.cause == first.id), default=incident.start),
        verdict=decision.verdict,
        subject=advice.who(first.facts),
        candidates=tuple(IncidentCause(f.id, f.title, f.role, f.probability) for f in told),
        findings=tuple(_short(f) for f in told[:MOST_CAUSES]) if in_full else (),
    )


def _short(finding: Finding) -> Finding:
    """A finding of one incident among many: with its best evidence, and without the ledger."""
    return replace(finding, evidence=finding.evidence[:MOST_PROOFS], ledger=())


def moments(found: list[Incident], decided: list[Diagnosis]) -> tuple[Moment, ...]:
    """The timeline: every observation with the role of its cause in its incident."""
    told: list[Moment] = []
    for incident, decision in zip_longest(found, decided):  # of very many incidents, the last ones are listed only
        role = {c.cause: _role(c, i == 0) for i, c in enumerate(decision.candidates)} if decision else {}
        told += [_moment(e, role) for e in incident.events]
    return tuple(told[: limits.current.moments])


def _role(candidate: Candidate, first: bool) -> Role:
    return "root" if first else "symptom" if candidate.explained_by else "contributing"


def _moment(event: Observation, role: dict[str, Role]) -> Moment:
    told = role.get(event.cause) if event.cause else None
    return Moment(event.time, event.lane, event.source, event.line, event.kind, event.cause, told or "noise")


def sources(readings: list[Reading], clocks: Mapping[str, correlation.Clock], noted: list[Warning]) -> tuple[SourceSummary, ...]:
    """Each source with what it turned out to be, and the warnings about it."""
    about: dict[str | None, list[Warning]] = {}
    for warning in dict.fromkeys(noted):
        about.setdefault(warning.source, []).append(warning)
    return tuple(_source(r, clocks[r.name], about.get(r.name, [])) for r in readings)


def _source(reading: Reading, clock: correlation.Clock, noted: list[Warning]) -> SourceSummary:
    scanned = reading.scan
    return SourceSummary(
        name=reading.name,
        format=scanned.source.format or reading.layout,
        compression=scanned.source.compression,
        bytes=scanned.bytes,
        lines=scanned.lines,
        records=reading.records,
        first_time=clock.first,
        last_time=clock.last,
        clock=clock.kind,
        warnings=tuple(f"{w.kind}: {w.message}" for w in noted),
    )

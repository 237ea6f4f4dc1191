"""The incidents of the report and the entries of its timeline.

Incident, Diagnosis, Finding -> IncidentSummary(1, hosts ["gpu-04"], causes ["host_memory.oom_cgroup"], ...), TimelineEntry(...)
"""

from collections.abc import Callable
from itertools import zip_longest

from msgspec.structs import replace

from forensics import advice
from forensics.core import limits
from forensics.model import Finding, Incident, IncidentCause, IncidentSummary, Observation, Role, TimelineEntry
from forensics.model.verdicts import Candidate, Diagnosis

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
) -> tuple[IncidentSummary, ...]:
    """Each of `found` that has a diagnosis, with the findings that `findings_of` gives; `first`: those of the first incident.

    Behind the first one only those that ended something: messages that ended nothing stand among the notices.
    """
    every = enumerate(zip(found, decided, strict=False))
    both = [(incident, decision) for i, (incident, decision) in every if i == 0 or decision.verdict != "no_crash"]
    all_findings = [first, *(advice.annotate_links(findings_of(d), i) for i, d in both[1:])]
    return tuple(_incident(i, n, d, f) for n, ((i, d), f) in enumerate(zip(both, all_findings, strict=False), 1))


def _incident(incident: Incident, number: int, decision: Diagnosis, found: tuple[Finding, ...]) -> IncidentSummary:
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
        subject=advice.affected(first.facts),
        candidates=tuple(IncidentCause(f.id, f.title, f.role, f.probability) for f in found),
        findings=tuple(_short(f) for f in found[:MAX_FULL_CAUSES]) if in_full else (),
    )


def _short(finding: Finding) -> Finding:
    """A finding with its best evidence only, and without the ledger, for one incident among many."""
    return replace(finding, evidence=finding.evidence[:MAX_INCIDENT_EVIDENCE_LINES], ledger=())


def timeline(found: list[Incident], decided: list[Diagnosis]) -> tuple[TimelineEntry, ...]:
    """The timeline: all observations, each with the role of its cause in its incident."""
    made: list[TimelineEntry] = []
    for incident, decision in zip_longest(found, decided):  # of very many incidents, the last ones have no diagnosis
        role = {c.cause: _role(c, i == 0) for i, c in enumerate(decision.candidates)} if decision else {}
        made += [_entry(e, role) for e in incident.events]
    return tuple(made[: limits.current.moments])


def _role(candidate: Candidate, first: bool) -> Role:
    return "root" if first else "symptom" if candidate.explained_by else "contributing"


def _entry(event: Observation, role: dict[str, Role]) -> TimelineEntry:
    known_role = role.get(event.cause) if event.cause else None
    return TimelineEntry(event.time, event.lane, event.source, event.line, event.kind, event.cause, known_role or "noise")

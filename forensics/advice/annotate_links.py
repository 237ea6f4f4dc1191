"""Name the link between evidence of other sources and the first evidence line: `pid 15372`, `time, 2.4 s apart`.

dmesg.log:83 Killed process 15372      train.log:28 ... (pid: 15372)        -> linked by pid 15372
                                       train.log:50 exit status 137         -> linked by pid 15372 in train.log:28, the same log

Evidence from the same source as the first evidence line needs no link. Evidence that nothing connects to it gets none.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from forensics.model import Finding, Incident, Link, Observation, Proof

Place = tuple[str, int]
TIME_LINK = "time"  # the prefix of links that are found by time alone


def annotate_links(findings: Sequence[Finding], incident: Incident | None) -> tuple[Finding, ...]:
    """`findings`; in the first one and in symptoms, each evidence line names its link to the first evidence line."""
    if incident is None or not findings or not findings[0].evidence or not incident.links:
        return tuple(findings)
    main = findings[0].evidence[0]
    owners = {(p.source, p.line): e for e in reversed(incident.events) for p in e.proofs if e.cause}
    roots = _events((p for p in findings[0].evidence if p.source == main.source), owners)
    linked = _links_to({e.place for e in roots}, incident.links)
    return tuple(
        replace(f, evidence=tuple(_with_link(p, main, owners, linked) for p in f.evidence))
        if i == 0 or f.role == "symptom"
        else f
        for i, f in enumerate(findings)
    )


def _events(proofs: Iterable[Proof], owners: dict[Place, Observation]) -> list[Observation]:
    return [owners[p.source, p.line] for p in proofs if (p.source, p.line) in owners]


def _links_to(roots: set[Place], links: Iterable[Link]) -> dict[Place, str]:
    """The most reliable link of each event with one of `roots`. `links`: the most reliable ones first."""
    found: dict[Place, str] = {}
    for link in links:
        for place, other in ((link.first, link.second), (link.second, link.first)):
            if other in roots and place not in roots:
                found.setdefault(place, link.by)
    return found


def _with_link(proof: Proof, main: Proof, owners: dict[Place, Observation], linked: dict[Place, str]) -> Proof:
    event = owners.get((proof.source, proof.line))
    if event is None or proof.source == main.source:
        return proof
    own = linked.get(event.place)
    if own and not own.startswith(TIME_LINK):
        return replace(proof, linked_by=own)
    sure = ((s, n, by) for (s, n), by in linked.items() if s == proof.source and not by.startswith(TIME_LINK))
    return replace(proof, linked_by=next((f"{by} in {s}:{n}, the same log" for s, n, by in sure), own))

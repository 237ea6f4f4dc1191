"""Evidence of other sources carries the link that ties it to the first line of the first cause."""

from forensics.advice import annotate_links
from forensics.model import Finding, Incident, Link, Observation, Proof


def event(source: str, line: int, cause: str) -> Observation:
    proof = Proof(source, line, f"{source}:{line}", "made", "proof")
    return Observation("made", cause, "proof", source, line, line, (proof,))


def finding(cause: str, role: str, *events: Observation) -> Finding:
    proofs = tuple(p for e in events for p in e.proofs)
    return Finding(cause, cause, role, 0.5, "", proofs, {}, ())  # type: ignore[arg-type]


KILL, MISSED, STATUS, NEAR = (
    event("dmesg", 83, "a.kill"),
    event("train", 28, "a.kill"),
    event("train", 50, "a.kill"),
    event("jupyter", 7, "a.died"),
)
PID = Link(KILL.place, MISSED.place, "pid 15372", "pid")
TIME = Link(KILL.place, NEAR.place, "time, 0.7 s apart", "time")


def links(found: tuple[Finding, ...]) -> list[list[str | None]]:
    return [[p.linked_by for p in f.evidence] for f in found]


def test_a_line_is_tied_by_its_own_link_or_by_another_line_of_its_log() -> None:
    incident = Incident((KILL, MISSED, STATUS), (PID,))
    assert links(annotate_links([finding("a.kill", "root", KILL, MISSED, STATUS)], incident)) == [
        [None, "pid 15372", "pid 15372 in train:28, the same log"]
    ]


def test_time_is_a_link_where_there_is_no_better_one() -> None:
    incident = Incident((KILL, MISSED, NEAR), (PID, TIME))
    found = annotate_links([finding("a.kill", "root", KILL, MISSED), finding("a.died", "symptom", NEAR)], incident)
    assert links(found) == [[None, "pid 15372"], ["time, 0.7 s apart"]]


def test_what_is_no_symptom_is_tied_to_nothing() -> None:
    incident = Incident((KILL, NEAR), (TIME,))
    found = [finding("a.kill", "root", KILL), finding("a.died", "contributing", NEAR)]
    assert links(annotate_links(found, incident)) == [[None], [None]]


def test_without_links_or_evidence_nothing_changes() -> None:
    one = finding("a.kill", "root", KILL)
    assert annotate_links([one], None) == (one,)
    assert annotate_links([one], Incident((KILL,))) == (one,)
    assert annotate_links([], Incident((KILL,), (PID,))) == ()
    bare = finding("a.kill", "root")
    assert annotate_links([bare], Incident((KILL,), (PID,))) == (bare,)

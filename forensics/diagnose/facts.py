"""The facts and the evidence lines of a cause, from its events: the surest event speaks first."""

from collections.abc import Sequence

from forensics.model import Event, Proof, Value

IDENTITY = ("pid", "rank", "gpu", "pci", "host", "task", "job", "container")
TOGETHER = ({"file", "line_no", "function"}, {"exc_type", "exc_message"})  # one event's place, one event's words
MOST_PROOFS = 12
RANKS = {"proof": 0, "strong": 1, "hint": 2}


def _surest_first(events: Sequence[Event]) -> list[Event]:
    return sorted(events, key=lambda e: (RANKS[e.weight], -len(e.fields), e.time is None, e.source, e.line))


def facts_of(events: Sequence[Event]) -> dict[str, Value]:
    """Facts of the surest event, filled up from others that speak of the same pid, rank, GPU, host."""
    facts: dict[str, Value] = {}
    for event in _surest_first(events):
        if all(facts.get(name, event.fields[name]) == event.fields[name] for name in IDENTITY if name in event.fields):
            rest = {n for group in TOGETHER if group & facts.keys() for n in group}
            facts = {**{n: v for n, v in event.fields.items() if n not in rest}, **facts}
    return facts


def proofs_of(events: Sequence[Event]) -> tuple[Proof, ...]:
    """At most MOST_PROOFS evidence lines, surest first, each line once, every event heard before any event's second line."""
    chosen: dict[tuple[str, int], Proof] = {}
    ordered = _surest_first(events)
    for place in range(max((len(e.proofs) for e in ordered), default=0)):
        for event in ordered:
            if place < len(event.proofs) and len(chosen) < MOST_PROOFS:
                proof = event.proofs[place]
                chosen.setdefault((proof.source, proof.line), proof)
    return tuple(chosen.values())

"""The facts and the evidence lines of a cause, from its events: the surest event speaks first.

Of the deaths of several processes, one after the other, the last ones do: who asks a kernel log what happened means those. So do
those of a run's last attempt, of several in one log.
"""

from collections.abc import Sequence, Set
from itertools import pairwise

from forensics.model import Observation, Proof, Value

IDENTITY = ("pid", "rank", "gpu", "pci", "host", "task", "job", "container")
TOGETHER = ({"file", "line_no", "function"}, {"exc_type", "exc_message"})  # one event's place, one event's words
MAX_EVIDENCE_LINES = 12  # chosen by hand: of all the events together; the timeline has the rest
WEIGHT_ORDER = {"proof": 0, "strong": 1, "hint": 2}
MAX_DEATH_GAP_S = 10.0  # processes of one job die within seconds of each other


def _surest_first(events: Sequence[Observation], deaths: bool, earlier: Set[tuple[str, int]]) -> list[Observation]:
    over = {e.place for e in _earlier_deaths(events)} if deaths else set()
    over |= {e.place for e in events if e.shown_on and all((e.source, n) in earlier for n in e.shown_on)}
    return sorted(
        events, key=lambda e: (WEIGHT_ORDER[e.weight], e.place in over, -len(e.fields), e.time is None, e.source, e.line)
    )


def _earlier_deaths(events: Sequence[Observation]) -> list[Observation]:
    """Deaths of processes that others died after, with more than MAX_DEATH_GAP_S between them."""
    deaths = [e for e in events if "pid" in e.fields and e.moment is not None]
    deaths.sort(key=lambda e: e.moment or 0.0)
    cut = next(
        (i for i, (a, b) in enumerate(pairwise(deaths[::-1])) if (a.moment or 0.0) - (b.moment or 0.0) > MAX_DEATH_GAP_S), None
    )
    return [] if cut is None else deaths[: len(deaths) - 1 - cut]


def facts_of(
    events: Sequence[Observation], deaths: bool = False, earlier: Set[tuple[str, int]] = frozenset()
) -> dict[str, Value]:
    """Facts of the surest event, filled up from others that speak of the same pid, rank, GPU, host.

    `deaths`: they tell how processes died (trait process_death), of which the last ones count. `earlier`: lines that show it
    in attempts before the last one that does.
    """
    facts: dict[str, Value] = {}
    for event in _surest_first(events, deaths, earlier):
        if all(facts.get(name, event.fields[name]) == event.fields[name] for name in IDENTITY if name in event.fields):
            rest = {n for group in TOGETHER if group & facts.keys() for n in group}
            facts = {**{n: v for n, v in event.fields.items() if n not in rest}, **facts}
    return facts


def proofs_of(
    events: Sequence[Observation], deaths: bool = False, earlier: Set[tuple[str, int]] = frozenset()
) -> tuple[Proof, ...]:
    """At most MAX_EVIDENCE_LINES evidence lines, surest first, each once; every event's first line before any second one."""
    chosen: dict[tuple[str, int], Proof] = {}
    ordered = [
        sorted(e.proofs, key=lambda p: (p.source, p.line) in earlier) for e in _surest_first(events, deaths, earlier)
    ]  # of a repeated message, the one of the last attempt
    for place in range(max((len(own) for own in ordered), default=0)):
        for own in ordered:
            if place < len(own) and len(chosen) < MAX_EVIDENCE_LINES:
                proof = own[place]
                chosen.setdefault((proof.source, proof.line), proof)
    return tuple(chosen.values())

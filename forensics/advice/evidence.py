"""Choose the facts and the evidence lines of a cause, from its events in the order of certainty.

If several processes died one after the other, the last deaths come first: a person who looks into a kernel log is interested in
those. If one log has several attempts of a run, the events of the last attempt come first.
"""

from collections.abc import Sequence, Set
from itertools import pairwise

from forensics.model import Observation, Proof, Value
from forensics.model.logs import completed_fields

IDENTITY = ("pid", "rank", "gpu", "pci", "host", "task", "job", "container", "device", "interface")
MAX_EVIDENCE_LINES = 12  # chosen by hand: of all the events together; the timeline has the rest
WEIGHT_ORDER = {"proof": 0, "strong": 1, "hint": 2}
MAX_DEATH_GAP_S = 10.0  # processes of one job die within seconds of each other
MAX_SAME_DEATH_S = 1.0  # chosen by hand: of deaths this close neither is the later one, whatever their limits
LIMIT_FACT = "limit_path"  # of the cgroup whose memory limit was reached


def _surest_first(events: Sequence[Observation], deaths: bool, earlier: Set[tuple[str, int]]) -> list[Observation]:
    over = {e.place for e in _earlier_deaths(events)} if deaths else set()
    over |= {e.place for e in events if e.shown_on and all((e.source, n) in earlier for n in e.shown_on)}
    return sorted(
        events, key=lambda e: (WEIGHT_ORDER[e.weight], e.place in over, -len(e.fields), e.time is None, e.source, e.line)
    )


def _earlier_deaths(events: Sequence[Observation]) -> list[Observation]:
    """The deaths that are followed by later deaths of other processes after a gap of more than MAX_DEATH_GAP_S seconds, or, some
    seconds later, by those of another memory limit."""
    deaths = [e for e in events if "pid" in e.fields and e.moment is not None]
    deaths.sort(key=lambda e: e.moment or 0.0)
    cut = next((i for i, (later, before) in enumerate(pairwise(deaths[::-1])) if _are_of_two_jobs(before, later)), None)
    return [] if cut is None else deaths[: len(deaths) - 1 - cut]


def _are_of_two_jobs(before: Observation, later: Observation) -> bool:
    gap = (later.moment or 0.0) - (before.moment or 0.0)
    limits = [e.fields.get(LIMIT_FACT) for e in (before, later)]
    return gap > MAX_DEATH_GAP_S or (gap > MAX_SAME_DEATH_S and None not in limits and limits[0] != limits[1])


def facts_of(
    events: Sequence[Observation], deaths: bool = False, earlier: Set[tuple[str, int]] = frozenset()
) -> dict[str, Value]:
    """The facts of the most certain event, completed with facts of other events about the same pid, rank, GPU and host.

    `deaths`: the events are deaths of processes (trait process_death), so the last ones count. `earlier`: lines of attempts
    before the last attempt that shows the cause.
    """
    facts: dict[str, Value] = {}
    for event in _surest_first(events, deaths, earlier):
        if all(facts.get(name, event.fields[name]) == event.fields[name] for name in IDENTITY if name in event.fields):
            facts = completed_fields(facts, event.fields)
    return facts


def proofs_of(
    events: Sequence[Observation], deaths: bool = False, earlier: Set[tuple[str, int]] = frozenset()
) -> tuple[Proof, ...]:
    """At most MAX_EVIDENCE_LINES different lines, the most certain first; the first line of each event before any second line."""
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

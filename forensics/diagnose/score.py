"""The plain formula by which causes are ranked, until a trained classifier weighs them.

For each cause c of an incident, with one weight w for every distinct signature that speaks for it:

    strength(c)  = 1 - product of (1 - W[w])                     W: proof 0.97, strong 0.80, hint 0.40; at most 0.985
    explained(c) = greatest strength(r) * ORDER of the causes r that explain c (by `explains:`, or because c is a fallback and r
                   is not, and r has more than a hint); ORDER is 1, or LATE when r is first seen after c on the same clock
    score(c)     = strength(c) * (1 - EXPLAINED * explained(c)) * LATER for each unexplained cause seen before it
    rest         = HEALTHY_PRIOR * product of (1 - score(c)), none.healthy's share (more where a run told that it ended well)
    probability  = score / (sum of scores + rest)

What a cause explains is never ranked above it, so a victim is not taken for the root, however loud it is.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from forensics.database import HEALTHY, Database
from forensics.model import Event, Incident

W = {"proof": 0.97, "strong": 0.80, "hint": 0.40}
MOST = 0.985
EXPLAINED = 0.95
LATE = 0.9
LATER = 0.8
HEALTHY_PRIOR = 0.3
SHOWN = 8  # causes in a report; more are noise


@dataclass(slots=True)
class Standing:
    """Where a cause stands in an incident."""

    cause: str
    events: tuple[Event, ...]
    strength: float
    explained: float = 0.0
    explained_by: str | None = None
    score: float = 0.0
    probability: float = 0.0
    order: tuple[int, ...] = field(default=())


def standings(incident: Incident | None, database: Database) -> list[Standing]:
    """Every cause of the incident and none.healthy where it has a share, most probable first; never empty."""
    by_cause: dict[str, list[Event]] = defaultdict(list)
    for event in incident.events if incident else ():
        if event.cause in database.causes:
            by_cause[event.cause or ""].append(event)
    ended_well = by_cause.pop(HEALTHY, [])
    found = [Standing(c, tuple(e), strength(e)) for c, e in by_cause.items()]
    for standing in found:
        _explain(standing, found, database)
    _score(found)
    rest = HEALTHY_PRIOR * prod(1 - s.score for s in found)
    healthy = Standing(HEALTHY, tuple(ended_well), strength(ended_well), score=rest)
    if ended_well and any(e.weight != "hint" for e in ended_well):
        healthy.score = max(rest, prod(1 - s.score for s in found) * healthy.strength)
    total = sum(s.score for s in found) + healthy.score
    for standing in (*found, healthy):
        standing.probability = round(standing.score / total, 4)
    if not found:
        healthy.probability = 0.97 if any(e.weight == "proof" for e in ended_well) else 0.9
    ranked = sorted([*found, healthy], key=lambda s: (-s.score, s.cause))
    return [s for i, s in enumerate(ranked) if i == 0 or s.cause != HEALTHY][:SHOWN]


def strength(events: Iterable[Event]) -> float:
    """How strongly `events` speak for their cause: each signature counts once, however often it hit."""
    best: dict[str, float] = {}
    for event in events:
        best[event.kind] = max(best.get(event.kind, 0.0), W[event.weight])
    return min(MOST, 1 - prod(1 - w for w in best.values()))


def _explain(standing: Standing, others: list[Standing], database: Database) -> None:
    for root in others:
        if root.cause == standing.cause or not _can_explain(root, standing, database):
            continue
        share = root.strength * (LATE if _before(standing, root) else 1.0)
        if share > standing.explained:
            standing.explained, standing.explained_by = share, root.cause


def _can_explain(root: Standing, other: Standing, database: Database) -> bool:
    named = database.explains(root.cause, other.cause)
    if named and database.explains(other.cause, root.cause):  # each may cause the other: then the first one did
        return not _before(other, root)
    if named:
        return True
    fallback = database.causes[other.cause].fallback and not database.causes[root.cause].fallback
    return fallback and any(e.weight != "hint" for e in root.events) and not database.explains(other.cause, root.cause)


def _before(a: Standing, b: Standing) -> bool:
    """Is `a` known to have been seen before `b`? Known only on one clock or in one source."""
    first, second = _first(a), _first(b)
    if first.source == second.source:
        return first.line < second.line
    if first.time is None or second.time is None:
        return False
    apart = (second.time - first.time).total_seconds()
    return apart > (first.uncertainty_s or 0) + (second.uncertainty_s or 0)


def _first(standing: Standing) -> Event:
    return min(
        standing.events,
        key=lambda e: (e.weight == "hint", e.time is None, e.time.timestamp() if e.time else 0.0, e.source, e.line),
    )


def _score(found: list[Standing]) -> None:
    for standing in found:
        earlier = sum(
            1
            for other in found
            if other is not standing
            and other.explained < 0.5
            and _before(other, standing)
            and max(W[e.weight] for e in other.events) >= max(W[e.weight] for e in standing.events)
        )
        standing.score = standing.strength * (1 - EXPLAINED * standing.explained) * LATER ** min(earlier, 4)

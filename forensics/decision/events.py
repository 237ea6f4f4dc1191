"""Which observations of one cause tell of one event, and which of several.

    train.log   attempt 1: CUDA out of memory ...   attempt 2: CUDA out of memory ...     -> two events
    train.log   rank 0: KeyError: 'a'   rank 1: KeyError: 'a'                             -> one event, told twice
    train.log   rank 0: timed out in send      rank 1: timed out in recv                  -> one event: both wait for another
    dmesg       Killed process 11 (python)   6 s later: Killed process 22 (python)        -> two events

Observations are of one event unless something tells them apart: another attempt of the same lane, another process that died,
another exception, another memory limit, or a program that demonstrably went on between them.
"""

from collections.abc import Iterable, Mapping, Sequence

from forensics.database import Database
from forensics.decision.last_word import MAX_CONTINUED_LINES, MIN_GROWN, has_lasting_effect
from forensics.model import Fields, Observation
from forensics.model.verdicts import OwnedObservation
from forensics.outcome.tiers import NOTICE
from forensics.readers.identity.entity_ids import entity_ids
from forensics.readers.python.quoted_source import quotes

Tellings = tuple[OwnedObservation, ...]
Names = tuple[frozenset[str], ...]  # of each of IDENTITIES

IDENTITIES = ("job", "container", "pod_uid", "kernel_id", "pci", "uuid")  # what fails as a whole, and nothing beside it
MESSAGE_FIELDS = ("exc_type", "exc_message")
LIMIT_FACT = "limit_path"  # of the cgroup whose memory limit was reached
MAX_EVENTS = 12  # chosen by hand, of one cause: earlier ones beyond these are told together


def events_of(own: Sequence[OwnedObservation], tiers: Mapping[int, int], database: Database) -> list[Tellings]:
    """The tellings of each event in `own`, the observations of one cause; the events in order of their first lines.

    `tiers`: id of an observation -> see evidence_tier. Notices join the event of their attempt; where there is none, they are one
    event that ended nothing.
    """
    ending = [o for o in own if tiers[id(o)] < NOTICE]
    if not ending:
        return [tuple(own)]
    groups: list[list[OwnedObservation]] = []
    for o in sorted(ending, key=lambda o: (o.observation.source, o.observation.line, o.observation.kind)):
        fitting = [g for g in groups[-MAX_EVENTS:] if not any(are_apart(x, o, database) for x in (g[0], g[-1]))]
        if fitting:
            min(fitting, key=lambda g: _distance(g, o)).append(o)
        else:
            groups.append([o])
    if len(groups) > MAX_EVENTS:
        before = [o for g in groups[: 1 - MAX_EVENTS] for o in g]
        groups = [before, *groups[1 - MAX_EVENTS :]]
    rest: list[OwnedObservation] = []
    for o in own:
        if tiers[id(o)] >= NOTICE:
            near = [g for g in groups if any(_in_one_attempt(x, o) for x in g)]
            (min(near, key=lambda g: _distance(g, o)) if near else rest).append(o)
    return [tuple(g) for g in (*groups, rest) if g]


def are_apart(a: OwnedObservation, b: OwnedObservation, database: Database) -> bool:
    """Does something tell apart the events that both show? `a` stands before `b`, or in another log."""
    first, second = a.observation, b.observation
    deaths = database.has_trait(first.cause, "process_death")
    if _differ(first.fields, second.fields, ("pid",) if deaths and _share(first, second, "pid") else (LIMIT_FACT,)):
        return True
    of_ranks = _differ(first.fields, second.fields, ("rank",)) and _share(first, second, "timeout_s")  # they waited at once
    if not (deaths or of_ranks) and _differ(first.fields, second.fields, MESSAGE_FIELDS) and not quotes(second, first):
        return True
    if a.lane is not b.lane or a.lane is None:
        return False
    return not _in_one_attempt(a, b) or (_went_on_between(a, b) and not has_lasting_effect(str(first.cause), database))


def names_of(owned: Iterable[OwnedObservation]) -> Names:
    """What `owned` name, for each of IDENTITIES."""
    ids = [entity_ids(o.observation) for o in owned]
    return tuple(frozenset(value for x in ids if (value := getattr(x, name))) for name in IDENTITIES)


def name_others(first: Names, second: Names) -> bool:
    """Do both name a job, a container, a device or another of IDENTITIES, and no common one? Then neither caused the other."""
    return any(a and b and a.isdisjoint(b) for a, b in zip(first, second, strict=True))


def _in_one_attempt(a: OwnedObservation, b: OwnedObservation) -> bool:
    """Were both shown in one attempt of one lane, or is what lies between them no start of its own?"""
    if a.observation.source != b.observation.source or a.lane is not b.lane:
        return False
    first, second = sorted((a.attempt, b.attempt))
    if first == second or a.lane is None:
        return True
    if a.lane.kind not in ("job", "notebook"):
        return False
    earlier = a if a.attempt == first else b
    return not any(t.is_another_start(earlier.observation) for t in a.lane.attempts[first - 1 : second - 1])


def _went_on_between(a: OwnedObservation, b: OwnedObservation) -> bool:
    """Did the position of the program, or what it prints at work, grow between `a` and `b`?"""
    grown = a.aftermath.positions - b.aftermath.positions >= MIN_GROWN
    work = (a.aftermath.repeated + a.aftermath.progress) - (b.aftermath.repeated + b.aftermath.progress)
    return grown or work > MAX_CONTINUED_LINES


def _differ(first: Fields, second: Fields, names: Sequence[str]) -> bool:
    return any(n in first and n in second and first[n] != second[n] for n in names)


def _share(first: Observation, second: Observation, name: str) -> bool:
    return name in first.fields and name in second.fields


def _distance(group: Sequence[OwnedObservation], o: OwnedObservation) -> tuple[bool, float]:
    """How far `o` is from what is in `group`: in lines of its own log, else in seconds."""
    seen = o.observation
    own = [abs(x.observation.line - seen.line) for x in group if x.observation.source == seen.source]
    if own:
        return False, float(min(own))
    times = [abs((x.observation.time - seen.time).total_seconds()) for x in group if x.observation.time and seen.time]
    return True, min(times, default=float("inf"))

"""Which events speak of the same thing, and by what that is known: by a number or a name, by a table that joins two, or by time.

dmesg.log:82 ... task=python3.11,pid=15372   train.log:28 ... local_rank: 1 (pid: 15372)     -> pid 15372
dmesg.log:82 ... task=python3.11,pid=15372   train.log:90 [rank1]: ...                       -> pid 15372 of rank 1 (train.log:58)
dmesg.log:82 ... task=python3.11,pid=25915   jupyter.log:20 kernel 123c3bde-... restarted    -> time, 2.4 s apart

Numbers link where nothing speaks against it: another host, another job or container, a boot in between. Time links where they
cannot: inside a container processes have other numbers, and some messages have none.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice, product

from forensics.correlation.entities import Derived, Person, Roll, Table
from forensics.correlation.keys import KEY_PHRASES, LOCAL, REUSED_DEVICE_KEYS, Key, hosts_differ, of_others, words
from forensics.correlation.normalise import is_telling
from forensics.database import HEALTHY
from forensics.model import Link, Observation

MAX_EVENTS = 400  # an incident with more is linked by the surest of them
PAIRS = 12  # of a larger group, each is linked with its surest only
WHOLE_LOG_KEYS = {"step", "container", "pod_uid", "pod", "unit", "job"}  # a log is of one; among its own lines that says nothing
NEAR_S = 5.0
BY_TIME = 1500  # links by nothing but time, the surest events' first
MAX_NEIGHBOURS = 3  # in time, on either side
DAY_S = 86400.0  # numbers of processes are used again
SMALL_PID = 300  # the first ones of every container, and of every host's kernel
WEIGHT_ORDER = {"proof": 0, "strong": 1, "hint": 2}
Pair = tuple[Person, Person]
Told = tuple[Pair, str, str]  # two, by what they are linked, in words and as Link.kind
Places = tuple[tuple[str, int], tuple[str, int]]


def links(events: Sequence[Observation], table: Table | None = None) -> list[Link]:
    """Links between events, surest kinds first, for each pair the surest only. `table`: lines that join numbers."""
    chosen = sorted((e for e in events if e.cause), key=_worth)[:MAX_EVENTS]
    kept = {id(e) for e in chosen}
    if len(kept) < 2:
        return []
    roll = Roll([e for e in events if id(e) in kept], table or Table())
    found: dict[Places, Link] = {}
    for pair, by, kind in (*_by_key(roll), *_by_table(roll), *_by_local_rank(roll.people), *_by_name(roll.people)):
        _note(found, pair, by, kind)
    shared = {frozenset((k.first[0], k.second[0])) for k in found.values() if k.kind == "pid"}
    for pair, by, kind in islice(_by_time(roll.people, shared), BY_TIME):
        _note(found, pair, by, kind)
    return list(found.values())


def _worth(event: Observation) -> tuple[bool, int]:
    return event.cause == HEALTHY, WEIGHT_ORDER[event.weight]


def _note(found: dict[Places, Link], pair: Pair, by: str, kind: str) -> None:
    first, second = pair[0].event.place, pair[1].event.place
    if first != second and (second, first) not in found:
        found.setdefault((first, second), Link(first, second, by, kind))


def _by_key(roll: Roll) -> Iterator[Told]:
    groups: dict[Key, list[Person]] = defaultdict(list)
    for person in roll.people:
        for key in person.own:
            groups[key].append(person)
    for key in sorted(groups, key=lambda k: list(KEY_PHRASES).index(k[0])):
        for pair in _pairs(groups[key]):
            same = pair[0].subject.source == pair[1].subject.source
            if not (same and key[0] in WHOLE_LOG_KEYS) and _agree(key[0], pair, roll):
                yield pair, words(key), key[0]


def _by_table(roll: Roll) -> Iterator[Told]:
    """One of the two has the number itself, the other by a line that joins it with one of its own."""
    groups: dict[Key, tuple[list[Person], list[tuple[Person, Derived]]]] = defaultdict(lambda: ([], []))
    for person in roll.people:
        for key in person.own:
            groups[key][0].append(person)
        for derived in person.derived:
            groups[derived.key][1].append((person, derived))
    for key in sorted(groups, key=lambda k: list(KEY_PHRASES).index(k[0])):
        having, joined = groups[key]
        for person, derived in joined:
            fits = [h for h in having[:PAIRS] if not hosts_differ(h.subject, derived.told) and _agree(key[0], (person, h), roll)]
            yield from (((person, h), str(derived), key[0]) for h in fits)


def _pairs(group: Sequence[Person]) -> Iterator[Pair]:
    """All pairs of a small group; of a large one, its surest with each other."""
    if len(group) <= PAIRS:
        yield from combinations(group, 2)
        return
    surest = min(group, key=lambda p: _worth(p.event))
    yield from ((surest, p) for p in group if p is not surest)


def _agree(kind: str, pair: Pair, roll: Roll) -> bool:
    """Does nothing speak against two events with the same number being of the same thing?"""
    (a, b), (first, second) = (p.subject for p in pair), (p.event for p in pair)
    if kind in LOCAL and hosts_differ(a, b):
        return False
    if kind not in REUSED_DEVICE_KEYS and of_others(a, b):
        return False
    if kind in ("pci", "gpu") and not (a.host and b.host) and a.source != b.source and first.kind == second.kind:
        return near(first, second) is not None  # nodes are built alike: each has a GPU at this address
    if kind != "pid":
        return True
    if (a.boot and b.boot and a.source == b.source and a.boot != b.boot) or roll.boot_between(first, second):
        return False
    if first.time is None or second.time is None:
        return a.source == b.source or min(a.pid, b.pid) >= SMALL_PID or not (a.pid and b.pid)
    small = a.source != b.source and 0 < min(a.pid, b.pid) < SMALL_PID
    return near(first, second, 60.0 if small else DAY_S) is not None


def _by_local_rank(people: Sequence[Person]) -> Iterator[Told]:
    """Local rank N uses GPU N of its host, unless somebody arranged it otherwise: told as what it is, and on one host only."""
    ranks = [p for p in people if p.subject.local_rank >= 0]
    for person, rank in product((p for p in people if p.subject.gpu >= 0), ranks):
        a, b = person.subject, rank.subject
        one_host = a.source == b.source or (a.host and b.host)
        if (
            a.gpu == b.local_rank
            and b.gpu < 0
            and a.local_rank < 0
            and one_host
            and not hosts_differ(a, b)
            and not of_others(a, b)
        ):
            yield (person, rank), f"GPU {a.gpu}, taken for local rank {a.gpu}", "gpu"


def _by_name(people: Iterable[Person]) -> Iterator[Told]:
    """A name that few processes have; the kernel cuts it, so it is compared as cut."""
    groups: dict[str, list[Person]] = defaultdict(list)
    for person in people:
        if is_telling(person.subject.task):
            groups[person.subject.task].append(person)
    for name, group in groups.items():
        for a, b in _pairs(group):
            one, other = a.subject, b.subject
            apart = a.event.time and b.event.time and near(a.event, b.event) is None
            pids = one.pid and other.pid and one.pid != other.pid
            if not (apart or pids or hosts_differ(one, other) or of_others(one, other)):
                yield (a, b), f"process name {name}", "name"


def _by_time(people: Iterable[Person], shared: set[frozenset[str]]) -> Iterator[Told]:
    """Each event with the nearest one of each other source. `shared`: pairs of sources in which a pid means the same process."""
    timed = sorted((p for p in people if p.event.time and p.event.cause != HEALTHY), key=_moment)
    sources: dict[str, list[Person]] = defaultdict(list)
    for person in timed:
        sources[person.subject.source].append(person)
    moments = {name: [_moment(p) for p in group] for name, group in sources.items()}
    for person, (name, group) in product(sorted(timed, key=lambda p: _worth(p.event)), sources.items()):
        if name == person.subject.source:
            continue
        at = bisect_left(moments[name], _moment(person))
        others = group[max(0, at - MAX_NEIGHBOURS) : at + MAX_NEIGHBOURS]
        for other in sorted(others, key=lambda o: abs(_moment(o) - _moment(person))):
            gap = near(person.event, other.event)
            if gap is None:
                break
            if not of_others(person.subject, other.subject) and not _told_apart(person, other, shared):
                yield (person, other), _time(person, other, gap), "time"
                break


def _moment(person: Person) -> float:
    return person.event.time.timestamp() if person.event.time else 0.0


def _told_apart(a: Person, b: Person, shared: set[frozenset[str]]) -> bool:
    """Do both name a process, in sources that count alike, and two?"""
    return _two(a, b) and frozenset((a.subject.source, b.subject.source)) in shared


def _two(a: Person, b: Person) -> bool:
    return bool(a.subject.pid and b.subject.pid and a.subject.pid != b.subject.pid)


def _time(a: Person, b: Person, gap: float) -> str:
    off = (a.event.uncertainty_s or 0) + (b.event.uncertainty_s or 0)
    label = f"time, {gap:.1f} s apart" + (f", known within {off:.0f} s" if off >= 1 else "")
    if hosts_differ(a.subject, b.subject):
        return f"{label}, on {a.subject.host} and {b.subject.host}"
    if _two(a, b):
        return f"{label}; pids {a.subject.pid} and {b.subject.pid} may be one process, inside a container and outside"
    return label


def near(a: Observation, b: Observation, most: float = NEAR_S) -> float | None:
    """Seconds between two events when that is within `most` and what their clocks may be off; None when not or unknown."""
    if a.time is None or b.time is None:
        return None
    gap = abs((a.time - b.time).total_seconds())
    return gap if gap <= most + (a.uncertainty_s or 0) + (b.uncertainty_s or 0) else None

"""Link events about the same thing: by an id that both name, by a line that joins two ids, or by time.

dmesg.log:82 ... task=python3.11,pid=15372   train.log:28 ... local_rank: 1 (pid: 15372)     -> pid 15372
dmesg.log:82 ... task=python3.11,pid=15372   train.log:90 [rank1]: ...                       -> pid 15372 of rank 1 (train.log:58)
dmesg.log:82 ... task=python3.11,pid=25915   jupyter.log:20 kernel 123c3bde-... restarted    -> time, 2.4 s apart

Ids link unless something contradicts it: another host, another job or container, a boot in between. Time links where ids cannot:
inside a container processes have other pids, and some messages have no ids.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice, product

from forensics.correlation.entities import (
    KEY_PHRASES,
    LOCAL,
    REUSED_DEVICE_KEYS,
    DerivedKey,
    EntityIndex,
    EventEntity,
    IdMappings,
    Key,
    different_owners,
    hosts_differ,
    key_text,
)
from forensics.database import HEALTHY
from forensics.model import Incident, Link, Observation
from forensics.model.logs import WEIGHT_ORDER
from forensics.readers.identity.entity_ids import is_distinctive

MAX_LINKED_EVENTS = 400  # bounds time: of an incident with more, those with the strongest weights are linked
MAX_LINKS_PER_KEY = 12  # bounds time: of a larger group of equal keys, each event is linked with the first ones only
WHOLE_LOG_KEYS = {
    "step",
    "container",
    "pod_uid",
    "pod",
    "unit",
    "job",
}  # a whole log belongs to one of these, so between its own lines they show nothing
MAX_LINK_GAP_S = 5.0  # chosen by hand: the delay with which a supervisor or another program notices a death
MAX_TIME_LINKS = 1500  # bounds memory: links by nothing but time, those of events with the strongest weights first
MAX_NEIGHBOURS = 3  # chosen by hand: compared in time, on either side
MOMENT_ROUNDING_S = 0.001  # of times as numbers of seconds
DAY_S = 86400.0  # after a day a pid may belong to another process
MIN_DISTINCTIVE_PID = 300  # every container and every kernel has processes with smaller pids
JOINING = {"pid", "kernel", *WHOLE_LOG_KEYS}
Pair = tuple[EventEntity, EventEntity]
Found = tuple[Pair, str, str]  # two entities, and what links them: in words, and as Link.kind
Places = tuple[tuple[str, int], tuple[str, int]]


def find_links(events: Sequence[Observation], table: IdMappings | None = None) -> list[Link]:
    """Links between events, the most reliable kinds first; one for each pair. `table`: lines that join ids."""
    chosen = sorted((e for e in events if e.cause), key=_precedence)[:MAX_LINKED_EVENTS]
    kept = {id(e) for e in chosen}
    if len(kept) < 2:
        return []
    index = EntityIndex([e for e in events if id(e) in kept], table or IdMappings())
    found: dict[Places, Link] = {}
    for pair, by, kind in (*_by_key(index), *_by_table(index), *_by_local_rank(index.entities), *_by_name(index.entities)):
        _add_link(found, pair, by, kind)
    shared = {frozenset((k.first[0], k.second[0])) for k in found.values() if k.kind == "pid"}
    for pair, by, kind in islice(_by_time(index.entities, shared), MAX_TIME_LINKS):
        _add_link(found, pair, by, kind)
    return list(found.values())


def joined_sources(incidents: Iterable[Incident]) -> set[frozenset[str]]:
    """Pairs of sources in which a link names one process, kernel, job, container or unit; a device may serve many."""
    return {frozenset((k.first[0], k.second[0])) for i in incidents for k in i.links if k.kind in JOINING}


def _precedence(event: Observation) -> tuple[bool, int]:
    return event.cause == HEALTHY, WEIGHT_ORDER[event.weight]


def _add_link(found: dict[Places, Link], pair: Pair, by: str, kind: str) -> None:
    first, second = pair[0].event.place, pair[1].event.place
    if first != second and (second, first) not in found:
        found.setdefault((first, second), Link(first, second, by, kind))


def _by_key(index: EntityIndex) -> Iterator[Found]:
    groups: dict[Key, list[EventEntity]] = defaultdict(list)
    for entity in index.entities:
        for key in entity.own:
            groups[key].append(entity)
    for key in sorted(groups, key=lambda k: list(KEY_PHRASES).index(k[0])):
        for pair in _pairs(groups[key]):
            same = pair[0].ids.source == pair[1].ids.source
            if not (same and key[0] in WHOLE_LOG_KEYS) and _agree(key[0], pair, index):
                yield pair, key_text(key), key[0]


def _by_table(index: EntityIndex) -> Iterator[Found]:
    """Pairs in which one event has the id itself, and the other has it by a line that joins it with an id of its own."""
    groups: dict[Key, tuple[list[EventEntity], list[tuple[EventEntity, DerivedKey]]]] = defaultdict(lambda: ([], []))
    for entity in index.entities:
        for key in entity.own:
            groups[key][0].append(entity)
        for derived in entity.derived:
            groups[derived.key][1].append((entity, derived))
    for key in sorted(groups, key=lambda k: list(KEY_PHRASES).index(k[0])):
        having, joined = groups[key]
        for entity, derived in joined:
            fits = [
                h
                for h in having[:MAX_LINKS_PER_KEY]
                if not hosts_differ(h.ids, derived.stated_by) and _agree(key[0], (entity, h), index)
            ]
            yield from (((entity, h), str(derived), key[0]) for h in fits)


def _pairs(group: Sequence[EventEntity]) -> Iterator[Pair]:
    """All pairs of a small group; of a large one, pairs of the surest members."""
    if len(group) <= MAX_LINKS_PER_KEY:
        yield from combinations(group, 2)
        return
    surest = min(group, key=lambda p: _precedence(p.event))
    yield from ((surest, p) for p in group if p is not surest)


def _agree(kind: str, pair: Pair, index: EntityIndex) -> bool:
    """Is there no contradiction to two events with the same id being about the same thing?"""
    (a, b), (first, second) = (p.ids for p in pair), (p.event for p in pair)
    if kind in LOCAL and hosts_differ(a, b):
        return False
    if kind not in REUSED_DEVICE_KEYS and different_owners(a, b):
        return False
    if kind in ("pci", "gpu") and not (a.host and b.host) and a.source != b.source and first.kind == second.kind:
        return seconds_apart(first, second) is not None  # every node of a cluster has a GPU at this address
    if kind != "pid":
        return True
    if (a.boot and b.boot and a.source == b.source and a.boot != b.boot) or index.boot_between(first, second):
        return False
    if first.time is None or second.time is None:
        return a.source == b.source or min(a.pid, b.pid) >= MIN_DISTINCTIVE_PID or not (a.pid and b.pid)
    small = a.source != b.source and 0 < min(a.pid, b.pid) < MIN_DISTINCTIVE_PID
    return seconds_apart(first, second, 60.0 if small else DAY_S) is not None


def _by_local_rank(entities: Sequence[EventEntity]) -> Iterator[Found]:
    """Local rank N uses GPU N of its host unless configured otherwise. The link says so, and is made within one host only."""
    ranks = [p for p in entities if p.ids.local_rank >= 0]
    for entity, rank in product((p for p in entities if p.ids.gpu >= 0), ranks):
        a, b = entity.ids, rank.ids
        one_host = a.source == b.source or (a.host and b.host)
        if (
            a.gpu == b.local_rank
            and b.gpu < 0
            and a.local_rank < 0
            and one_host
            and not hosts_differ(a, b)
            and not different_owners(a, b)
        ):
            yield (entity, rank), f"GPU {a.gpu}, taken for local rank {a.gpu}", "gpu"


def _by_name(entities: Iterable[EventEntity]) -> Iterator[Found]:
    """A process name that few processes have; compared in the length to which the kernel cuts it."""
    groups: dict[str, list[EventEntity]] = defaultdict(list)
    for entity in entities:
        if is_distinctive(entity.ids.task):
            groups[entity.ids.task].append(entity)
    for name, group in groups.items():
        for a, b in _pairs(group):
            one, other = a.ids, b.ids
            apart = a.event.time and b.event.time and seconds_apart(a.event, b.event) is None
            pids = one.pid and other.pid and one.pid != other.pid
            if not (apart or pids or hosts_differ(one, other) or different_owners(one, other)):
                yield (a, b), f"process name {name}", "name"


def _by_time(entities: Iterable[EventEntity], shared: set[frozenset[str]]) -> Iterator[Found]:
    """Each event and the nearest one of each other source. `shared`: pairs of sources in which a pid means the same process."""
    timed = sorted((p for p in entities if p.event.time and p.event.cause != HEALTHY), key=_moment)
    sources: dict[str, list[EventEntity]] = defaultdict(list)
    for entity in timed:
        sources[entity.ids.source].append(entity)
    moments = {name: [_moment(p) for p in group] for name, group in sources.items()}
    most = MOMENT_ROUNDING_S + MAX_LINK_GAP_S
    reach = {name: most + max(p.event.uncertainty_s or 0 for p in group) for name, group in sources.items()}
    for entity, (name, group) in product(sorted(timed, key=lambda p: _precedence(p.event)), sources.items()):
        moment, own = _moment(entity), moments[name]
        at = bisect_left(own, moment)
        nearest = min(abs(near - moment) for near in own[max(0, at - 1) : at + 1])
        if name == entity.ids.source or nearest > reach[name] + (entity.event.uncertainty_s or 0):
            continue
        others = group[max(0, at - MAX_NEIGHBOURS) : at + MAX_NEIGHBOURS]
        for other in sorted(others, key=lambda o: abs(_moment(o) - _moment(entity))):
            gap = seconds_apart(entity.event, other.event)
            if gap is None:
                break
            if not different_owners(entity.ids, other.ids) and not _different_pids(entity, other, shared):
                yield (entity, other), _time(entity, other, gap), "time"
                break


def _moment(entity: EventEntity) -> float:
    return entity.event.time.timestamp() if entity.event.time else 0.0


def _different_pids(a: EventEntity, b: EventEntity, shared: set[frozenset[str]]) -> bool:
    """Do both name a process, and not the same, in sources in which a pid means the same process?"""
    return _both_named(a, b) and frozenset((a.ids.source, b.ids.source)) in shared


def _both_named(a: EventEntity, b: EventEntity) -> bool:
    return bool(a.ids.pid and b.ids.pid and a.ids.pid != b.ids.pid)


def _time(a: EventEntity, b: EventEntity, gap: float) -> str:
    off = (a.event.uncertainty_s or 0) + (b.event.uncertainty_s or 0)
    label = f"time, {gap:.1f} s apart" + (f", known within {off:.0f} s" if off >= 1 else "")
    if hosts_differ(a.ids, b.ids):
        return f"{label}, on {a.ids.host} and {b.ids.host}"
    if _both_named(a, b):
        return f"{label}; pids {a.ids.pid} and {b.ids.pid} may be one process, inside a container and outside"
    return label


def seconds_apart(a: Observation, b: Observation, most: float = MAX_LINK_GAP_S) -> float | None:
    """Seconds between two events if at most `most` plus the uncertainty of their clocks; else None."""
    if a.time is None or b.time is None:
        return None
    gap = abs((a.time - b.time).total_seconds())
    return gap if gap <= most + (a.uncertainty_s or 0) + (b.uncertainty_s or 0) else None

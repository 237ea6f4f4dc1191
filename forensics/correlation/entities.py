"""Resolve entities: give each event its ids, completed by the hosts of sources, by boots, and by lines that join ids.

node-2/dmesg.log, and a line elsewhere names node-2     -> its events are of host node-2
rank 3 of a watchdog, torchrun's row "rank 3 ... pid 4711" -> the watchdog's event is also known by pid 4711, by that row

Keys of EntityIds, the most reliable first: the ids by which two events can be linked, and their wording in a report.

EntityIds(pid=812, job="4711", step="0") -> ("pid", "812"), ("step", "4711.0"), ("job", "4711")
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.model import Observation
from forensics.readers.identity.entity_ids import EntityIds, entity_ids, same_host
from forensics.readers.tools.id_tables import IdMapping

Key = tuple[str, str]
KEY_PHRASES = {
    "pid": "pid {}",
    "kernel": "notebook kernel {}",
    "uuid": "GPU {}",
    "pci": "PCI address {}",
    "step": "job step {}",
    "container": "container {}",
    "pod_uid": "pod uid {}",
    "pod": "pod {}",
    "unit": "unit {}",
    "job": "job {}",
    "cgroup": "cgroup {}",
    "rank": "rank {}",
    "local_rank": "local rank {}",
    "gpu": "GPU {}",
}
LOCAL = {"pid", "pci", "unit", "cgroup", "local_rank", "gpu", "rank"}  # valid on one host only
REUSED_DEVICE_KEYS = {"pci", "uuid", "gpu"}  # jobs use them one after the other
SHORT_ID_CHARS = 12  # digits that Docker prints of a container's id


def entity_keys(subject: EntityIds) -> list[Key]:
    """Kind and value, in the order of KEY_PHRASES."""
    s = subject
    values = {
        "pid": str(s.pid or s.writer_pid or ""),
        "kernel": s.kernel_id,
        "uuid": s.uuid,
        "pci": s.pci,
        "step": f"{s.job}.{s.step}" if s.job and s.step else "",
        "container": s.container[:SHORT_ID_CHARS],
        "pod_uid": s.pod_uid,
        "pod": s.pod,
        "unit": s.unit,
        "job": s.job,
        "cgroup": s.cgroup,
        "rank": str(s.rank) if s.rank >= 0 else "",
        "local_rank": str(s.local_rank) if s.local_rank >= 0 else "",
        "gpu": str(s.gpu) if s.gpu >= 0 else "",
    }
    return [(kind, value) for kind, value in values.items() if value]


def key_text(key: Key) -> str:
    """`pid 812`."""
    return KEY_PHRASES[key[0]].format(key[1])


def hosts_differ(a: EntityIds, b: EntityIds) -> bool:
    """Are both hosts known and different?"""
    return bool(a.host and b.host) and not same_host(a.host, b.host)


def different_owners(a: EntityIds, b: EntityIds) -> bool:
    """Do the two belong to different jobs, containers or pods?"""
    short = a.container[:SHORT_ID_CHARS], b.container[:SHORT_ID_CHARS]
    pairs = ((a.job, b.job), short, (a.pod_uid, b.pod_uid), (a.kernel_id, b.kernel_id))
    return any(x and y and x != y for x, y in pairs)


JOINING_KEYS = ("pid", "kernel", "uuid", "pci", "rank", "local_rank", "gpu")
PATH_SEPARATOR_PATTERN = lazy.regex(r"[/!]")
HOST_NAME_PATTERN = lazy.regex(r"(?:node|host|compute|nid|cn|dgx|hgx)[a-z-]{0,20}\d{1,6}(?:\.[\w.-]{1,200})?")
BOOT_TOLERANCE = timedelta(seconds=60)


class DerivedKey(Struct, frozen=True):
    """`key` is an id of the thing that has the id `via`: the line at number `line` of `stated_by` says so."""

    key: Key
    via: Key
    stated_by: EntityIds
    line: int

    def __str__(self) -> str:
        """`pid 4711 of rank 3 (train.log:58)`."""
        return f"{key_text(self.key)} of {key_text(self.via)} ({self.stated_by.source}:{self.line})"


class EventEntity(Struct, frozen=True):
    """An event with its ids, its `own` keys, and the keys that other lines join with them."""

    event: Observation
    ids: EntityIds
    own: tuple[Key, ...]
    derived: tuple[DerivedKey, ...] = ()


class IdMappings:
    """Mappings by each of their keys. `rows`: (all ids of the line, another key of it, line). `hosts`: all hosts they name."""

    def __init__(self, mappings: Iterable[IdMapping] = ()) -> None:
        self.rows: dict[Key, list[tuple[EntityIds, Key, int]]] = defaultdict(list)
        self.hosts: set[str] = set()
        for mapping in mappings:
            self.hosts.add(mapping.ids.host)
            names = [k for k in entity_keys(mapping.ids) if k[0] in JOINING_KEYS]
            for one in names:
                self.rows[one] += [(mapping.ids, other, mapping.line) for other in names if other[0] != one[0]]


class EntityIndex:
    """The entities of some events. `entities`: in the order of the events. `boots`: the times at which the machine booted."""

    def __init__(self, events: Sequence[Observation], tables: IdMappings) -> None:
        all_ids = _with_hosts([entity_ids(e) for e in events], tables.hosts)
        own = [tuple(entity_keys(s)) for s in all_ids]
        self.boots = sorted({_boot(e) for e in events} - {None}, key=lambda t: t.timestamp() if t else 0.0)
        rows = IdMappings(IdMapping(e.line, s) for e, s in zip(events, all_ids, strict=True))
        self.tables = rows, tables
        rows_of_events = zip(events, all_ids, own, strict=True)
        self.entities = [EventEntity(e, s, k, tuple(self._derived(s, k))) for e, s, k in rows_of_events]

    def _derived(self, who: EntityIds, own: Sequence[Key]) -> Iterator[DerivedKey]:
        """The keys that other lines join with its own keys, if they are unique: a rank that had two pids gets none."""
        known = {kind for kind, _ in own}
        for via in own:
            by_kind: dict[str, dict[str, DerivedKey]] = defaultdict(dict)
            for value, key, line in (row for table in self.tables for row in table.rows.get(via, ())):
                if (
                    key[0] not in known
                    and not (via[0] in LOCAL and hosts_differ(who, value))
                    and not different_owners(who, value)
                ):
                    by_kind[key[0]].setdefault(key[1], DerivedKey(key, via, value, line))
            yield from (d for found in by_kind.values() if len(found) == 1 for d in found.values())

    def boot_between(self, a: Observation, b: Observation) -> bool:
        """Did the machine boot between two events, as far as lines with seconds since boot show it?"""
        if a.time is None or b.time is None:
            return False
        first, last = sorted((a.time, b.time))
        return any(boot and first + BOOT_TOLERANCE < boot + BOOT_TOLERANCE / 2 <= last for boot in self.boots)


def _boot(event: Observation) -> datetime | None:
    """When the machine booted, to the minute, if the line shows both clocks; else None."""
    if event.time is None or event.stamp is None or event.stamp.mono is None:
        return None
    return (event.time - timedelta(seconds=event.stamp.mono)).replace(second=0, microsecond=0)


def _with_hosts(all_ids: Sequence[EntityIds], more: Iterable[str]) -> list[EntityIds]:
    """`all_ids` with the host of their source: the one that all its lines name, or one that a folder is named after. `more`:
    names of hosts in other lines."""
    wrote: dict[str, set[str]] = defaultdict(set)
    for s in all_ids:
        wrote[s.source] |= {s.prefix_host} - {""}
    known = {s.host for s in all_ids} | set(more) | {h for found in wrote.values() for h in found}
    of_source: dict[str, str] = {}
    for source, found in wrote.items():
        parts = [p.lower() for p in PATH_SEPARATOR_PATTERN.split(source)]
        parts += [parts[-1].split(".")[0]]
        by_name = next(
            (p for p in reversed(parts) if HOST_NAME_PATTERN.fullmatch(p) or any(h and same_host(p, h) for h in known)), ""
        )
        of_source[source] = next(iter(found)) if len(found) == 1 else by_name if not found else ""
    made = [s if s.host else replace(s, host=s.prefix_host or of_source[s.source]) for s in all_ids]
    of_process: dict[tuple[str, int], set[str]] = defaultdict(set)  # a pid means one process within one log
    for s in made:
        of_process[s.source, s.pid] |= {s.host} - {""}
    alone = {who: next(iter(found)) for who, found in of_process.items() if len(found) == 1 and who[1]}
    return [s if s.host else replace(s, host=alone.get((s.source, s.pid), "")) for s in made]

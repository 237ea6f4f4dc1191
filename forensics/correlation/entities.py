"""Events to their Subjects, completed by what all of them tell together: hosts of sources, boots, and tables that join numbers.

node-2/dmesg.log beside a line that names node-2        -> its events are of host node-2
rank 3 of a watchdog, torchrun's row "rank 3 ... pid 4711" -> the watchdog's event is also known by pid 4711, by that row
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from forensics.core import lazy
from forensics.correlation.entity_ids import Subject, subject
from forensics.correlation.id_tables import Tie
from forensics.correlation.keys import LOCAL, Key, hosts_differ, keys, of_others, words
from forensics.correlation.normalise import same_host
from forensics.model import Observation

JOINING_KEYS = ("pid", "kernel", "uuid", "pci", "rank", "local_rank", "gpu")
PATH_SEPARATOR_PATTERN = lazy.regex(r"[/!]")
HOST_NAME_PATTERN = lazy.regex(r"(?:node|host|compute|nid|cn|dgx|hgx)[a-z-]{0,20}\d{1,6}(?:\.[\w.-]{1,200})?")
BOOT_TOLERANCE = timedelta(seconds=60)


class Derived(Struct, frozen=True):
    """`key`, which is that of `via` as the line at `line` of `told` tells."""

    key: Key
    via: Key
    told: Subject
    line: int

    def __str__(self) -> str:
        """`pid 4711 of rank 3 (train.log:58)`."""
        return f"{words(self.key)} of {words(self.via)} ({self.told.source}:{self.line})"


class Person(Struct, frozen=True):
    """An event and by what it is known: `own` keys, and those that tables join with them."""

    event: Observation
    subject: Subject
    own: tuple[Key, ...]
    derived: tuple[Derived, ...] = ()


class Table:
    """Ties by each key that they hold: `rows` of who is told, another key, and the line. `hosts`: all that they name."""

    def __init__(self, told: Iterable[Tie] = ()) -> None:
        self.rows: dict[Key, list[tuple[Subject, Key, int]]] = defaultdict(list)
        self.hosts: set[str] = set()
        for tie in told:
            self.hosts.add(tie.subject.host)
            names = [k for k in keys(tie.subject) if k[0] in JOINING_KEYS]
            for one in names:
                self.rows[one] += [(tie.subject, other, tie.line) for other in names if other[0] != one[0]]


class Roll:
    """All of some events. `people`: in the order of the events."""

    def __init__(self, events: Sequence[Observation], told: Table) -> None:
        subjects = _with_hosts([subject(e) for e in events], told.hosts)
        own = [tuple(keys(s)) for s in subjects]
        self.boots = sorted({_boot(e) for e in events} - {None}, key=lambda t: t.timestamp() if t else 0.0)
        rows = Table(Tie(e.line, s) for e, s in zip(events, subjects, strict=True))
        self.tables = rows, told
        everybody = zip(events, subjects, own, strict=True)
        self.people = [Person(e, s, k, tuple(self._derived(s, k))) for e, s, k in everybody]

    def _derived(self, who: Subject, own: Sequence[Key]) -> Iterator[Derived]:
        """What a table joins with its keys, as far as it is one thing: a rank that had two pids has none."""
        known = {kind for kind, _ in own}
        for via in own:
            by_kind: dict[str, dict[str, Derived]] = defaultdict(dict)
            for value, key, line in (row for table in self.tables for row in table.rows.get(via, ())):
                if key[0] not in known and not (via[0] in LOCAL and hosts_differ(who, value)) and not of_others(who, value):
                    by_kind[key[0]].setdefault(key[1], Derived(key, via, value, line))
            yield from (d for found in by_kind.values() if len(found) == 1 for d in found.values())

    def boot_between(self, a: Observation, b: Observation) -> bool:
        """Was the machine started anew between two events, as far as lines that count seconds since a boot tell?"""
        if a.time is None or b.time is None:
            return False
        first, last = sorted((a.time, b.time))
        return any(boot and first + BOOT_TOLERANCE < boot + BOOT_TOLERANCE / 2 <= last for boot in self.boots)


def _boot(event: Observation) -> datetime | None:
    """When the machine was started, to the minute, where the line tells both clocks."""
    if event.time is None or event.stamp is None or event.stamp.mono is None:
        return None
    return (event.time - timedelta(seconds=event.stamp.mono)).replace(second=0, microsecond=0)


def _with_hosts(subjects: Sequence[Subject], more: Iterable[str]) -> list[Subject]:
    """`subjects` with the host of their source: that which its lines all name, or one that a folder is called after.

    `more`: names of hosts that other lines tell.
    """
    wrote: dict[str, set[str]] = defaultdict(set)
    for s in subjects:
        wrote[s.source] |= {s.wrote_on} - {""}
    known = {s.host for s in subjects} | set(more) | {h for found in wrote.values() for h in found}
    of_source: dict[str, str] = {}
    for source, found in wrote.items():
        parts = [p.lower() for p in PATH_SEPARATOR_PATTERN.split(source)]
        parts += [parts[-1].split(".")[0]]
        by_name = next(
            (p for p in reversed(parts) if HOST_NAME_PATTERN.fullmatch(p) or any(h and same_host(p, h) for h in known)), ""
        )
        of_source[source] = next(iter(found)) if len(found) == 1 else by_name if not found else ""
    made = [s if s.host else replace(s, host=s.wrote_on or of_source[s.source]) for s in subjects]
    of_process: dict[tuple[str, int], set[str]] = defaultdict(set)  # one log calls one process by one number
    for s in made:
        of_process[s.source, s.pid] |= {s.host} - {""}
    alone = {who: next(iter(found)) for who, found in of_process.items() if len(found) == 1 and who[1]}
    return [s if s.host else replace(s, host=alone.get((s.source, s.pid), "")) for s in made]

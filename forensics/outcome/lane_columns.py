"""The lanes of sources that are read together, as columns: a Lane is made where one is asked for.

    50 logs of 14 lanes, in objects 4 KiB a log   ->   0.3 KiB a log: entities and digests once, and a few numbers for each lane

A lane that tells of more than its last lines - of trouble, of a good end, of an observation - stays as it is.
"""

from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from typing import get_args, overload

from msgspec import Struct, msgpack
from msgspec.structs import astuple, replace

from forensics.model import Line, LinesOf
from forensics.model.logs import last_shown
from forensics.model.verdicts import Aftermath, Attempt, Entity, Lane, LaneDigest, LaneKind

LANE_KINDS: tuple[LaneKind, ...] = get_args(LaneKind)
NO_AFTERMATH: dict[tuple[int, str], Aftermath] = {}  # the aftermath of lanes without an observation
# Of a lane: kind, entity, first and last line, digest, how many lines of progress follow, their numbers, those of its last lines
Row = list[int]
Told = tuple[int, Lane, tuple[int, ...]]  # place, a lane, and the numbers of its last lines, if it is without these


# How a lane ends: kind, digest, number of attempts, first line of the last one, and the lane if it tells of more than that.
LaneEnd = tuple[LaneKind, LaneDigest, int, int, Lane | None]


class Columns(Struct, frozen=True):
    """The lanes of several sources that tell of nothing but their last lines. `rows`: of each source those of its lanes, which
    have the places of their entity and of their digest among `entities` and `digests`."""

    entities: Sequence[Entity]
    digests: Sequence[LaneDigest]
    rows: Sequence[Sequence[Row]]


class PackedColumns:
    """Columns, packed: without the names of fields."""

    __slots__ = ("data",)

    def __init__(self, columns: Columns) -> None:
        self.data = msgpack.encode(([*map(astuple, columns.entities)], [*map(astuple, columns.digests)], columns.rows))


@lru_cache(maxsize=2)  # a stage looks at one source after the other
def _columns(packed: PackedColumns) -> Columns:
    entities, digests, rows = msgpack.decode(packed.data)
    return Columns([Entity(*e) for e in entities], [LaneDigest(*(*d[:-1], tuple(d[-1]))) for d in digests], rows)


class LanesInColumns(Sequence[Lane]):
    """The lanes of one source, which is number `place` of those in `packed`. `head`: its first lines. `others`: by place.
    `kinds`: those of all."""

    __slots__ = ("head", "kinds", "others", "packed", "place", "size", "source")

    def __init__(self, source: str, head: Sequence[Line], packed: PackedColumns, place: int, others: Sequence[Told]) -> None:
        self.source, self.head, self.packed, self.place = source, head, packed, place
        self.others = {at: replace(lane, last_lines=LinesOf(head, n)) if n else lane for at, lane, n in others}
        rows = _columns(packed).rows[place]
        self.size = len(others) + len(rows)
        self.kinds = _shared(frozenset([LANE_KINDS[row[0]] for row in rows] + [lane.kind for _, lane, _ in others]))

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> Lane: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Lane]: ...
    def __getitem__(self, at: int | slice) -> Lane | Sequence[Lane]:
        return _lanes(self)[at]

    def __iter__(self) -> Iterator[Lane]:
        return iter(_lanes(self))

    def ends(self) -> list[LaneEnd]:
        """How each lane ends."""
        columns = _columns(self.packed)
        digests, rows = columns.digests, columns.rows[self.place]
        found: list[LaneEnd] = [(LANE_KINDS[row[0]], digests[row[4]], 1, row[2], None) for row in rows]
        for at, lane in self.others.items():
            found.insert(at, _end_of(lane))
        return found


@lru_cache(maxsize=16)  # of the sources that a report tells of
def _lanes(lanes: LanesInColumns) -> tuple[Lane, ...]:
    columns = _columns(lanes.packed)
    made = [
        Lane(
            lanes.source,
            LANE_KINDS[kind],
            columns.entities[entity],
            (Attempt(1, first, last),),
            columns.digests[digest],
            (),
            LinesOf(lanes.head, tuple(numbers[worked:])),
            (),
            NO_AFTERMATH,
            last_worked=tuple(numbers[:worked]),
        )
        for kind, entity, first, last, digest, worked, *numbers in columns.rows[lanes.place]
    ]
    for at, lane in lanes.others.items():
        made.insert(at, lane)
    return tuple(made)


def ends_of(lanes: Sequence[Lane]) -> list[LaneEnd]:
    """How each of `lanes` ends."""
    return lanes.ends() if isinstance(lanes, LanesInColumns) else [*map(_end_of, lanes)]


def kinds_of(lanes: Sequence[Lane]) -> Set[LaneKind]:
    """The kinds of `lanes`."""
    return lanes.kinds if isinstance(lanes, LanesInColumns) else {lane.kind for lane in lanes}


@lru_cache(maxsize=256)
def _shared(kinds: frozenset[LaneKind]) -> frozenset[LaneKind]:
    """`kinds`, as one object for the thousands of sources that have the same."""
    return kinds


def _end_of(lane: Lane) -> LaneEnd:
    return lane.kind, lane.digest, len(lane.attempts), lane.attempts[-1].first_line if lane.attempts else 1, lane


class SentLanes(Struct, frozen=True):
    """The lanes of several sources: what a process sends of them. `others`: of each source the lanes that are in no columns."""

    columns: PackedColumns
    others: tuple[tuple[Told, ...], ...]


def sent_lanes(found: Sequence[tuple[Sequence[Lane], Sequence[Line]]]) -> SentLanes:
    """The lanes of each source, which stand beside its first lines."""
    entities: dict[Entity, int] = {}
    digests: dict[int, tuple[int, LaneDigest]] = {}  # by identity: lanes that end alike share one
    rows: list[list[Row]] = []
    others: list[tuple[Told, ...]] = []
    for lanes, head in found:
        own: list[Row] = []
        more: list[Told] = []
        for place, lane in enumerate(lanes):
            numbers = _last_numbers(lane, head)
            if not numbers or _tells_more(lane):
                more.append((place, replace(lane, last_lines=()) if numbers else lane, numbers))
                continue
            digest, attempt = digests.setdefault(id(lane.digest), (len(digests), lane.digest))[0], lane.attempts[0]
            entity, worked = entities.setdefault(lane.entity, len(entities)), lane.last_worked
            own.append(
                [
                    LANE_KINDS.index(lane.kind),
                    entity,
                    attempt.first_line,
                    attempt.last_line,
                    digest,
                    len(worked),
                    *worked,
                    *numbers,
                ]
            )
        rows.append(own)
        others.append(tuple(more))
    columns = Columns([*entities], [d for _, d in digests.values()], rows)
    return SentLanes(PackedColumns(columns), tuple(others))


def _last_numbers(lane: Lane, head: Sequence[Line]) -> tuple[int, ...]:
    """The numbers of its last lines, if they are among the first lines of its source, `head`; else empty."""
    last = lane.last_lines
    if isinstance(last, LinesOf) and last.head is head:
        return last.numbers
    numbers = tuple([line.number for line in last])
    is_among = numbers and numbers[-1] <= len(head) and [last_shown(head[n - 1]) for n in numbers] == [*last]
    return numbers if is_among else ()


def _tells_more(lane: Lane) -> bool:
    """Does `lane` tell of more than its last lines?"""
    ends = lane.reached_end or lane.at_work or lane.last_error or lane.closing or lane.failed_cell or lane.farewell
    lines = lane.trouble_lines or lane.good_lines or lane.aftermath
    return bool(ends or lines or lane.superseded or lane.starts_alike or len(lane.attempts) > 1)


def received_lanes(sent: SentLanes, found: Sequence[tuple[str, Sequence[Line]]]) -> list[Sequence[Lane]]:
    """The lanes of each source, of which the name and the first lines are given."""
    numbered = enumerate(zip(found, sent.others, strict=True))
    return [LanesInColumns(source, head, sent.columns, place, others) for place, ((source, head), others) in numbered]

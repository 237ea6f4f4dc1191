"""What is kept of each of thousands of sources until the decision, and what a process sends of them: packed until asked for.

    45 lines of 5 KB, 20 times, 14 lanes, in objects 35 KiB   ->   2 KiB packed; the lanes share what they have in common

Nearly all of it is never asked for: a report quotes a few lines of a few sources.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload
from zlib import compress, decompress

from msgspec import Struct, json, msgpack
from msgspec.structs import replace

from forensics.model import Line, Scan
from forensics.model.verdicts import Aftermath, Attempt, Entity, Lane, LaneDigest, LaneKind

T = TypeVar("T")
FAST_LEVEL = 1  # the level of compression: the others take twice the time for a tenth less
MAX_COMMON = 4096  # things that lanes of many sources have in common


class Packed(Sequence[T], Generic[T]):
    """Values of one kind, packed. Those of the last few that were asked for are kept as they are."""

    __slots__ = ("data", "kind", "size")

    def __init__(self, values: Sequence[T], kind: type[T]) -> None:
        self.data, self.size, self.kind = compress(json.encode(values), FAST_LEVEL), len(values), kind

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        return _unpacked(self)[at]

    def __iter__(self) -> Iterator[T]:
        return iter(_unpacked(self))


@lru_cache(maxsize=4)  # a stage looks at one source after the other
def _unpacked(packed: Packed[Any]) -> tuple[Any, ...]:
    found: tuple[Any, ...] = json.decode(decompress(packed.data), type=tuple[packed.kind, ...])  # type: ignore[name-defined]
    return found


class LinesOf(Sequence[Line]):
    """Lines of a source whose first lines are packed, by their numbers, each as a terminal shows it at last."""

    __slots__ = ("head", "numbers")

    def __init__(self, head: Sequence[Line], numbers: tuple[int, ...]) -> None:
        self.head, self.numbers = head, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, at: int) -> Line: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Line]: ...
    def __getitem__(self, at: int | slice) -> Line | Sequence[Line]:
        return tuple(self)[at]

    def __iter__(self) -> Iterator[Line]:
        return (last_shown(self.head[number - 1]) for number in self.numbers)


def last_shown(line: Line) -> Line:
    """`line` as a terminal shows it at last."""
    return line if "\r" not in line.text else Line(line.number, line.text.rpartition("\r")[2])


class ShortLane(Struct, frozen=True, array_like=True, gc=False):
    """A lane that tells of nothing but its last lines, `numbers`: what a process sends of it. `digest`: packed."""

    kind: LaneKind
    entity: Entity
    first: int
    last: int
    digest: bytes
    numbers: tuple[int, ...]


SentLane = tuple[ShortLane | None, Lane | None, tuple[int, ...]]  # one of the two, and the numbers of the last lines of a Lane


def sent_lane(lane: Lane, head: Sequence[Line]) -> SentLane:
    """`lane`, of a source with the first lines `head`, as a ShortLane if it is one."""
    numbers = tuple([line.number for line in lane.last_lines])
    if not numbers or numbers[-1] > len(head) or [last_shown(head[n - 1]) for n in numbers] != [*lane.last_lines]:
        return None, lane, ()
    if _tells_more(lane):
        return None, replace(lane, last_lines=()), numbers
    attempt = lane.attempts[0]
    short = ShortLane(lane.kind, lane.entity, attempt.first_line, attempt.last_line, msgpack.encode(lane.digest), numbers)
    return short, None, ()


def _tells_more(lane: Lane) -> bool:
    """Does `lane` tell of more than its last lines?"""
    ends = lane.reached_end or lane.at_work or lane.last_error or lane.closing or lane.failed_cell
    lines = lane.trouble_lines or lane.good_lines or lane.aftermath
    return bool(ends or lines or lane.superseded or len(lane.attempts) > 1)


def received_lane(sent: SentLane, source: str, head: Sequence[Line]) -> Lane:
    """The lane of `source`, whose first lines are `head`."""
    short, lane, numbers = sent
    if lane:
        return replace(lane, last_lines=LinesOf(head, numbers)) if numbers else lane
    assert short
    last, entity, attempts = LinesOf(head, short.numbers), _entity(short.entity), _attempts(short.first, short.last)
    return Lane(source, short.kind, entity, attempts, _digest(short.digest), (), last, (), NO_AFTERMATH)


NO_AFTERMATH: dict[tuple[int, str], Aftermath] = {}  # the aftermath of lanes without an observation


@lru_cache(maxsize=MAX_COMMON)
def _attempts(first: int, last: int) -> tuple[Attempt, ...]:
    return (Attempt(1, first, last),)


@lru_cache(maxsize=MAX_COMMON)
def _entity(entity: Entity) -> Entity:
    return entity


@lru_cache(maxsize=MAX_COMMON)
def _digest(packed: bytes) -> LaneDigest:
    return msgpack.decode(packed, type=LaneDigest)


def parked_scan(scan: Scan) -> Scan:
    """`scan` with its first and last lines packed; of a short source they are the same."""
    head = Packed(scan.head, Line)
    return replace(scan, head=head, tail=head if scan.tail == scan.head else Packed(scan.tail, Line))


def parked_lanes(lanes: Sequence[Lane], head: Sequence[Line], packed: Sequence[Line]) -> tuple[Lane, ...]:
    """`lanes`; those of a few lines share what they can, and have their lines of `packed`, which are those of `head`."""
    return tuple([received_lane(sent_lane(lane, head), lane.source, packed) for lane in lanes])

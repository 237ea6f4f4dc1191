"""What is kept of each of thousands of sources until the decision, and what a process sends of them: packed until asked for.

    45 lines of 5 KB, 20 times, 14 lanes, in objects 35 KiB   ->   2 KiB packed; the lanes share what they have in common

Sources that are read together are packed together. Nearly all of it is never asked for: a report quotes a few lines of a few
sources.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar, get_args, overload
from zlib import compress, decompress

from msgspec import Struct, json, msgpack
from msgspec.structs import replace

from forensics.model import Line, LinesOf, Scan
from forensics.model.logs import last_shown
from forensics.model.verdicts import Aftermath, Attempt, Entity, Lane, LaneDigest, LaneKind
from forensics.readers.stamps.clock_samples import ClockSample, SamplesOfLines, samples_of

T = TypeVar("T")
H = TypeVar("H", Entity, LaneDigest)
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


class PackedText:
    """The lines of several sources, packed together."""

    __slots__ = ("data",)

    def __init__(self, texts: Iterable[bytes]) -> None:
        self.data = compress(b"".join(texts), FAST_LEVEL)


class PackedLines(Sequence[Line]):
    """`size` lines that follow one another, the first of them number `first`: from byte `begin` to `end` of `text`."""

    __slots__ = ("begin", "end", "first", "size", "text")

    def __init__(self, text: PackedText, begin: int, end: int, first: int, size: int) -> None:
        self.text, self.begin, self.end, self.first, self.size = text, begin, end, first, size

    def __reduce__(self) -> tuple[Any, ...]:  # takes half the time to pickle
        return PackedLines, (self.text, self.begin, self.end, self.first, self.size)

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> Line: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Line]: ...
    def __getitem__(self, at: int | slice) -> Line | Sequence[Line]:
        return _lines(self)[at]

    def __iter__(self) -> Iterator[Line]:
        return iter(_lines(self))


@lru_cache(maxsize=2)
def _text(packed: PackedText) -> bytes:
    return decompress(packed.data)


@lru_cache(maxsize=4)  # a stage looks at one source after the other
def _lines(packed: PackedLines) -> tuple[Line, ...]:
    rows = _text(packed.text)[packed.begin : packed.end].decode("utf-8", "surrogatepass").split("\n") if packed.size else []
    return tuple(map(Line, range(packed.first, packed.first + packed.size), rows))


def parked_scans(scans: Sequence[Scan]) -> list[Scan]:
    """`scans` with their first and last lines packed; of a short source they are the same."""
    ends = [own for scan in scans for own in ((scan.head,) if scan.tail == scan.head else (scan.head, scan.tail))]
    texts = ["\n".join([line.text for line in own]).encode("utf-8", "surrogatepass") for own in ends]
    packed, begin, made = PackedText(texts), 0, list[PackedLines]()
    for own, text in zip(ends, texts, strict=True):
        made.append(PackedLines(packed, begin, begin + len(text), own[0].number if own else 1, len(own)))
        begin += len(text)
    left = iter(made)
    return [replace(scan, head=(head := next(left)), tail=head if scan.tail == scan.head else next(left)) for scan in scans]


class SamplesOf(Sequence[ClockSample]):
    """What lines that are packed show about the clock of their source, where nothing else shows more."""

    __slots__ = ("lines", "size")

    def __init__(self, lines: Sequence[Line], size: int) -> None:
        self.lines, self.size = lines, size

    def __reduce__(self) -> tuple[Any, ...]:
        return SamplesOf, (self.lines, self.size)

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> ClockSample: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[ClockSample]: ...
    def __getitem__(self, at: int | slice) -> ClockSample | Sequence[ClockSample]:
        return samples_of(self.lines)[at]


def parked_samples(samples: Sequence[ClockSample], head: Sequence[Line]) -> Sequence[ClockSample]:
    """`samples` in little memory. `head`: the first lines of their source, packed."""
    return SamplesOf(head, len(samples)) if isinstance(samples, SamplesOfLines) else Packed(samples, ClockSample)


LANE_KINDS: tuple[LaneKind, ...] = get_args(LaneKind)
ShortLane = list[int]  # kind, entity, first and last line, digest, and the numbers of its last lines


class SentLanes(Struct, frozen=True):
    """The lanes of several sources: what a process sends of them.

    `short`: of each source the lanes that tell of nothing but their last lines, of all sources as MessagePack; a lane has the
    place of its entity and of its digest among `entities` and `digests`. `others`: of each source the other lanes, with their
    places and without their last lines, which follow as numbers.
    """

    entities: tuple[Entity, ...]
    digests: tuple[LaneDigest, ...]
    short: bytes
    others: tuple[tuple[tuple[int, Lane, tuple[int, ...]], ...], ...]


def sent_lanes(found: Sequence[tuple[Sequence[Lane], Sequence[Line]]]) -> SentLanes:
    """The lanes of each source, which stand beside its first lines."""
    entities: dict[Entity, int] = {}
    digests: dict[int, tuple[int, LaneDigest]] = {}  # by identity: lanes that end alike share one
    short: list[list[ShortLane]] = []
    others: list[tuple[tuple[int, Lane, tuple[int, ...]], ...]] = []
    for lanes, head in found:
        own: list[ShortLane] = []
        more: list[tuple[int, Lane, tuple[int, ...]]] = []
        for place, lane in enumerate(lanes):
            numbers = _last_numbers(lane, head)
            if not numbers or _tells_more(lane):
                more.append((place, replace(lane, last_lines=()) if numbers else lane, numbers))
                continue
            digest, attempt = digests.setdefault(id(lane.digest), (len(digests), lane.digest))[0], lane.attempts[0]
            entity = entities.setdefault(lane.entity, len(entities))
            own.append([LANE_KINDS.index(lane.kind), entity, attempt.first_line, attempt.last_line, digest, *numbers])
        short.append(own)
        others.append(tuple(more))
    return SentLanes(tuple(entities), tuple([d for _, d in digests.values()]), msgpack.encode(short), tuple(others))


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
    ends = lane.reached_end or lane.at_work or lane.last_error or lane.closing or lane.failed_cell
    lines = lane.trouble_lines or lane.good_lines or lane.aftermath
    return bool(ends or lines or lane.superseded or len(lane.attempts) > 1)


def received_lanes(sent: SentLanes, found: Sequence[tuple[str, Sequence[Line]]]) -> list[tuple[Lane, ...]]:
    """The lanes of each source, of which the name and the first lines are given. They share what they have in common."""
    entities, digests = [*map(_common, sent.entities)], [*map(_common, sent.digests)]
    received: list[tuple[Lane, ...]] = []
    short = msgpack.decode(sent.short, type=list[list[ShortLane]])
    for (source, head), own, others in zip(found, short, sent.others, strict=True):
        made = [
            Lane(
                source,
                LANE_KINDS[kind],
                entities[entity],
                _attempts(first, last),
                digests[digest],
                (),
                LinesOf(head, _numbers(*numbers)),
                (),
                NO_AFTERMATH,
            )
            for kind, entity, first, last, digest, *numbers in own
        ]
        for place, lane, numbers in others:
            made.insert(place, replace(lane, last_lines=LinesOf(head, numbers)) if numbers else lane)
        received.append(tuple(made))
    return received


NO_AFTERMATH: dict[tuple[int, str], Aftermath] = {}  # the aftermath of lanes without an observation


@lru_cache(maxsize=MAX_COMMON)
def _attempts(first: int, last: int) -> tuple[Attempt, ...]:
    return (Attempt(1, first, last),)


@lru_cache(maxsize=MAX_COMMON)
def _numbers(*of_lines: int) -> tuple[int, ...]:
    return of_lines


@lru_cache(maxsize=MAX_COMMON)
def _common(value: H) -> H:
    """The first of the values that are equal to this one."""
    return value

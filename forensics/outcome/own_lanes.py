"""The lanes of a subject, with what is asked of all of them together, worked out once: a folder of logs has a hundred thousand.

10,000 logs of 14 lanes   ->   140,000 lanes with some hundred digests, which tell how they end
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

from msgspec import Struct, field

from forensics.model.verdicts import Lane, LaneDigest, LaneKind
from forensics.outcome.lane_columns import LaneEnd, LanesInColumns, ends_of
from forensics.readers.lanes.line_classes import exit_status

MAX_LINES_OF_STATUS = 3  # as many last lines are read for an exit status
STATUS_OF_STOP = (0, 128 + 2, 128 + 15)  # a good end, an interrupt, a request to stop
Place = tuple[int, int]  # the number of a group of lanes, and the index of a lane in it


class _Summary(Struct):
    """What all lanes tell together. `counts`: how many lanes have a digest. `alike`: of those that tell of nothing but their last
    lines, and end alike, the first one. `told`: the others. `begun`: by source, the first line of the last attempt, the smallest
    of its lanes."""

    counts: dict[LaneDigest, int] = field(default_factory=dict)
    alike: dict[LaneDigest, Place] = field(default_factory=dict)
    told: dict[Place, Lane] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    kinds: set[LaneKind] = field(default_factory=set)

    def add(self, group: int, lanes: Sequence[Lane], ends: Sequence[tuple[int, LaneEnd]]) -> None:
        """Add those of `lanes` whose `ends` are given, with their indices."""
        of_digest: dict[int, tuple[LaneDigest, int, int]] = {}  # by identity: to compare digests takes longer
        for at, (kind, digest, _, begun, told) in ends:
            _, first, count = of_digest.get(id(digest), (digest, -1, 0))
            self.kinds.add(kind)
            if told is not None or _may_record_status(digest):
                told = self.told[group, at] = told or lanes[at]
            elif first < 0:
                first = at
            of_digest[id(digest)] = digest, first, count + 1
            source = told.source if told else lanes.source  # type: ignore[attr-defined]
            self.begun[source] = min(begun, self.begun.get(source, begun))
        for digest, first, count in of_digest.values():
            self.counts[digest] = self.counts.get(digest, 0) + count
            if first >= 0:
                self.alike.setdefault(digest, (group, first))


class OwnLanes(Sequence[Lane]):
    """Lanes in order, given in groups, each of one source or not in columns. `kinds`: of which kinds; of all if None."""

    def __init__(self, groups: Iterable[Sequence[Lane]], kinds: Sequence[LaneKind] | None = None) -> None:
        self.groups, self.asked_kinds = [*groups], kinds
        self._parts: dict[frozenset[str], OwnLanes] = {}

    @staticmethod
    def of(lanes: Iterable[Lane]) -> "OwnLanes":
        """`lanes`, with what is known of them already."""
        return lanes if isinstance(lanes, OwnLanes) else OwnLanes([tuple(lanes)])

    def __len__(self) -> int:
        return sum(self._summary.counts.values())

    @overload
    def __getitem__(self, at: int) -> Lane: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Lane]: ...
    def __getitem__(self, at: int | slice) -> Lane | Sequence[Lane]:
        return tuple(self)[at]

    def __iter__(self) -> Iterator[Lane]:
        return (lane for lanes in self.groups for lane in lanes if self.asked_kinds is None or lane.kind in self.asked_kinds)

    @cached_property
    def _summary(self) -> _Summary:
        made, asked = _Summary(), self.asked_kinds
        for group, lanes in enumerate(self.groups):
            made.add(group, lanes, [(at, end) for at, end in enumerate(ends_of(lanes)) if asked is None or end[0] in asked])
        return made

    @property
    def digests(self) -> dict[LaneDigest, int]:
        """Their digests, each with the number of lanes that have it."""
        return self._summary.counts

    @property
    def kinds(self) -> set[LaneKind]:
        """The kinds of lanes that there are."""
        return self._summary.kinds

    @property
    def last_begun(self) -> dict[str, int]:
        """For each source, the first line of the last attempt; if it has several lanes, the smallest one."""
        return self._summary.begun

    @cached_property
    def told(self) -> list[Lane]:
        """Those that tell of more than their last lines."""
        return [*self._summary.told.values()]

    @cached_property
    def _unlike(self) -> list[Lane]:
        """The lanes in order; of those that tell of nothing but their last lines, and end alike, the first one alone."""
        alike = {place: self.groups[place[0]][place[1]] for place in self._summary.alike.values()}
        return [lane for _, lane in sorted((alike | self._summary.told).items(), key=lambda placed: placed[0])]

    @cached_property
    def largest(self) -> Lane | None:
        """The lane with most lines, the first of several."""
        return max(self._unlike, key=lambda lane: lane.digest.lines, default=None)

    @cached_property
    def worst(self) -> Lane | None:
        """The lane with the worst end: of several ranks or processes the one to look at."""
        return max(self._unlike, key=_badness, default=None)

    @cached_property
    def failed_sources(self) -> frozenset[str]:
        """The sources of the lanes that ended with a failure."""
        return frozenset(lane.source for lane in self.told if _ended_with_failure(lane))

    def in_sources(self, names: frozenset[str]) -> "OwnLanes":
        """Those of the sources `names`."""
        if names not in self._parts:
            self._parts[names] = OwnLanes((part for lanes in self.groups if (part := _part(lanes, names))), self.asked_kinds)
        return self._parts[names]


def _part(lanes: Sequence[Lane], names: frozenset[str]) -> Sequence[Lane]:
    if isinstance(lanes, LanesInColumns):
        return lanes if lanes.source in names else ()
    return [lane for lane in lanes if lane.source in names]


def _may_record_status(digest: LaneDigest) -> bool:
    return 0 <= digest.bad_end < MAX_LINES_OF_STATUS


def _ended_with_failure(lane: Lane) -> bool:
    """Do its last lines record an exit status that no stop from outside gives?"""
    return _may_record_status(lane.digest) and exit_status(lane) not in (None, *STATUS_OF_STOP)


def _badness(lane: Lane) -> tuple[bool, bool, bool, float, int]:
    d, failed = lane.digest, _ended_with_failure(lane)
    if d.traceback < 0 and d.trouble < 0:  # as nearly all of thousands
        return not lane.superseded, failed, False, -float(1 << 40), d.lines
    near = min(x for x in (d.traceback, d.trouble) if x >= 0)
    return not lane.superseded, failed, near - min(d.again_after_trouble, near) < 50, -float(near), d.lines

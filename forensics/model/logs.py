"""The values that the first stages make: Source, Line, Region, Trigger, Hit, Scan, Stamp, Prefix, Observation, Link, Incident."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, overload

from msgspec import Meta, Struct, field

from forensics.core.input_time import InputTime
from forensics.core.text import last_frames
from forensics.model.fields import Fields, Occurrence

if TYPE_CHECKING:
    from forensics.model.dumps import Dump

Weight = Literal["proof", "strong", "hint"]
WEIGHT_ORDER = {"proof": 0, "strong": 1, "hint": 2}
Time = Annotated[datetime, Meta(tz=True)]
Block = tuple[int, bytes]  # number of its first line, whole lines
LEAP_YEAR_START = datetime(1904, 1, 1)  # the date of a stamp that lacks one


# The message of a Warning about stamps whose zone nothing tells; it matters only beside stamps with a zone.
NO_ZONE = "the timestamps that were read have no time zone; UTC is assumed, as for every source without one"


class Warning(Struct, frozen=True):
    """A fault in the data, or an assumption about it. `kind`: a short word that does not change between versions."""

    kind: str
    message: str
    source: str | None = None
    line: int | None = None


Warn = Callable[[Warning], None]


class Line(Struct, frozen=True, gc=False, rename={"number": "line"}):
    """One line of a source: its number from 1, as of `grep -n`, and its text without the line end, colours and overwritten frames
    of progress bars."""

    number: int
    text: str


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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # as of a list


def last_shown(line: Line) -> Line:
    """`line` as a terminal shows it at last."""
    return line if "\r" not in line.text else Line(line.number, line.text.rpartition("\r")[2])


class CodePart(Struct, frozen=True):
    """A whole script, or one cell of a notebook (`label`: `cell 3`). The lines have their numbers in the file."""

    label: str
    lines: tuple[Line, ...]


OF_SERVICES = "compose"  # the format of what docker compose printed of several services


class Source(Struct, frozen=True):
    """A readable log: its name as the user knows it, and a function that yields its bytes in blocks, once.

    `modified`: when the file was last written, to infer the year of timestamps; None if unknown. `origin`: converts the number of
    a decoded line to its number in the original file, valid after `blocks` was read; None if they are the same. `format`: the
    container format that was decoded (`docker json-file`); None for plain text. `size`: bytes of a file that is read unchanged by
    its name, else None. `coded`: bytes of a file whose records are decoded, else 0. `code`: the program in a script, notebook or
    configuration file; None for others. `expected`: about how many bytes it will have; 0 if unknown. `time`: the processor time
    of the input that it belongs to; None where it is not bounded. `label`: what a launcher or a collector wrote in front of each
    line, which was removed. `dump`: reads the dump of a rank, where it is one. `opens`: opens the file, where that is left to who
    reads it; then `blocks` is for lines that are read again.
    """

    name: str
    blocks: Callable[[Warn], Iterator[bytes]]
    compression: str | None = None
    modified: datetime | None = None
    origin: Callable[[int], int] | None = None
    format: str | None = None
    size: int | None = None
    coded: int = 0
    code: Callable[[], tuple[CodePart, ...]] | None = None
    expected: int = 0
    time: InputTime | None = None
    label: str = ""
    dump: "Callable[[Warn], Dump | None] | None" = None
    opens: "Opening | None" = None

    @property
    def service(self) -> str:
        """The service of docker compose whose lines these are; empty for any other log."""
        return self.name.rpartition("!")[2] if self.format == OF_SERVICES else ""

    def number_of(self, line: int) -> int:
        """The number of a decoded line in the original file."""
        return line if self.origin is None else self.origin(line)


class Opening(Protocol):
    """Opens a file that was not opened so far. `place`: how many warnings there were before it. `given`: what the user gave."""

    @property
    def place(self) -> int:
        """See above."""

    @property
    def given(self) -> tuple[Path, ...]:
        """See above."""

    def __call__(self, warn: Warn) -> list[Source]:
        """The Sources in it."""


class Region(Struct, frozen=True, gc=False):
    """A line of one source with its neighbours, which are kept as bytes until they are needed.

    `text`: the line with the number `number`; of a progress bar the frame that ends with byte `end` of the line. `before`,
    `after`: the bytes around it; the outermost lines may be cut. `most_before`, `most_after`: the maximum number of neighbours.
    """

    source: str
    number: int
    text: str
    before: bytes = b""
    after: bytes = b""
    most_before: int = 0
    most_after: int = 0
    end: int = 0

    @property
    def line(self) -> Line:
        """The line itself."""
        return Line(self.number, self.text)

    def lines_before(self) -> list[Line]:
        """The lines before it, in order."""
        raw = self.before.split(b"\n")[:-1][-self.most_before :] if self.most_before else []
        first = self.number - len(raw)
        return [Line(first + i, text) for i, text in enumerate(last_frames(raw))]

    def lines_after(self) -> list[Line]:
        """The lines after it, in order."""
        raw = self.after.split(b"\n", self.most_after)[: self.most_after] if self.after else []
        if raw and not raw[-1]:
            raw.pop()
        return [Line(self.number + 1 + i, text) for i, text in enumerate(last_frames(raw))]

    def lines(self) -> list[Line]:
        """The line and its neighbours, in order."""
        return [*self.lines_before(), self.line, *self.lines_after()]


class RegionColumns(Sequence[Region]):
    """Regions without neighbours as columns, in order; a Region is made where one is asked for. `among`: those of which they were
    picked, if they were."""

    __slots__ = ("among", "ends", "numbers", "source", "texts")

    def __init__(self, source: str, numbers: Sequence[int], texts: Sequence[str], ends: Sequence[int]) -> None:
        self.source, self.numbers, self.texts, self.ends = source, numbers, texts, ends
        self.among: RegionColumns | None = None

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, at: int) -> Region:  # type: ignore[override]  # a part of it is never asked for
        return Region(self.source, self.numbers[at], self.texts[at], end=self.ends[at])

    def picked(self, places: Sequence[int]) -> "RegionColumns":
        """Those at these places."""
        numbers, texts, ends = ([*map(column.__getitem__, places)] for column in (self.numbers, self.texts, self.ends))
        made = RegionColumns(self.source, numbers, texts, ends)  # type: ignore[arg-type]
        made.among = self
        return made


class Trigger(Struct, frozen=True):
    """Tells the scanner which lines to keep for a detector or a series: those with one of `anchors` (plain texts, any case).

    `before`, `after`: how many neighbouring lines are needed. `thin`: of very many lines keep an even sample (numbers of a
    series); otherwise the first and last ones are kept. `of`: in place of `anchors`, the group of named_parts.yaml that has them
    as its `texts`, beside the patterns that its lines are read with.
    """

    kind: str
    anchors: tuple[str, ...] = ()
    before: int = 0
    after: int = 0
    thin: bool = False
    of: str = ""


class Hit(Struct, frozen=True):
    """A signature that was confirmed on a line. Equal messages are one Hit: `count` times, some of their lines in `also`.

    `span`: start and end of the match in the text of the region's line. `fields`: the texts of the named groups. `region`: the
    line with a few neighbours. `silenced`: a healthy message overlaps it in each of its lines.
    """

    source: str
    line: int
    signature: str
    cause: str
    weight: Weight
    span: tuple[int, int]
    fields: Mapping[str, str]
    region: Region
    count: int = 1
    also: tuple[Line, ...] = ()
    ends: str = ""
    scope: tuple[str, ...] = ()
    silenced: bool = False

    @property
    def lines(self) -> tuple[Line, ...]:
        """Its lines, first to last; of very many only the first few and the last."""
        return (Line(self.line, self.text), *self.also)

    @property
    def text(self) -> str:
        """The text of the matched line."""
        return self.region.text


class Scan(Struct, frozen=True):
    """The result of scanning one source.

    `regions`: kind of trigger -> the lines around each match. `head`, `tail`: its first and last lines. `totals`: kind of
    trigger -> the number of matches, including those without a region. `continued`: how many lines of its first 16 MiB are
    indented, which means that they continue the record before them. `sample`: blocks of whole lines with the number of their
    first line, in order: all of a short source, both ends and an even sample of a long one.
    """

    source: Source
    bytes: int
    lines: int
    hits: tuple[Hit, ...]
    regions: Mapping[str, Sequence[Region]]
    head: Sequence[Line]
    tail: Sequence[Line]
    totals: Mapping[str, int] = field(default_factory=dict)
    continued: int = 0
    sample: tuple[Block, ...] = ()


class Stamp(Struct, frozen=True, gc=False):
    """The timestamp of one line, without any assumption.

    `wall`: date and time, naive if the line has no zone. `lacks`: its year (1904) or its date (1904-01-01) is only a placeholder.
    `mono`: seconds since boot. `resolution_s`: the resolution in seconds. `delta`: seconds since the previous line, for formats
    with nothing else. `zone`: the name of an ambiguous time zone.
    """

    wall: datetime | None = None
    mono: float | None = None
    lacks: Literal["", "year", "date"] = ""
    resolution_s: float = 1.0
    delta: float | None = None
    zone: str = ""

    @property
    def seconds(self) -> float | None:
        """Seconds since 1904, since midnight or since boot, as far as the stamp tells: of one kind they can be compared."""
        wall = self.wall
        if wall is None:
            return self.mono
        return ((wall if wall.tzinfo is None else wall.replace(tzinfo=None)) - LEAP_YEAR_START).total_seconds()

    def seconds_after(self, other: "Stamp") -> float | None:
        """Seconds from `other` to this stamp, since boot where both count that; None if their clocks cannot be compared."""
        if self.mono is not None and other.mono is not None:
            return self.mono - other.mono
        if self.wall is None or other.wall is None or self.lacks != other.lacks:
            return None
        same_kind = (self.wall.tzinfo is None) == (other.wall.tzinfo is None)
        return (self.wall - other.wall).total_seconds() if same_kind else None


class Prefix(Struct, frozen=True, gc=False):
    """The fields of the prefixes of one line, and the message after them. `formats`: of the prefixes, outermost first."""

    message: str
    formats: tuple[str, ...] = ()
    stamp: Stamp | None = None
    host: str | None = None
    program: str | None = None
    pid: int | None = None
    rank: int | None = None
    level: str | None = None


class Proof(Struct, frozen=True):
    """One line of evidence, unchanged, with its neighbours for a reader.

    `linked_by`: what links it to the first evidence line of the report, if that is in another source: `pid 4711`. `matched`: the
    decisive part of a long line; empty for a short line. `stamped`: False if `time` is only that of a stamped line above it.
    `earlier`: it shows an earlier event of the same cause than the one that is told: of an attempt before, or a death before.
    `continued`: how many lines of `after` belong to its message. `by_kernel`: the kernel wrote it. `uptime_s`: the seconds
    that it counts from boot.
    """

    source: str
    line: int
    text: str
    signature: str
    weight: Weight
    before: tuple[Line, ...] = ()
    after: tuple[Line, ...] = ()
    time: Time | None = None
    time_uncertainty_s: float | None = None
    linked_by: str | None = None
    matched: str = ""
    stamped: bool = True
    earlier: bool = False
    continued: int = 0
    by_kernel: bool = False
    uptime_s: float | None = None


Around = tuple[Sequence[str], int]  # texts of lines that follow one another, and the index of the one asked about
LinesAround = Callable[[Proof], Around]
NO_LINES: Around = ((), 0)


def shows_slow_down(facts: Fields, proofs: Sequence[Proof]) -> bool:
    """Does the first line of evidence show that steps take longer than before, not that they ended?"""
    return "slower_by" in facts and bool(proofs) and proofs[0].signature.startswith("series/")


class Observation(Struct, frozen=True):
    """An event that was found in a log: its cause, its lines, its fields in base units.

    `kind`: the signature or record that made it. `stamp`: the timestamp of its line. `time`, `uncertainty_s` and `lane` are set
    by the correlation (`lane`: its clock; observations of different lanes cannot be ordered). `ends`, `scope`: of the signature;
    empty means those of its cause. An Observation is never changed: later findings about it are stored as Facts.
    `reads_another`: it only names the cause of another observation, and shows nothing of the end by itself. `occurrences`: where
    the message is part of several records; `fields` has something of each then. `told_to`: the last line of the message that the
    first proof begins, where it surely has several; else 0.
    """

    kind: str
    cause: str | None
    weight: Weight
    source: str
    line: int
    last_line: int
    proofs: tuple[Proof, ...]
    fields: Fields = field(default_factory=dict)
    count: int = 1
    stamp: Stamp | None = None
    time: Time | None = None
    uncertainty_s: float | None = None
    lane: str = ""
    ends: str = ""
    scope: tuple[str, ...] = ()
    reads_another: bool = False
    occurrences: tuple[Occurrence, ...] = ()
    told_to: int = 0

    def fields_at(self, line: int) -> Fields:
        """Its fields where it is on `line`."""
        return next((o.fields for o in self.occurrences if o.line == line), self.fields)

    @property
    def moment(self) -> float | None:
        """Seconds since 1970, else since boot. Only comparable within one source."""
        if self.time:
            return self.time.timestamp()
        return self.stamp.mono if self.stamp else None

    @property
    def place(self) -> tuple[str, int]:
        """(source, line); unique together with `kind`."""
        return self.source, self.line

    @property
    def shown_on(self) -> tuple[int, ...]:
        """The lines each of which shows the event: the first one, all of several equal messages, or the last one of a series."""
        if self.kind.startswith("series/"):
            return (self.last_line,)
        return tuple(p.line for p in (self.proofs if self.count > 1 else self.proofs[:1]))


class Link(Struct, frozen=True):
    """Two events about the same thing, and what links them. `by`, for people: `pid 4711`, `time, 0.7 s apart`. `kind`, for
    programs: pid, kernel, uuid, pci, step, container, pod_uid, pod, unit, job, cgroup, rank, local_rank, gpu, name or time."""

    first: tuple[str, int]
    second: tuple[str, int]
    by: str
    kind: str = ""


class Incident(Struct, frozen=True):
    """Events that belong together, in order, with the links between them."""

    events: tuple[Observation, ...]
    links: tuple[Link, ...] = ()
    start: Time | None = None
    end: Time | None = None

"""What the first stages make of bytes: Source, Line, Region, Trigger, Hit, Scan, Stamp, Prefix, Observation, Link, Incident."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from forensics.core.text import last_frame

Weight = Literal["proof", "strong", "hint"]
Value = str | int | float
Time = Annotated[datetime, Meta(tz=True)]
Fields = Mapping[str, Value]
Block = tuple[int, bytes]  # number of its first line, whole lines


class Warning(Struct, frozen=True):
    """Trouble in the data, or an assumption that was made about it. `kind` is a short stable word."""

    kind: str
    message: str
    source: str | None = None
    line: int | None = None


Warn = Callable[[Warning], None]


class Line(Struct, frozen=True, rename={"number": "line"}):
    """One line of a source: its number from 1, as `grep -n` counts, and its text without line end, colours and the
    overwritten frames of progress bars."""

    number: int
    text: str


class CodePart(Struct, frozen=True):
    """Code that stands together: a whole script, or one cell of a notebook (`label`: `cell 3`). Lines are those of the file."""

    label: str
    lines: tuple[Line, ...]


class Source(Struct, frozen=True):
    """Something readable: its name as the user knows it and a function that yields its bytes in blocks, once.

    `modified`: when the file was last written, as an anchor for stamps without a year; None where unknown. `origin`: from the
    number of a line in what `blocks` yields to its number in the original, for records that were decoded; complete once `blocks`
    has been read; None where the two are the same. `format`: the container its records were decoded from, as named in the report
    (`docker json-file`); None where it is plain text. `size`: bytes of a file that can be opened by its name and is read as it
    lies; None for everything else. `coded`: bytes of a file whose records are decoded; 0 for others. `code`: the program in it,
    for a script, a notebook or a configuration; None for others.
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


class Region(Struct, frozen=True):
    """A line of one source with its neighbours, kept as bytes until somebody reads them.

    `text`: the line itself, numbered `number`, or of a bar that was redrawn the frame that ends with byte `end` of the line.
    `before`, `after`: the bytes around it; whole lines next to it, the outermost ones may be cut. `most_before`, `most_after`:
    how many neighbours are given at most.
    """

    source: str
    number: int
    text: str
    before: bytes = b""
    after: bytes = b""
    most_before: int = 0
    most_after: int = 0
    end: int = 0

    def lines_before(self) -> list[Line]:
        """The lines in front of it, in order."""
        raw = self.before.split(b"\n")[:-1][-self.most_before :] if self.most_before else []
        first = self.number - len(raw)
        return [Line(first + i, last_frame(r)) for i, r in enumerate(raw)]

    def lines_after(self) -> list[Line]:
        """The lines behind it, in order."""
        raw = self.after.split(b"\n", self.most_after)[: self.most_after] if self.after else []
        if raw and not raw[-1]:
            raw.pop()
        return [Line(self.number + 1 + i, last_frame(r)) for i, r in enumerate(raw)]

    def lines(self) -> list[Line]:
        """All of them, in order."""
        return [*self.lines_before(), Line(self.number, self.text), *self.lines_after()]


class Trigger(Struct, frozen=True):
    """What calls for lines that a record or a series reads: one of `anchors` (plain texts, any case) in a line.

    `before`, `after`: how many neighbouring lines the reader may need. `thin`: keep an even sample when there are very many
    (numbers of a series); otherwise the first and last ones are kept.
    """

    kind: str
    anchors: tuple[str, ...]
    before: int = 0
    after: int = 0
    thin: bool = False


class Hit(Struct, frozen=True):
    """A signature confirmed on a line. The same message again is the same Hit: `count` times, some of them in `also`.

    `span`: first and past-last character of the match in the text of the region's line.
    `fields`: named groups as they stood. `region`: the line with a few neighbours.
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

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines it stands on, first to last; of very many only the first few and the last."""
        return (Line(self.line, self.text), *self.also)

    @property
    def text(self) -> str:
        """The line that hit."""
        return self.region.text


class Scan(Struct, frozen=True):
    """What the scanner found in one source.

    `regions`: record kind -> the lines around each place where such a record shows. `head` and `tail`: its first and last
    lines. `totals`: record kind -> how many such places there are, the ones without a region included.
    `continued`: how many of its first lines (16 MiB) are indented: they go on with the record before them. `sample`: blocks of
    whole lines with the number of their first one, in order - all of a short source, of a long one both ends and an even sample.
    """

    source: Source
    bytes: int
    lines: int
    hits: tuple[Hit, ...]
    regions: Mapping[str, tuple[Region, ...]]
    head: tuple[Line, ...]
    tail: tuple[Line, ...]
    totals: Mapping[str, int] = field(default_factory=dict)
    continued: int = 0
    sample: tuple[Block, ...] = ()


class Stamp(Struct, frozen=True):
    """When, as one line tells it, before any assumption.

    `wall`: date and time; naive when the line gives no zone; its year (1904) or whole date (1904-01-01) means nothing when
    `lacks` says so. `mono`: seconds since boot. `resolution_s`: how fine the stamp is. `delta`: seconds since the line before
    it, where that is all it tells. `zone`: a zone's name that could be several offsets.
    """

    wall: datetime | None = None
    mono: float | None = None
    lacks: Literal["", "year", "date"] = ""
    resolution_s: float = 1.0
    delta: float | None = None
    zone: str = ""


class Prefix(Struct, frozen=True):
    """The fields of the prefixes of one line, outermost first, and the message behind them."""

    message: str
    formats: tuple[str, ...] = ()
    stamp: Stamp | None = None
    host: str | None = None
    program: str | None = None
    pid: int | None = None
    rank: int | None = None
    level: str | None = None


class Proof(Struct, frozen=True):
    """One line of evidence, as it stood, with its neighbours for a reader.

    `linked_by`: what ties it to the first evidence line of a report, where that stands in another source: `pid 4711`.
    `matched`: of a long line, the piece that tells it; empty where the line is short enough to be read whole.
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


class Observation(Struct, frozen=True):
    """Something that happened, understood: what it speaks for, where it stands, its fields in plain units.

    `kind`: the signature or record that made it. `stamp`: as the line tells; `time`, `uncertainty_s` and `lane` are given by
    the correlation (`lane`: the clock it lies on; those of different lanes cannot be ordered). `ends`, `scope`: as the signature
    states them; empty for what its cause states. What was observed is never rewritten: what is known about it is a Fact.
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

    @property
    def moment(self) -> float | None:
        """Seconds since 1970, or since boot where nothing else is known: to be compared within one source."""
        if self.time:
            return self.time.timestamp()
        return self.stamp.mono if self.stamp else None

    @property
    def place(self) -> tuple[str, int]:
        """Where it stands: source and line; unique with `kind`."""
        return self.source, self.line

    @property
    def shown_on(self) -> tuple[int, ...]:
        """The lines of which each alone shows it: its first one, or every one of equal messages that were folded into one.

        A series is known at its last one.
        """
        if self.kind.startswith("series/"):
            return (self.last_line,)
        return tuple(p.line for p in (self.proofs if self.count > 1 else self.proofs[:1]))


class Link(Struct, frozen=True):
    """Two events that speak of the same thing, and by what it is known: `pid 4711`, `time, 0.7 s apart`.

    `kind`: the first word of that for programs: pid, kernel, uuid, pci, step, container, pod_uid, pod, unit, job, cgroup, rank,
    local_rank, gpu, name or time.
    """

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

"""What all readers share: typed fields, the Record that they return, the sampled lines of a source, and the lines near evidence.

Named regex groups become typed fields, by the suffix of the name: sizes in bytes, times in seconds, counts as integers.

{"limit_kb": "409600", "request_size": "20.00 GiB", "pid": "4711"} -> {"limit_bytes": 419430400, "request_bytes": 21474836480,
"pid": 4711}

The Record that every detector returns, and small functions that the detectors share.

The sampled lines of a source, divided into lines once for all readers, each line with its shape.

    step 4012 loss 2.31    -> the bytes of the line, and its shape `step 0000 loss 0.00`

What does not depend on digits is looked for in the shapes: a log of many lines has few of them.

What the readers of the lines around a line of evidence share: how far they look, and what they return.
"""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from forensics.core import lazy
from forensics.core.recent import Recent
from forensics.core.shapes import MAX_KEPT_BYTES, divided
from forensics.data_files.named_parts import patterns_of
from forensics.database import Records
from forensics.line_formats import parse_prefix
from forensics.model import NO_LINES, Around, Line, Prefix, Proof, Scan, Value, Weight

# All units are powers of 1024: the kernel's kB and the frameworks' MB and GB are binary units. A page is 4096 bytes.
BYTES_BY_UNIT = {
    "kb": 1 << 10,
    "kib": 1 << 10,
    "mb": 1 << 20,
    "mib": 1 << 20,
    "gb": 1 << 30,
    "gib": 1 << 30,
    "tib": 1 << 40,
    "pages": 4096,
}
PATTERNS = patterns_of("units")
MAX_NUMBER = 1e24  # larger than any size in bytes or time in seconds
INTEGERS = {
    "pid", "ppid", "uid", "rank", "local_rank", "world_size", "exit_code", "signal", "gpu", "xid", "sxid", "seq", "step_no",
    "epoch", "cpu", "line_no", "port", "status", "count", "kills", "order", "oom_score_adj", "invoker_pid",
    "child_no", "process_no",
}  # fmt: skip


def typed_fields(groups: Mapping[str, str]) -> dict[str, Value]:
    """The typed fields of named groups; empty groups are left out. A value that does not parse stays text, under its own name."""
    facts: dict[str, Value] = {}
    for name, text in groups.items():
        text = text.strip()
        if not text:
            continue
        stem, _, unit = name.rpartition("_")
        number = _number(text)
        if unit == "size" and name not in INTEGERS and (size := size_bytes(text)) is not None:
            facts[f"{stem}_bytes"] = size
        elif unit in BYTES_BY_UNIT and number is not None:
            facts[f"{stem}_bytes"] = round(number * BYTES_BY_UNIT[unit])
        elif unit == "bytes" and number is not None:
            facts[name] = round(number)
        elif unit == "ms" and number is not None:
            facts[f"{stem}_s"] = number / 1000
        elif unit == "s" and number is not None:
            facts[name] = number
        elif name in INTEGERS and text.lstrip("-").isdecimal():
            facts[name] = int(text[:19])
        else:
            facts[name] = text
    return facts


def size_bytes(text: str) -> int | None:
    """A size such as `20.00 GiB`, `512M`, `1234 bytes` or `1234`, in bytes; None if it does not parse."""
    found = PATTERNS.size_field.match(text)
    number = _number(found[1]) if found else None
    if found is None or number is None:
        return None
    return round(number * (1 << 10 * " kmgt".index(found[2].lower() or " ")))


def _number(text: str) -> float | None:
    """The number in `text`; None if it is no number, or too large for a size or a time (`inf`, 400 digits)."""
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return None
    return number if abs(number) < MAX_NUMBER else None


EVENT_TITLE = "event_title"  # of a record that tells something else than the title of its cause says


class Record(Struct, frozen=True):
    """Several lines that form one report.

    `first`, `last`: numbers of its first and last line. `outcome`: one of its detector's OUTCOMES, or None if it proves nothing
    by itself. `quote`: the lines worth quoting, best first. `lends`: its fields are also added to the hits inside it. `over`:
    other OUTCOMES; hits of their causes inside the record are dropped, too. `count`: how many equal records this one stands for.
    `places`: first and last line of each of them, as far as known; empty for a single place.

    `cause`: from the table of a code (Xid, SXid), else None until `with_cause` looks it up. `decides`: causes or families
    (`gpu_memory.*`) whose hits inside the record are dropped in favour of `cause`. `told_to`: the last line that surely belongs
    to the message of the first line of `quote`, by its form; 0 if that is one line. `strengthens`: what hints at a cause on the
    first line of `quote` is as sure as the record.
    """

    kind: str
    first: int
    last: int
    outcome: str | None
    weight: Weight
    quote: tuple[Line, ...]
    fields: dict[str, Value] = field(default_factory=dict)
    lends: bool = False
    over: tuple[str, ...] = ()
    count: int = 1
    places: tuple[tuple[int, int], ...] = ()
    cause: str | None = None
    decides: tuple[str, ...] = ()
    told_to: int = 0
    strengthens: bool = False

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """First and last line of each place of the record."""
        return self.places or ((self.first, self.last),)

    def speaks_for(self, cause: str) -> bool:
        """Is a hit of `cause` inside the record dropped? It is if `decides` names the cause or its family, or if the record lends
        its fields and has the same cause."""
        family = cause.split(".")[0] + ".*"
        return cause in self.decides or family in self.decides or (self.lends and cause == self.cause)


def with_cause(record: Record, records: Records) -> Record:
    """`record` with the cause of its outcome. `records`: those of the database. Raises KeyError for an unknown outcome."""
    if record.outcome is None:
        return record
    outcomes = records[record.kind.partition("/")[0]]
    proven = outcomes[record.outcome]
    over = (cause for word in record.over if (cause := outcomes[word].cause))
    return replace(record, cause=record.cause or proven.cause, decides=(*proven.decides, *over))


class ParsedLine(Struct, frozen=True):
    """A line and its prefixes, parsed."""

    line: Line
    prefix: Prefix

    @property
    def message(self) -> str:
        """The line without its prefixes."""
        return self.prefix.message


def parse_lines(lines: Sequence[Line]) -> list[ParsedLine]:
    """`lines` with their prefixes parsed, in order."""
    return [ParsedLine(line, parse_prefix(line.text)) for line in lines]


NUMBERS_PATTERN = lazy.regex(r"(?<![0-9a-f])[0-9a-f]*\d[0-9a-f]*")
KEYS_PATTERN = lazy.regex(r"(?:\^[A-Z\\])+\Z")  # what a terminal shows of Ctrl-C and its kin, on the row where they were pressed
MAX_UNKNOWN_PREFIX_CHARS = 200  # longer text in front of the mark is not taken for the prefix of a tool


def unwrapped(rows: list[ParsedLine], mark: str) -> list[ParsedLine]:
    """`rows` without the prefix that an unknown tool wrote before `mark` in the first row. Only numbers in it may differ.

    Example: `grep -n` writes `logs/r3.err:88:Traceback ...` and `logs/r3.err:89:  File ...`. The text in front of `Traceback`
    is the prefix. A row without such a prefix stays as it is.
    """
    front, found, _ = rows[0].message.partition(mark)
    front = KEYS_PATTERN.sub("", front)
    if not front or not found or len(front) > MAX_UNKNOWN_PREFIX_CHARS:
        return rows
    shape = lazy.regex(r"(?=[0-9a-f]*\d)[0-9a-f]++".join(map(re.escape, NUMBERS_PATTERN.split(front))))
    return [
        ParsedLine(r.line, replace(r.prefix, message=r.message[m.end() :])) if (m := shape.match(r.message)) else r for r in rows
    ]


class Block(Struct, frozen=True):
    """Lines that follow each other, of which the first is number `first`. `shapes`: each line with zeros for its digits."""

    first: int
    rows: Sequence[bytes]
    shapes: Sequence[bytes]
    distinct: Mapping[bytes, None]


_blocks: Recent[tuple[Block, ...]] = Recent(MAX_KEPT_BYTES)


def sampled_blocks(scan: Scan) -> tuple[Block, ...]:
    """The sample of `scan`, divided into lines; those of the sources that are read in turns are kept."""
    known = _blocks.get(scan.sample)
    if known is None:
        size = sum(len(data) for _, data in scan.sample)
        known = _blocks.keep(scan.sample, tuple(Block(first, *divided(data)) for first, data in scan.sample), size)
    return known


Found = dict[str, Value]
NEAR = 3  # lines in which a message tells the rest of itself
WIDE = 60  # lines of one report: a backtrace, a document of a pod
MAX_PROMPT_LINES = 400  # chosen by hand: what one command printed
MAX_READ_PROOFS = 3  # as in named_place
MAX_TOLD_PROOFS = 3  # chosen by hand: as in near_lines
MAX_LISTED_DEVICES = 3  # chosen by hand: of several that failed alike
MAX_SENTENCE_LINES = 12  # chosen by hand: a driver's report of one fault
MAX_FAULT_LINES = 60  # chosen by hand: faulthandler prints a few threads before the current one


def nothing_near(_: Proof) -> Around:
    """For a report without its logs."""
    return NO_LINES

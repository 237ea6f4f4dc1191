"""Turns the hits and records of one source into Observations, each with its time stamp. A hit that overlaps known harmless text
is dropped. A hit inside a record becomes part of the record, if the record replaces hits of its cause."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence

from msgspec.structs import replace

from forensics.database import HEALTHY
from forensics.line_formats import parse_prefix, unlabelled
from forensics.line_formats.common_label import label_prefix
from forensics.model import Hit, Line, Observation, Prefix, Proof, Region, Scan, Stamp, Value
from forensics.model.fields import Occurrence, completed_fields
from forensics.readers.base import Record, typed_fields
from forensics.readers.python.library_files import is_library_file
from forensics.readers.python.quoted_source import Quotes, begins_in_text, has_quoted_text, is_code_of_frame
from forensics.readers.words import continued_lines

QUOTED_CONTEXT_LINES = 2  # before and after a quoted line, so that a reader sees its context. Chosen by hand
READ_WHOLE = 200  # characters: in a line up to this length, a reader finds the message without highlighting
MAX_MATCHED_CHARS = 200  # about two lines of a report
WORTH = ("proof", "strong", "hint")
# Exceptions from the program's own code. If the file of a frame is on a mount, such an exception is no sign of a broken mount.
NOT_OF_FILES = {
    "AssertionError", "AttributeError", "ImportError", "IndexError", "KeyError", "ModuleNotFoundError", "NameError",
    "NotImplementedError", "TypeError", "UnboundLocalError", "ValueError", "ZeroDivisionError",
}  # fmt: skip


def to_events(scan: Scan, records: list[Record], by_values: Container[str] = ()) -> list[Observation]:
    """Observations in the order of their lines. Each hit or record becomes one Observation, is dropped, or joins a record.
    `by_values`: the causes of which printed numbers tell."""
    quotes = Quotes(scan)
    printed = (_as_printed(hit, quotes, hit.cause in by_values) for hit in scan.hits)
    hits, silenced = _without_noise(filter(None, printed))
    noisy = {line.number for h in hits if h.cause == HEALTHY for line in h.lines}
    records_at, hits_at = RecordIndex(records), HitIndex(hits)
    absorbed = {id(hit) for hit in hits if records_at.absorbs(hit) or _only_lies_there(hit, records_at)}
    events = [_from_hit(scan, _outside(hit, records_at), records_at) for hit in hits if id(hit) not in absorbed]
    for record in records:
        if _is_silenced(record, silenced, hits_at):
            continue
        if record.lends and (
            noisy & {line.number for line in record.quote[:1]} or _named(record, hits_at) or records_at.decides_over(record)
        ):
            continue
        events.append(_from_record(scan, record, hits_at, absorbed))
    return sorted(events, key=lambda e: (e.line, e.kind))


def _as_printed(hit: Hit, quotes: Quotes, by_value: bool = False) -> Hit | None:
    """`hit` in the first line that is neither source code nor a text of a model; None if there is none. Such a text silences
    records of its line, too. `by_value`: code names values, and prints none."""
    if hit.cause == HEALTHY:
        return hit
    around = hit.region.lines()
    line, matched = Line(hit.line, hit.text), hit.text[slice(*hit.span)]
    is_text = begins_in_text(line.text, hit.span[0])
    if not (is_text or quotes.holds(line, hit.span, around) or (by_value and is_code_of_frame(line, around))):
        return hit
    printed = [x for x in hit.also if not quotes.hold_all(x, [matched.lower()], around) and not has_quoted_text(x.text)]
    if not printed:
        return replace(hit, silenced=True) if is_text else None
    return _in_lines(hit, printed)


def _in_lines(hit: Hit, lines: Sequence[Line]) -> Hit:
    """`hit` in these of its lines alone."""
    count = max(1, hit.count - (len(hit.lines) - len(lines)))
    if lines[0].number == hit.line:
        return replace(hit, count=count, also=tuple(lines[1:]))
    region = Region(hit.source, lines[0].number, lines[0].text)
    return replace(hit, line=lines[0].number, region=region, span=(0, 0), count=count, also=tuple(lines[1:]))


def _outside(hit: Hit, records_at: "RecordIndex") -> Hit:
    """`hit` without its lines in records that have decided for another cause than its own."""
    lines = [line for line in hit.lines if not records_at.decides_against(hit.cause, line.number)]
    return _in_lines(hit, lines) if 0 < len(lines) < len(hit.lines) else hit


def _without_noise(hits: Iterable[Hit]) -> tuple[list[Hit], set[tuple[int, str]]]:
    """`hits` without those that a healthy message overlaps, and line and cause of the others."""
    hits = list(hits)
    kept = [h for h in hits if not h.silenced]
    silenced = {(line.number, h.cause) for h in hits if h.silenced for line in h.lines}
    return kept, silenced.difference((h.line, h.cause) for h in kept)


def _is_silenced(record: Record, silenced: Container[tuple[int, str]], hits_at: "HitIndex") -> bool:
    """Does the record read a message that a healthy one silenced, with no other message of its cause in it?"""
    if record.cause is None or not record.quote or (record.quote[0].number, record.cause) not in silenced:
        return False
    return not any(h.cause == record.cause for h in hits_at.on(record.spans))


def _only_lies_there(hit: Hit, records_at: "RecordIndex") -> bool:
    """Does the hit only show that a traceback's code is on a mount, while the exception has nothing to do with files?"""
    return "drive_file" in hit.fields and any(r.fields.get("exc_type") in NOT_OF_FILES for r in records_at.lenders(hit))


class RecordIndex:
    """Finds the records on a line: those of one line in a table, the few longer ones by comparing each."""

    def __init__(self, records: list[Record]) -> None:
        self.single: dict[int, list[Record]] = defaultdict(list)
        self.longer: list[tuple[int, int, Record]] = []
        for record in records:
            for first, last in record.spans:
                if first == last:
                    self.single[first].append(record)
                else:
                    self.longer.append((first, last, record))

    def at(self, line: int) -> list[Record]:
        """The records that contain `line`."""
        return [*self.single.get(line, ()), *(r for a, b, r in self.longer if a <= line <= b)]

    def absorbs(self, hit: Hit) -> bool:
        """Does each known line of the hit belong to a record that replaces hits of its cause?"""
        return all(any(r.speaks_for(hit.cause) for r in self.at(line.number)) for line in hit.lines)

    def decides_against(self, cause: str, line: int) -> bool:
        """Does `line` belong to a record of another cause that replaces hits of `cause`?"""
        there = [r for r in self.at(line) if r.speaks_for(cause)]
        return bool(there) and all(r.cause not in (None, cause) for r in there)

    def decides_over(self, record: Record) -> bool:
        """Does a record of another kind, on the first line that `record` quotes, replace what is found of its cause?"""
        cause, there = record.cause, self.at(record.quote[0].number)
        return cause is not None and any(r.speaks_for(cause) for r in there if r.kind != record.kind)

    def strengtheners(self, hit: Hit) -> list[Record]:
        """The records that make the hint `hit`, on their first quoted line, as sure as they are."""
        there = self.at(hit.line) if hit.weight == "hint" else ()
        return [r for r in there if r.strengthens and r.quote[0].number == hit.line]

    def lenders(self, hit: Hit) -> list[Record]:
        """The records whose fields are added to the hit, each once."""
        return list({id(r): r for line in hit.lines for r in self.lenders_at(line.number)}.values())

    def lenders_at(self, line: int) -> list[Record]:
        """The records whose fields are added to a hit on `line`, those with the user's own code first."""
        lent = [r for r in self.at(line) if r.lends]
        return sorted(lent, key=lambda r: is_library_file(str(r.fields.get("file", ""))))


class HitIndex:
    """Finds the hits in a range of lines, by bisection, because there may be hundreds of records and of hits."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        places = sorted((line.number, i) for i, hit in enumerate(hits) for line in hit.lines)
        self.numbers, self.indices, self.hits = [n for n, _ in places], [i for _, i in places], hits

    def on(self, spans: Iterable[tuple[int, int]]) -> list[Hit]:
        """The hits that have a line in one of `spans` (first and last line), in order, each once."""
        found: set[int] = set()
        for first, last in spans:
            found.update(self.indices[bisect_left(self.numbers, first) : bisect_right(self.numbers, last)])
        return [self.hits[i] for i in sorted(found)]


def _contains_line(record: Record, line: int) -> bool:
    return any(first <= line <= last for first, last in record.spans)


def _named(record: Record, hits_at: HitIndex) -> bool:
    """Does a signature match the exception of this traceback, so that the traceback itself adds nothing?"""
    found = hits_at.on([(record.quote[0].number, record.last)])
    return any(h.cause not in (record.cause, HEALTHY) and not record.speaks_for(h.cause) for h in found)


def _from_hit(scan: Scan, hit: Hit, records_at: RecordIndex) -> Observation:
    prefix, stamp = _placed(hit)
    fields: dict[str, Value] = {**_prefix_fields(prefix, scan.source.label), **typed_fields(hit.fields)}
    lenders = sorted(records_at.lenders(hit), key=lambda r: is_library_file(str(r.fields.get("file", ""))))
    lent: dict[str, Value] = {}
    for record in lenders:
        lent = completed_fields(lent, record.fields)
    fields = {**lent, **fields}
    said = [r.quote[0] for r in lenders if hit.count == 1 and _is_above_message(hit, r)][:1]
    quoted = [*said, Line(hit.line, hit.text), *(line for record in lenders for line in record.quote), *hit.also]
    lines: dict[int, Line] = {}
    for line in quoted:
        lines.setdefault(line.number, line)
    neighbours = {line.number: line for line in hit.region.lines()}
    spans = {hit.line: hit.span}
    weight = next((r.weight for r in records_at.strengtheners(hit) if r.weight != "hint"), hit.weight)
    return Observation(
        kind=hit.signature,
        cause=hit.cause,
        weight=weight,
        source=scan.source.name,
        line=hit.line,
        last_line=hit.lines[-1].number,
        proofs=tuple(_proof(scan, line, hit.signature, weight, neighbours, spans) for line in lines.values()),
        fields=fields,
        count=hit.count,
        stamp=stamp,
        ends="process" if weight != hit.weight else "nothing" if hit.ends == "later" else hit.ends,
        scope=hit.scope,
        reads_another=hit.ends == "later",
        occurrences=_occurrences(hit, records_at, scan.source.label) if hit.count > 1 and lent else (),
        told_to=max((r.told_to for r in records_at.lenders_at(hit.line) if r.quote[0].number == hit.line), default=0),
    )


def _is_above_message(hit: Hit, record: Record) -> bool:
    """Is the hit a frame, or the statement that it quotes, above an exception that has words of its own, which say more?"""
    speaks = "exc_message" in record.fields and record.weight != "hint"
    return speaks and record.quote[0].number > hit.line and unlabelled(hit.text)[:1].isspace()


def _occurrences(hit: Hit, records_at: RecordIndex, label: str) -> tuple[Occurrence, ...]:
    """The lines of a repeated message, each with the fields of the records around it alone."""
    found: list[Occurrence] = []
    for line in hit.lines:
        lent: dict[str, Value] = {}
        lenders = records_at.lenders_at(line.number)
        for record in lenders:
            lent = completed_fields(lent, record.fields)
        fields = {**lent, **_prefix_fields(parse_prefix(line.text), label), **typed_fields(hit.fields)}
        quoted = tuple(x.number for r in lenders for x in r.quote if x.number != line.number)
        found.append(Occurrence(line.number, quoted, fields))
    return tuple(found)


def _from_record(scan: Scan, record: Record, hits_at: HitIndex, absorbed: Container[int]) -> Observation:
    inside = hits_at.on(record.spans)
    mine = [h for h in inside if id(h) in absorbed and record.speaks_for(h.cause)]
    quoted = {line.number for line in record.quote}
    more = [h for h in mine if h.line not in quoted and h.cause == record.cause and _contains_line(record, h.line)]
    extra = sorted(more, key=lambda h: WORTH.index(h.weight))[:4]  # hints come last
    neighbours = {line.number: line for h in inside if _contains_line(record, h.line) for line in h.region.lines()}
    fields = dict(record.fields)
    for hit in mine:
        fields = {**typed_fields(hit.fields), **fields}
    spans = {h.line: h.span for h in sorted(inside, key=lambda h: (WORTH.index(h.weight), h.span[0]), reverse=True)}
    stamp, prefix = None, parse_prefix(record.quote[0].text) if record.quote else Prefix("")
    around = sorted(neighbours.values(), key=lambda x: (x.number > record.first, abs(x.number - record.first)))
    for line in (*record.quote, *around):  # a traceback has no stamp: it takes that of the line before it
        stamp = stamp or parse_prefix(line.text).stamp
    return Observation(
        kind=record.kind,
        cause=record.cause,
        weight=record.weight,
        source=scan.source.name,
        line=record.first,
        last_line=max(last for _, last in record.spans),
        proofs=(
            *(_proof(scan, line, record.kind, record.weight, neighbours, spans) for line in record.quote),
            *(
                # a hint, such as a frame of the kernel's stack, proves nothing beside the lines that the reader chose
                _proof(
                    scan, Line(h.line, h.text), record.kind, "hint" if h.weight == "hint" else record.weight, neighbours, spans
                )
                for h in extra
            ),
        ),
        fields={**_prefix_fields(prefix, scan.source.label), **fields},
        count=record.count,
        stamp=stamp,
        told_to=record.told_to,
    )


def _proof(
    scan: Scan, line: Line, signature: str, weight: str, neighbours: Mapping[int, Line], spans: Mapping[int, tuple[int, int]]
) -> Proof:
    """One quoted line with its context. `spans`: for each line number, where the message is in the text."""
    near = range(1, QUOTED_CONTEXT_LINES + 1)
    first, last = spans.get(line.number, (0, 0)) if len(line.text) > READ_WHOLE else (0, 0)
    after = tuple(neighbours[line.number + i] for i in near if line.number + i in neighbours)
    return Proof(
        source=scan.source.name,
        line=line.number,
        text=line.text,
        signature=signature,
        weight=weight,  # type: ignore[arg-type]
        before=tuple(neighbours[line.number - i] for i in reversed(near) if line.number - i in neighbours),
        after=after,
        continued=continued_lines(line, after),
        matched=line.text[first : min(last, first + MAX_MATCHED_CHARS)],
    )


def _placed(hit: Hit) -> tuple[Prefix, Stamp | None]:
    """The prefix of a hit's line, and its time stamp, or that of the nearest line before it that has one."""
    prefix = parse_prefix(hit.text)
    if prefix.stamp:
        return prefix, prefix.stamp
    for line in reversed(hit.region.lines_before()):
        stamp = parse_prefix(line.text).stamp
        if stamp:
            return prefix, replace(stamp, resolution_s=max(stamp.resolution_s, 1.0))
    return prefix, None


def _prefix_fields(prefix: Prefix, label: str) -> dict[str, Value]:
    """What the prefix of a line tells, and what the `label` of all lines of its source tells."""
    of_all = label_prefix(label)
    found = {"host": prefix.host or of_all.host, "rank": prefix.rank if prefix.rank is not None else of_all.rank}
    return {k: v for k, v in found.items() if v is not None}

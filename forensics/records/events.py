"""Hits and records of one source to Events: noise silenced, hits inside records given to them, each with its stamp."""

from collections.abc import Iterable
from dataclasses import replace

from forensics.database import HEALTHY
from forensics.layouts import peel
from forensics.model import Event, Hit, Line, Prefix, Proof, Scan, Stamp, Value
from forensics.records.base import Record
from forensics.records.units import typed

CONTEXT_LINES = 2


def to_events(scan: Scan, records: list[Record]) -> list[Event]:
    """Events in order of line; every hit and record ends in exactly one, or is silenced, or absorbed by a record."""
    hits = _without_noise(scan.hits)
    noisy = {line.number for h in hits if h.cause == HEALTHY for line in h.lines}
    events = [_from_hit(scan, hit, records) for hit in hits if not any(_absorbs(r, hit) for r in records)]
    for record in records:
        if record.lends and (noisy & {line.number for line in record.quote[:1]} or _named(record, hits)):
            continue
        events.append(_from_record(scan, record, hits))
    return sorted(events, key=lambda e: (e.line, e.kind))


def _without_noise(hits: Iterable[Hit]) -> list[Hit]:
    hits = list(hits)
    noise: dict[int, list[tuple[int, int]]] = {}
    for hit in hits:
        if hit.cause == HEALTHY:
            noise.setdefault(hit.line, []).append(hit.span)
    return [h for h in hits if h.cause == HEALTHY or not any(a < h.span[1] and h.span[0] < b for a, b in noise.get(h.line, ()))]


def _within(record: Record, hit: Hit) -> bool:
    """Does the record hold every line of the hit that is known?"""
    return all(record.first <= line.number <= record.last for line in hit.lines)


def _touches(record: Record, hit: Hit) -> bool:
    return any(record.first <= line.number <= record.last for line in hit.lines)


def _absorbs(record: Record, hit: Hit) -> bool:
    """A record speaks for the hits inside it that say the same thing, or that it is there to decide between."""
    if not _within(record, hit):
        return False
    family = hit.cause.split(".")[0] + ".*"
    return hit.cause in record.decides or family in record.decides or (record.lends and hit.cause == record.cause)


def _named(record: Record, hits: list[Hit]) -> bool:
    """Does a signature know the exception of this traceback, so that the traceback itself has nothing to add?"""
    at = record.quote[0].number
    return any(at <= x.number <= record.last for h in hits if h.cause not in (record.cause, HEALTHY) for x in h.lines)


def _from_hit(scan: Scan, hit: Hit, records: list[Record]) -> Event:
    prefix, stamp = _placed(hit)
    fields: dict[str, Value] = {**_prefix_fields(prefix), **typed(hit.fields)}
    lines = [Line(hit.line, hit.text)]
    for record in records:
        if record.lends and _touches(record, hit):
            fields = {**record.fields, **fields}
            lines += [line for line in record.quote if line.number != hit.line]
    lines += [line for line in hit.also if line.number not in {x.number for x in lines}]
    neighbours = {line.number: line for line in hit.region.lines()}
    return Event(
        kind=hit.signature,
        cause=hit.cause,
        weight=hit.weight,
        source=scan.source.name,
        line=hit.line,
        last_line=hit.lines[-1].number,
        proofs=tuple(_proof(scan, line, hit.signature, hit.weight, neighbours) for line in lines),
        fields=fields,
        count=hit.count,
        stamp=stamp,
    )


def _from_record(scan: Scan, record: Record, hits: list[Hit]) -> Event:
    inside = [h for h in hits if _within(record, h)]
    quoted = {line.number for line in record.quote}
    extra = [Line(h.line, h.text) for h in inside if h.line not in quoted and _absorbs(record, h) and h.cause == record.cause]
    neighbours = {line.number: line for h in inside for line in h.region.lines()}
    fields = dict(record.fields)
    for hit in inside:
        if _absorbs(record, hit):
            fields = {**typed(hit.fields), **fields}
    stamp, prefix = None, peel(record.quote[0].text) if record.quote else Prefix("")
    for line in (*record.quote, *neighbours.values()):
        stamp = stamp or peel(line.text).stamp
    return Event(
        kind=record.kind,
        cause=record.cause,
        weight=record.weight,
        source=scan.source.name,
        line=record.first,
        last_line=record.last,
        proofs=tuple(_proof(scan, line, record.kind, record.weight, neighbours) for line in (*record.quote, *extra[:4])),
        fields={**_prefix_fields(prefix), **fields},
        stamp=stamp,
    )


def _proof(scan: Scan, line: Line, signature: str, weight: str, neighbours: dict[int, Line]) -> Proof:
    near = range(1, CONTEXT_LINES + 1)
    return Proof(
        source=scan.source.name,
        line=line.number,
        text=line.text,
        signature=signature,
        weight=weight,  # type: ignore[arg-type]
        before=tuple(neighbours[line.number - i] for i in reversed(near) if line.number - i in neighbours),
        after=tuple(neighbours[line.number + i] for i in near if line.number + i in neighbours),
    )


def _placed(hit: Hit) -> tuple[Prefix, Stamp | None]:
    """The prefix of a hit's line, and its stamp or that of the nearest stamped line in front of it."""
    prefix = peel(hit.text)
    if prefix.stamp:
        return prefix, prefix.stamp
    for line in reversed(hit.region.lines_before()):
        stamp = peel(line.text).stamp
        if stamp:
            return prefix, replace(stamp, resolution_s=max(stamp.resolution_s, 1.0))
    return prefix, None


def _prefix_fields(prefix: Prefix) -> dict[str, Value]:
    found: dict[str, Value | None] = {"host": prefix.host, "rank": prefix.rank}
    return {k: v for k, v in found.items() if v is not None}

"""Observations of series, with the lines that show them."""

import datetime
from collections.abc import Iterable, Mapping

from forensics.line_formats import parse_prefix
from forensics.model import Line, Observation, Proof, Scan, Stamp, Value, Weight
from forensics.series.base import Reading, Series


def distinct_lines(readings: Iterable[Reading]) -> list[Line]:
    """The lines of `readings`, each once."""
    return [Line(n, t) for n, t in dict.fromkeys((r.line, r.text) for r in readings)]


def series_observation(
    scan: Scan, kind: str, cause: str | None, weight: Weight, lines: Iterable[Line], fields: Mapping[str, Value], count: int
) -> Observation:
    """An Observation with `lines` as its proofs, the best evidence first. Its timestamp is that of the last line that has one."""
    quoted = list(lines)
    ordered = sorted(quoted, key=lambda x: x.number)
    return Observation(
        kind=f"series/{kind}",
        cause=cause,
        weight=weight,
        source=scan.source.name,
        line=ordered[0].number,
        last_line=ordered[-1].number,
        proofs=tuple(Proof(scan.source.name, x.number, x.text, f"series/{kind}", weight) for x in quoted),
        fields=fields,
        count=count,
        stamp=next((s for x in reversed(ordered) if (s := stamp_of(x.text))), None),
    )


def stamp_of(text: str) -> Stamp | None:
    """The timestamp of a line; None if it has none."""
    return parse_prefix(text).stamp


def seconds_of(text: str) -> float | None:
    """The time of a line in seconds, by its own clock; None if it has no timestamp, or one without a date."""
    stamp = stamp_of(text)
    if stamp is None or stamp.lacks == "date":
        return None if stamp is None else stamp.mono
    return stamp.wall.replace(tzinfo=datetime.UTC).timestamp() if stamp.wall else stamp.mono


def scope_fields(series: Series) -> dict[str, Value]:
    """The scope of a series as fields: `rank 3, gpu 0` -> rank, gpu."""
    pairs = (part.split(" ") for part in series.scope.split(", ") if " " in part)
    named = {"device": "gpu", "cuda": "gpu"}
    return {named.get(k, k): int(v[:18]) for k, v in pairs if k in ("rank", "gpu", "cuda", "device", "pid") and v.isdigit()}

"""Scans and lanes of texts that the tests of this folder make."""

from collections.abc import Sequence

from forensics import outcome
from forensics.database import Database
from forensics.line_formats import parse_prefix
from forensics.model import Line, Observation, Proof, Scan, Source, Weight
from forensics.model.verdicts import Lane


def scan_of(text: str, name: str = "train.log", source_format: str | None = None) -> Scan:
    """What the scanner keeps of a short log."""
    data = text.encode()
    source = Source(name, lambda _warn: iter([data]), format=source_format)
    lines = tuple(Line(i, row) for i, row in enumerate(text.splitlines(), 1))
    return Scan(source, len(data), len(lines), (), {}, lines[:60], lines[-60:], sample=((1, data),))


def seen_at(text: str, number: int, cause: str = "a.cause", weight: Weight = "strong", source: str = "train.log") -> Observation:
    """An observation on line `number` of `text`."""
    line = text.splitlines()[number - 1]
    proof = Proof(source, number, line, f"{cause}/made", weight)
    return Observation(f"{cause}/made", cause, weight, source, number, number, (proof,), stamp=parse_prefix(line).stamp)


def lanes_of(
    text: str, knowledge: Database, observations: Sequence[Observation] = (), layout: str = "", source_format: str | None = None
) -> dict[str, Lane]:
    """The lanes of `text` by the name of their entity: `rank 3`, `unit sshd`, `kernel`, `job train.log`."""
    scan = scan_of(text, source_format=source_format)
    found, _ = outcome.split_lanes(scan, layout, observations, outcome.line_classes(knowledge))
    return {str(lane.entity): lane for lane in found}

"""When the first cause was shown, if the line that shows it has no time: by the lines around it.

Finding(evidence [train.log:2234 "RuntimeError: ... file write failed"])  -> when "between 2025-12-26 16:03:03 and 16:05:47"
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics import correlation
from forensics.model import Finding, Proof

MAX_GAP_S = 60.0  # chosen by hand: between two signs of one trouble; a program that is started again needs about as long


class LogTimes(Struct, frozen=True):
    """What is known of the times in the logs.

    `lines`: gives the lines around a line of evidence, and its index in them. `clocks`: of each source. `dated`: a source tells
    year and date; they are known for all then.
    """

    lines: Callable[[Proof], tuple[Sequence[str], int]]
    clocks: Mapping[str, correlation.Clock]
    dated: bool


def with_moment(found: tuple[Finding, ...], times: LogTimes) -> tuple[Finding, ...]:
    """`found` with the moment of the first finding, in words, if only the lines around its first line tell it."""
    lines = found[0].evidence
    if not lines or (lines[0].time and lines[0].stamped):
        return found
    told = _moment(lines[0], times)
    if told is None or (not told.at and any(p.time and p.stamped and p.source != lines[0].source for p in lines)):
        return found  # another log has the time of the same trouble
    same = [p for p in lines if p.source == lines[0].source and p.weight != "hint" and not p.earlier]
    above = {p.line: p for p in same if p.line < lines[0].line}
    for number in sorted(above, reverse=True):
        earlier = _moment(above[number], times)
        gap = correlation.seconds_between(earlier, told) if earlier else -1.0
        if earlier is None or not 0 <= gap <= MAX_GAP_S:
            break
        told = earlier if gap or not told.at else told
    clock = times.clocks[lines[0].source]
    told = correlation.in_one_zone(told, clock)
    text = correlation.moment_text(correlation.completed(told, clock) if times.dated else told)
    return (replace(found[0], when=text), *found[1:])


def _moment(proof: Proof, times: LogTimes) -> correlation.Moment | None:
    (lines, at), clock = times.lines(proof), times.clocks.get(proof.source)
    if clock is None or not lines:
        return None
    return correlation.moment_of([*reversed(lines)], len(lines) - 1 - at) if clock.backwards else correlation.moment_of(lines, at)

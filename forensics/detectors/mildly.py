"""Tracebacks that a program told mildly: behind a warning, by what catches everything, in a thread that it does without.

    [W 2026-11-21 12:05:15,086] Trial 0 failed with parameters: {'depth': 6} because of ...
    Traceback (most recent call last):

The words in front of a traceback and the lines behind it tell; what an interpreter prints at its end has neither.
"""

from collections.abc import Sequence, Set

from forensics import lazy
from forensics.layouts import peel
from forensics.model import Prefix, Region, Scan
from forensics.detectors.base import Record
from forensics.detectors.calm import tells_way
from forensics.detectors.traceback import CHAIN, THREAD
from forensics.work import AT_WORK, LOGGED, NUMBER, alarmed, shows_work, works_on

WARNING = {"warning", "warn", "w"}
INFORMS = {"info", "i"}
MILD = {*WARNING, *INFORMS, "debug", "d", "trace", "notice"}
# Printed in front of a traceback by what catches everything and goes on.
CATCHERS = lazy.regex(
    r"Exception (?:in ASGI application|occurred during processing of request)|^--- Logging error ---|"
    r"\bfits? failed with the following error:|\bTrial \d+ failed with parameters|\bException in callback |"
    r"\bError fetching version info\b|\bERROR Executor: Exception in task |\bWARN TaskSetManager: Lost task "
)
REMOTE = lazy.regex(r"^\"\"\"|_RemoteTraceback:")  # in front of a traceback that came from another process
LATER = 8  # lines of kinds seen before, behind the end of a thread


def mild_spans(scan: Scan, records: Sequence[Record]) -> list[tuple[int, int]]:
    """First and last line of each traceback that was told by a program that went on."""
    regions = {r.number: r for r in scan.regions.get("traceback", ())}
    found: list[tuple[int, int]] = []
    chained = False  # does the one before count, and may the next hang on it?
    for first, last in sorted(s for r in records if r.kind == "traceback" for s in r.spans if s[0] in regions):
        region = regions[first]
        last = min([last, *(line.number - 1 for line in region.lines_after() if line.number > first and LOGGED.match(line.text))])
        hangs = any(line.text.startswith(CHAIN) for line in region.lines_before())
        chained = (chained and hangs) or _is_mild_span(scan, region, last)
        remote = sum(1 for line in region.lines_before()[-2:] if REMOTE.search(line.text))
        found += [(first - remote, last)] if chained else []
    return found


def _is_mild_span(scan: Scan, region: Region, end: int) -> bool:
    """`region`: of the traceback; `end`: its last line."""
    if CATCHERS.search(region.text):
        return True
    lines = [line for line in region.lines_before() if line.text.strip() and not REMOTE.search(line.text)][-2:]
    if any(CATCHERS.search(line.text) for line in lines):
        return True
    if any(THREAD in line.text for line in lines):
        later = [peel(line.text) for line in scan.tail if line.number > end]
        known = sum(bool(p.stamp and shape(p) in shapes(scan, lines[0].number)) for p in later)
        return known >= LATER or _goes_on_without(scan, end)
    after = next((peel(line.text) for line in region.lines_after() if line.number > end and line.text.strip()), None)
    around = bool(lines) and tells_way(lines[-1].text)
    if around and (after is not None or alarmed(lines[-1].text)):  # else it may tell how the run began
        return True
    if lines and LOGGED.match(lines[-1].text) and _goes_on_without(scan, end):
        return True
    warned = bool(lines) and is_mild(peel(lines[-1].text), WARNING)
    return warned and after is not None and is_mild(after) and not alarmed(after.message)


def is_mild(prefix: Prefix, levels: Set[str] = MILD) -> bool:
    """Is it a record of one of `levels`?"""
    return prefix.stamp is not None and (prefix.level or "").lower() in levels


def _goes_on_without(scan: Scan, end: int) -> bool:
    """Does the program go on with stamped figures behind the end of a thread, unlike one whose output was held back?"""
    later = [line.text for line in scan.tail if line.number > end]
    return works_on(later) and sum(bool(LOGGED.match(x) or peel(x).stamp) for x in later if shows_work(x)) >= AT_WORK


def shapes(scan: Scan, line: int) -> set[tuple[str | None, str | None, str]]:
    """The kinds of lines in front of `line`, as far as the ends of the source show them."""
    return {shape(peel(known.text)) for known in (*scan.head, *scan.tail) if known.number < line}


def shape(prefix: Prefix) -> tuple[str | None, str | None, str]:
    """What lines of one kind have in common: who says it at which level, and its words up to the second number."""
    return prefix.program, prefix.level, "#".join(NUMBER.sub("\x00", prefix.message).split("\x00")[:2])

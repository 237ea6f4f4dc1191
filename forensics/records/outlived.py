"""Failures that a program told and outlived count as hints: they prove nothing about its end.

    [W 2026-11-21 12:05:15,086] Trial 0 failed with parameters: {'depth': 6} because of ...
    Traceback (most recent call last):
    ...
    [I 2026-11-21 12:05:15,090] Trial 1 finished with value: 3.0

Four things tell it: a record of level warning or lower says it itself; a traceback stands between a warning and a further record
without alarm; the line in front names a way around it, or is one that only a program which goes on prints; or the log ends as it
began, with stamped lines of a kind that stood in front of the failure, too, or with progress bars that move on. Where the log
shows the program at work at its end and nothing louder is in it, such a failure is the noise of a run that lives. What a kernel,
a launcher or a scheduler tells is not weighed here: those outlive every job.
"""

from collections.abc import Sequence, Set

from msgspec.structs import replace

from forensics import lazy
from forensics.database import HEALTHY
from forensics.layouts import peel
from forensics.model import Event, Prefix, Region, Scan
from forensics.records.base import Record
from forensics.records.traceback import CHAIN
from forensics.work import ALARM, AT_WORK, BAR, GOES_ON, shows_work, works_on

FAMILIES = ("code.", "data.", "numerics.nan", "host_memory.alloc_refused", "gpu_memory.capacity")
# A hint of these says no more than that something was tried in vain.
TRIED = ("distributed.network", "distributed.rendezvous", "storage.full", "storage.network_fs", "process.fork_threads")
# A value that is not finite, or memory that ran out, is itself told as a warning by programs that then end of it.
NOT_BY_LEVEL = ("numerics.nan", "gpu_memory.capacity")
WARNING = {"warning", "warn", "w"}
MILD = {*WARNING, "info", "i", "debug", "d", "trace", "notice"}
# Printed in front of a traceback by what catches everything and goes on.
CATCHERS = lazy.regex(
    r"Exception (?:in ASGI application|occurred during processing of request)|^--- Logging error ---|"
    r"\bfits? failed with the following error:|\bTrial \d+ failed with parameters|\bException in callback |"
    r"\bError fetching version info\b"
)
REMOTE = lazy.regex(r"^\"\"\"|_RemoteTraceback:")  # in front of a traceback that came from another process
THREAD = "Exception in thread "  # ends that thread; the program shows whether it can do without
LATER = 8  # lines of kinds seen before, behind the end of a thread
SUBTASKS = ("code.exception/job_script_failed",)  # its pipeline may do without
THREADS = ("process.worker_died/augmenter",)  # of other causes, told by a thread
LAST = 3  # lines at the end that must be of kinds seen before
MOVES = 3  # counts of a bar: one alone is drawn while a program ends
NUMBER = lazy.regex(r"[-+]?\d[\d.,:eE+-]*")
FRAME = lazy.regex(r"\bFile \"|\.py:\d+\b|^\s{2,}\w[\w.]{0,60}(?:\(| = )|^\s*\^+\s*$")
RAISED = lazy.regex(r"\b[A-Za-z]\w*(?:Error|Exception)(?:: |\s*$)")
QUIET = 2  # lines with numbers behind a hint


def outlived(scan: Scan, events: Sequence[Event], records: Sequence[Record]) -> list[Event]:
    """`events`, those that the program of this source told and outlived as hints."""
    spans = _mild_spans(scan, records) if any(_concerned(e) for e in events) else []
    told = [replace(e, weight="hint") if _concerned(e) and _is_outlived(scan, e, spans) else e for e in events]
    if any(e.weight != "hint" and e.cause != HEALTHY for e in told):
        return told
    return [replace(e, cause=HEALTHY) if _may_be_noise(e) and _lives(scan, e, spans) else e for e in told]


def _may_be_noise(event: Event) -> bool:
    return str(event.cause).startswith((*FAMILIES, *TRIED)) or event.kind in THREADS


def _concerned(event: Event) -> bool:
    return event.weight != "hint" and (str(event.cause).startswith(FAMILIES) or event.kind in THREADS)


def _is_outlived(scan: Scan, event: Event, spans: Sequence[tuple[int, int]]) -> bool:
    return _told_mildly(event, spans) or _went_on(scan, event) or _bars_on(scan, event)


def _lives(scan: Scan, event: Event, spans: Sequence[tuple[int, int]]) -> bool:
    """Is the program at work at the end of its log, behind `event`, a hint?"""
    if _went_on(scan, event) or _bars_on(scan, event) or _works_on(scan, event):
        return True
    return (_may_be_a_warning(event) or _told_mildly(event, spans)) and _quiet_behind(scan, event)


def _mild_spans(scan: Scan, records: Sequence[Record]) -> list[tuple[int, int]]:
    """First and last line of each traceback that was told by a program that went on."""
    regions = {r.number: r for r in scan.regions.get("traceback", ())}
    found: list[tuple[int, int]] = []
    chained = False  # does the one before count, and may the next hang on it?
    for first, last in sorted(s for r in records if r.kind == "traceback" for s in r.spans if s[0] in regions):
        region = regions[first]
        hangs = any(line.text.startswith(CHAIN) for line in region.lines_before())
        chained = (chained and hangs) or _is_mild_span(scan, region, last)
        remote = sum(1 for line in region.lines_before()[-2:] if REMOTE.search(line.text))
        found += [(first - remote, last)] if chained else []
    return found


def _is_mild_span(scan: Scan, region: Region, end: int) -> bool:
    """`region`: of the traceback; `end`: its last line."""
    lines = [line for line in region.lines_before() if line.text.strip() and not REMOTE.search(line.text)][-2:]
    if any(CATCHERS.search(line.text) for line in lines):
        return True
    if any(THREAD in line.text for line in lines):
        later = [peel(line.text) for line in scan.tail if line.number > end]
        known = sum(bool(p.stamp and _shape(p) in _shapes(scan, lines[0].number)) for p in later)
        return known >= LATER or _goes_on_without(scan, end)
    after = next((peel(line.text) for line in region.lines_after() if line.number > end and line.text.strip()), None)
    around = bool(lines) and GOES_ON.search(lines[-1].text) is not None
    if around and (after is not None or ALARM.search(lines[-1].text)):  # else it may tell how the run began
        return True
    warned = bool(lines) and _is_mild(peel(lines[-1].text), WARNING)
    return warned and after is not None and _is_mild(after) and not ALARM.search(after.message)


def _is_mild(prefix: Prefix, levels: Set[str] = MILD) -> bool:
    return prefix.stamp is not None and (prefix.level or "").lower() in levels


def _told_mildly(event: Event, spans: Sequence[tuple[int, int]]) -> bool:
    by_level = not str(event.cause).startswith(NOT_BY_LEVEL)

    def mild(line: int, text: str) -> bool:
        if any(first <= line <= last for first, last in spans) or CATCHERS.search(text):
            return True
        return by_level and bool(GOES_ON.search(text) or _is_mild(peel(text)))

    return bool(event.proofs) and all(mild(p.line, p.text) for p in event.proofs)


def _went_on(scan: Scan, event: Event) -> bool:
    """Are the last lines of the source stamped, unalarmed, and of kinds that stood in front of `event`?"""
    last = [line for line in scan.tail if line.text.strip()][-LAST:]
    if len(last) < LAST or last[0].number <= _end(event):
        return False
    before = _shapes(scan, event.line)
    ends = [peel(line.text) for line in last]
    return all(p.stamp and not ALARM.search(p.message) and _shape(p) in before for p in ends)


def _bars_on(scan: Scan, event: Event) -> bool:
    """Do progress bars move on behind `event`, up to an end without alarm?"""
    later = [line.text for line in scan.tail if line.number > _end(event) and line.text.strip()]
    moves = {found.groups() for text in later for found in BAR.finditer(text)}
    return len(moves) >= MOVES and not any(ALARM.search(text) for text in later)


def _works_on(scan: Scan, event: Event) -> bool:
    """Do the figures of a training at work follow `event`, up to an end without alarm?"""
    return works_on(line.text for line in scan.tail if line.number > _end(event))


def _goes_on_without(scan: Scan, end: int) -> bool:
    """Does the program go on with stamped figures behind the end of a thread, unlike one whose output was held back?"""
    later = [line.text for line in scan.tail if line.number > end]
    return works_on(later) and sum(bool(peel(x).stamp) for x in later if shows_work(x)) >= AT_WORK


def _may_be_a_warning(event: Event) -> bool:
    """Is `event`, a mere hint, none that names an end or an exception?"""
    if event.kind in SUBTASKS:
        return True
    ends = str(event.cause).startswith((*NOT_BY_LEVEL, "code.exception"))
    return not ends and not any(RAISED.search(p.text) for p in event.proofs)


def _quiet_behind(scan: Scan, event: Event) -> bool:
    """Do lines with numbers follow `event`, none of them alarmed or a frame of a stack?"""
    later = [line.text for line in scan.tail if line.number > _end(event) and line.text.strip()]
    if any(ALARM.search(text) or FRAME.search(text) for text in later):
        return False
    return sum(bool(NUMBER.search(text)) for text in later) >= QUIET


def _end(event: Event) -> int:
    """The last line of `event`; of one traceback that of its exception, as what follows may or may not be its message."""
    if event.kind == "traceback" and event.count == 1 and event.proofs:
        return max(event.proofs[0].line, event.line)
    return max(event.last_line, event.line)


def _shapes(scan: Scan, line: int) -> set[tuple[str | None, str | None, str]]:
    """The kinds of lines in front of `line`, as far as the ends of the source show them."""
    return {_shape(peel(known.text)) for known in (*scan.head, *scan.tail) if known.number < line}


def _shape(prefix: Prefix) -> tuple[str | None, str | None, str]:
    """What lines of one kind have in common: who says it at which level, and its words up to the second number."""
    return prefix.program, prefix.level, "#".join(NUMBER.sub("\x00", prefix.message).split("\x00")[:2])

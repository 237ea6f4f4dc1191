"""Failures that a program told and outlived count as hints: they prove nothing about its end.

    [W 2026-11-21 12:05:15,086] Trial 0 failed with parameters: {'depth': 6} because of ...
    Traceback (most recent call last):
    ...
    [I 2026-11-21 12:05:15,090] Trial 1 finished with value: 3.0

Six things tell it: a record of level warning or lower says it itself; a traceback stands between a warning and a further record
without alarm; the line in front names a way around it, or is one that only a program which goes on prints; or the log ends as it
began, with stamped lines of a kind that stood in front of the failure, too, with progress bars that move on, or with figures
of the very form that they had in front of it; or the lines behind it tell that the task is tried again; or a script's shell
could not run one command, and what it ran next works at the end. Where the log shows the program at work at its end and nothing
louder is in it, such a failure is the noise of a run that lives. What a kernel, a launcher or a scheduler tells is not weighed
here: those outlive every job.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from forensics import lazy
from forensics.database import HEALTHY
from forensics.layouts import peel
from forensics.model import Observation, Scan
from forensics.detectors.base import Record
from forensics.detectors.calm import FRAME, RAISED, end_of, is_calm, is_caught, is_finite_again, left_behind, tells_way
from forensics.detectors.mildly import CATCHERS, INFORMS, is_mild, mild_spans, shape, shapes
from forensics.work import AT_WORK, BAR, NUMBER, WARNED, alarmed, finds_way, shows_work, works_on

FAMILIES = ("code.", "data.", "numerics.nan", "host_memory.alloc_refused", "gpu_memory.capacity")
# What ends a process of a run, or a task of it, that is then started again.
STARTED_AGAIN = ("distributed.", "process.worker_died", "storage.network_fs")
# A hint of these says no more than that something was tried in vain.
TRIED = (
    *("distributed.network", "distributed.rendezvous", "storage.full", "storage.network_fs", "process.fork_threads"),
    *("gpu_program.library", "gpu_driver.unavailable"),  # it computes without
)
TRACED = "Traceback ("
FALLBACKS = ("gpu_driver.unavailable", "gpu_program.library")
# A value that is not finite, or memory that ran out, is itself told as a warning by programs that then end of it.
NOT_BY_LEVEL = ("numerics.nan", "gpu_memory.capacity")
WARNING_LINES = 12  # of one in Python, with its code
INFORMED = lazy.regex(r"[\w.]{1,60} INFO\b")  # the level behind the logger's name
BARE_WARNING = lazy.regex(r"\W{0,3}(?:WARN(?:ING)?|INFO|DEBUG)\b ?[:\]|]")
SUBTASKS = ("code.exception/job_script_failed",)  # its pipeline may do without
THREADS = ("process.worker_died/augmenter",)  # of other causes, told by a thread
PYTHON = "/python_"  # in the names of exceptions of a program's own
NOTE = 3  # lines behind a failure that may tell that it is tried again
LAST = 3  # lines at the end that must be of kinds seen before
MOVES = 3  # counts of a bar: one alone is drawn while a program ends
SHELL = lazy.regex(r":? line \d{1,6}: .{1,200}: (?:command )?not found\s*$")
HELD_BACK = 16384  # characters: two blocks of standard output to a file
ANEW = lazy.regex(
    r"(?i)\b(?:re-?(?:sum|start|stor|load)(?:ed|ing)|(?:load|start)(?:ed|ing) (?:from )?(?:the )?(?:last |latest )?"
    r"(?:checkpoint|snapshot|again|over)|try(?:ing)? again)\b"
)
QUIET = 2  # lines with numbers behind a hint


def outlived(scan: Scan, events: Sequence[Observation], records: Sequence[Record]) -> list[Observation]:
    """`events`, those that the program of this source told and outlived as hints."""
    spans = mild_spans(scan, records) if any(_concerned(e) or _may_be_noise(e) for e in events) else []
    ends = {line.number: line.text for line in (*scan.head, *scan.tail)} if spans or any(map(_may_be_noise, events)) else {}
    calm = bool(ends) and is_calm(scan, events, ends)
    work = calm and is_calm(scan, events, ends, shows_work)
    traced = [s for r in records if r.kind == "traceback" for s in r.spans]
    over = [e for e in events if (work if _is_anothers(e) else calm)]
    told = [
        replace(e, weight="hint")
        if _concerned(e) and (e in over or _is_outlived(scan, e, spans) or (_may_be_caught(e) and is_caught(e, ends, traced)))
        else e
        for e in events
    ]
    told = left_behind(told, ends, FAMILIES)
    if any(e.weight != "hint" and e.cause != HEALTHY for e in told):
        return told
    for _ in range(2):  # what is over is noise behind what came before it
        told = [
            replace(t, cause=HEALTHY) if _may_be_noise(t) and (e in over or _lives(scan, t, spans)) else t
            for e, t in zip(events, told, strict=True)
        ]
        spans = [*spans, *((p.line, p.line) for t in told if t.cause == HEALTHY for p in t.proofs)]
    return told


def _is_anothers(event: Observation) -> bool:
    """Is `event` told by a library, a launcher or a service, which go on talking when the program is gone?"""
    return (
        str(event.cause).startswith(("distributed.", *STARTED_AGAIN)) and event.kind not in THREADS and PYTHON not in event.kind
    )


def _may_be_noise(event: Observation) -> bool:
    return str(event.cause).startswith((*FAMILIES, *TRIED, *STARTED_AGAIN)) or event.kind in THREADS or _falls_back(event)


def _concerned(event: Observation) -> bool:
    if event.weight == "hint":
        return False
    return str(event.cause).startswith((*FAMILIES, *STARTED_AGAIN)) or event.kind in THREADS or _falls_back(event)


def _falls_back(event: Observation) -> bool:
    """Does `event` tell in its own words that the program does without a GPU?"""
    return (
        str(event.cause).startswith(FALLBACKS)
        and bool(event.proofs)
        and all(tells_way(p.text) and TRACED not in p.text for p in event.proofs)
    )


def _may_be_caught(event: Observation) -> bool:
    return str(event.cause).startswith(FAMILIES) and not str(event.cause).startswith("numerics.")


def _may_start_again(event: Observation) -> bool:
    return str(event.cause).startswith(STARTED_AGAIN) and event.kind not in THREADS


def _is_outlived(scan: Scan, event: Observation, spans: Sequence[tuple[int, int]]) -> bool:
    if _figures_on(scan, event) or _is_tried_again(scan, event) or _shell_went_on(scan, event):
        return True
    if _may_start_again(event):
        return False
    return _told_mildly(event, spans) or any(on(scan, event) for on in (_went_on, _bars_on, _logs_on))


def _lives(scan: Scan, event: Observation, spans: Sequence[tuple[int, int]]) -> bool:
    """Is the program at work at the end of its log, behind `event`, a hint?"""
    if _may_start_again(event) and not str(event.cause).startswith(TRIED):
        over = _is_tried_again(scan, event) or _told_mildly(event, spans)
        return _figures_on(scan, event) or (over and _works_on(scan, event))
    if event.cause == "numerics.nan" and is_finite_again(event, {line.number: line.text for line in scan.tail}):
        return True
    if any(on(scan, event) for on in (_figures_on, _went_on, _bars_on, _logs_on, _works_on, _shell_went_on)):
        return True
    return (_may_be_a_warning(event) or _told_mildly(event, spans)) and _quiet_behind(scan, event, spans)


def _told_mildly(event: Observation, spans: Sequence[tuple[int, int]]) -> bool:
    by_level = not str(event.cause).startswith(NOT_BY_LEVEL)

    def mild(line: int, text: str) -> bool:
        if any(first <= line <= last for first, last in spans) or CATCHERS.search(text):
            return True
        return tells_way(text) or (by_level and bool(BARE_WARNING.match(text) or is_mild(peel(text))))

    return bool(event.proofs) and all(mild(p.line, p.text) for p in event.proofs)


def _logs_on(scan: Scan, event: Observation) -> bool:
    """Is `event` told in stamped records of the program, which then stamps figures of its work, up to an end without alarm?

    What one program stamps comes in order, unlike what it prints on two streams.
    """
    if str(event.cause).startswith("numerics.") or event.kind == "traceback" or not event.proofs:
        return False
    told = [peel(p.text) for p in event.proofs]
    later = _behind(scan, event)
    loud = [i for i, text in enumerate(later) if alarmed(text)]
    if not all(p.stamp and p.level for p in (*told, *(peel(later[i]) for i in loud))):
        return False
    after = [peel(text) for text in later[max(loud, default=-1) + 1 :] if shows_work(text)]
    return sum(bool(p.stamp and p.level and p.program == told[-1].program) for p in after) >= AT_WORK


def _went_on(scan: Scan, event: Observation) -> bool:
    """Are the last lines of the source stamped, unalarmed, and of kinds that stood in front of `event`? One that tells for
    information that the program ends may stand behind them."""
    last = [line for line in scan.tail if line.text.strip()]
    if last and (is_mild(end := peel(last[-1].text), INFORMS) or INFORMED.match(end.message)) and alarmed(end.message):
        last.pop()
    last = last[-LAST:]
    if len(last) < LAST or last[0].number <= end_of(event):
        return False
    before = shapes(scan, event.line)
    ends = [peel(line.text) for line in last]
    return all(p.stamp and not alarmed(p.message) and shape(p) in before for p in ends)


def _bars_on(scan: Scan, event: Observation) -> bool:
    """Do progress bars move on behind `event`, up to an end without alarm?"""
    later = _behind(scan, event)
    moves = {found.groups() for text in later for found in BAR.finditer(text)}
    return len(moves) >= MOVES and not any(map(alarmed, later))


def _figures_on(scan: Scan, event: Observation) -> bool:
    """Do figures of the very form that they had in front of `event` follow it, up to an end without alarm, behind a word of a new
    start, or more of them than a program holds back until its end? What else failed between the two was overcome as well.
    """
    if str(event.cause).startswith("numerics."):
        return False
    before = [line.text for line in (*scan.head, *scan.tail) if line.number < event.line and shows_work(line.text)]
    if not before:
        return False
    later = _behind(scan, event)
    last = max((i for i, text in enumerate(later) if alarmed(text) or FRAME.search(text)), default=-1)
    forms = [NUMBER.sub("#", text).strip() for text in (*before[-1:], *later[last + 1 :])]
    if forms.count(forms[0]) <= AT_WORK:
        return False
    return sum(map(len, later[last + 1 :])) > HELD_BACK or any(ANEW.search(text) for text in later)


def _is_tried_again(scan: Scan, event: Observation) -> bool:
    """Do the lines right behind `event` tell that what failed is tried again, and does the log go on behind them?"""
    later = [line.text for line in scan.tail if line.number > end_of(event) and line.text.strip()]
    return any(map(finds_way, later[: min(NOTE, len(later) - 1)]))


def _behind(scan: Scan, event: Observation, spans: Sequence[tuple[int, int]] = ()) -> list[str]:
    """The lines behind `event`, as far as the ends show them, without noise, what tells its way around and further `spans`."""
    noise = {line.number for h in scan.hits if h.cause == HEALTHY and h.weight == "hint" for line in h.lines}
    warned = {n for line in scan.tail if WARNED.match(line.text) for n in range(line.number, line.number + WARNING_LINES)}
    noise |= {line.number for line in scan.tail if line.number in warned and (line.text[:2] == "  " or WARNED.match(line.text))}
    later = [line for line in scan.tail if line.number > end_of(event) and line.number not in noise]
    later = [line for line in later if not any(end_of(event) < first <= line.number <= last for first, last in spans)]
    return [line.text for line in later if line.text.strip() and not tells_way(line.text) and not CATCHERS.search(line.text)]


def _shell_went_on(scan: Scan, event: Observation) -> bool:
    """Could a script's shell not run a command, and do figures of what it ran next stand at the end, behind all alarms?

    A shell runs one command after the other: those figures are of a program that began later.
    """
    if not event.proofs or not all(SHELL.search(p.text) for p in event.proofs):
        return False
    later = _behind(scan, event)
    last = max((i for i, text in enumerate(later) if alarmed(text) or FRAME.search(text)), default=-1)
    return sum(map(shows_work, later[last + 1 :])) >= AT_WORK


def _works_on(scan: Scan, event: Observation) -> bool:
    """Do the figures of a training at work follow `event`, up to an end without alarm?"""
    return works_on(_behind(scan, event))


def _may_be_a_warning(event: Observation) -> bool:
    """Is `event`, a mere hint, none that names an end or an exception?"""
    if event.kind in SUBTASKS:
        return True
    ends = str(event.cause).startswith((*NOT_BY_LEVEL, "code.exception"))
    return not ends and not any(RAISED.search(p.text) for p in event.proofs)


def _quiet_behind(scan: Scan, event: Observation, spans: Sequence[tuple[int, int]]) -> bool:
    """Do lines with numbers follow `event`, none of them alarmed or a frame of a stack, but for what was told as mildly?"""
    later = _behind(scan, event, spans)
    if any(alarmed(text) or FRAME.search(text) for text in later):
        return False
    return sum(bool(NUMBER.search(text)) for text in later) >= QUIET

"""Is it shown that a death which only the host's log tells is the job's own?

    dmesg:   12:26:46 Memory cgroup out of memory: Killed process 23278 (python)
    job.log: 12:27:16 INFO train: step 0 ... KeyError: 'label'            -> not shown: it began half a minute later

Shown it is by the pid, container or job's step that the job's log has, too; by a consequence that the job's log tells soon after
that moment, or without any time; or where that log breaks off then, unless it calls its program by another pid. A log of another
day is of another job. What nothing shows may be the cause, for somebody put these logs side by side, but nobody should be told so
with confidence.
"""

from collections.abc import Sequence
from datetime import timedelta

from forensics import lazy
from forensics.database import HEALTHY, Database
from forensics.diagnose.pids import CRASHES, is_strange
from forensics.diagnose.relevance import (
    DAY,
    ENDINGS,
    EXCEPTION,
    MISSES,
    NEAR_S,
    SLACK_S,
    SLOW_S,
    SOON_S,
    Jobs,
    is_own,
    missed,
    of_given_job,
    raised,
)
from forensics.model import Observation

MISTAKES = {
    "AssertionError", "AttributeError", "FloatingPointError", "IndentationError", "IndexError", "JSONDecodeError", "KeyError",
    "NameError", "NotImplementedError", "OverflowError", "RecursionError", "SyntaxError", "TypeError", "UnboundLocalError",
    "UnicodeDecodeError", "UnicodeEncodeError", "ZeroDivisionError",
}  # fmt: skip
OTHERS = lazy.regex(  # what a message says that tells of another process's end
    r"(?i)\b(?:connect\w*|peers?|remote\w*|workers?|child\w*|process\w*|ranks?|closed|reset|broken|lost|died|dead|exit\w*|"
    r"kill\w*|signal\w*|terminat\w*|abort\w*|tim(?:ed|e) ?out|truncated|unpickl\w*|NCCL|socket|unreachable)\b"
)
MADE_HERE = ("code.", "data.", "numerics.", "storage.")
ELSEWHERE = "data.download"
STOPPED = "stopped."
TIMED_OUT = "stopped.time_limit/timeout_command"
UP_S = 3.0  # a job that hangs of a death is ended by its time limit later than this
STAMPED = lazy.regex(r".{0,40}\b\d\d:\d\d:\d\d\b")
SECONDS = lazy.regex(r"\d{1,9}(?:\.\d{1,9})?")
SHELLS = {"bash", "sh", "dash", "zsh", "tini", "sleep", "pause", "sudo", "su"}
FAR = 20  # lines: a program that tells so much before it ends well got over what came before
NOTEBOOK = ".ipynb"  # keeps what its cells printed: it neither ends well nor breaks off
WAITS = "distributed."  # peers wait for long before they give a lost one up
LOST_ONE = ("notebook.kernel_died", "process.worker_died/process_pool", "process.worker_died/loky")  # causes and kinds: one died


def tied(told: Sequence[Observation], events: Sequence[Observation], jobs: Jobs, database: Database) -> bool:
    """Is one of `told`, the events of one cause, shown to concern the job? True where no other process's death is told.

    `events`: of the whole incident.
    """
    if not jobs.ends or not str(told[0].cause).startswith(ENDINGS):
        return True
    own = [e for e in events if jobs.is_job(e) and e.cause is not None]
    others = [e for e in events if not jobs.is_job(e) and str(e.cause).startswith(ENDINGS)]
    strangers = [e for e in told if is_strange(e, jobs.pids)]
    return any(jobs.is_job(e) or _is_tied(e, own, others, jobs, database, _is_piece(e, strangers)) for e in told)


def ended_otherwise(told: Sequence[Observation], events: Sequence[Observation], jobs: Jobs, database: Database) -> bool:
    """Does the job's log name an end of its own that does not follow from `told`, a death that nothing ties to it, or did every
    log of the job end well?"""
    own = [e for e in events if jobs.is_job(e) and e.cause is not None and e.weight != "hint"]
    troubles = [e for e in own if e.cause != HEALTHY and not _is_overcome(e, own)]
    troubles += [e for e in events if jobs.is_job(e) and e.kind == TIMED_OUT and all(_is_too_soon(e, death) for death in told)]
    if not troubles:
        ended = {e.source for e in own}
        silent = [s for s in jobs.ends if s not in ended and not s.endswith(NOTEBOOK)]
        return bool(jobs.ends) and all(_ends_with_another(s, e, own, jobs, database) for s in silent for e in told)
    named = [e for e in troubles if e.cause != EXCEPTION or _is_mistake(e)]
    return any(is_own(e, death, database) or _is_too_soon(e, death) for e in named for death in told)


def _is_overcome(trouble: Observation, own: Sequence[Observation]) -> bool:
    """Does its log go on for long and end well?"""
    good = [e for e in own if e.cause == HEALTHY and e.weight != "hint" and e.source == trouble.source]
    return any(e.line - trouble.last_line > FAR for e in good)


def _is_too_soon(later: Observation, event: Observation) -> bool:
    """Was `later` a time limit, right after the death `event` or before it, or had it been waited for since long before?

    Only where its line tells when it was: one without a stamp may be far later than the line in front of it.
    """
    if later.time is None or event.time is None or not any(STAMPED.match(p.text) for p in later.proofs[:1]):
        return False
    if later.kind == TIMED_OUT:
        return _gap(event, later) < UP_S
    waited = str(later.fields.get("timeout_s", later.fields.get("silent_s", "")))
    return bool(SECONDS.fullmatch(waited)) and _gap(event, later) < float(waited) / 2


def _is_mistake(event: Observation) -> bool:
    """Does `event` tell an exception that a mistake in the code raises, and no death elsewhere?"""
    return event.cause == EXCEPTION and raised(event).rsplit(".", 1)[-1] in MISTAKES


def _misses_nobody(event: Observation) -> bool:
    """Does `event` tell an exception of the program's own, whose message does not speak of another process?"""
    name = raised(event).rsplit(".", 1)[-1]
    spoken = " ".join([str(event.fields.get("exc_message", "")), *(p.text for p in event.proofs)])
    return bool(name) and not name.endswith(MISSES) and not OTHERS.search(spoken)


def _is_piece(event: Observation, strangers: Sequence[Observation]) -> bool:
    """Is `event` one of `strangers`, or a piece without a pid of the report of one?"""
    alike = [s for s in strangers if s.source == event.source and abs(_gap(s, event)) <= SLACK_S]
    return event in strangers or ("pid" not in event.fields and bool(alike))


def _is_tied(event: Observation, own: Sequence[Observation], others: Sequence[Observation], jobs: Jobs, database: Database, strange: bool) -> bool:
    """`strange`: does the job's log call its program by another pid?"""
    if missed(event, own, jobs) or of_given_job(event, jobs) or not _may_tell(event, jobs):
        return True
    felt = [e for e in own if e.cause != HEALTHY and not (strange and _is_bare(e)) and not _is_overcome(e, own)]
    felt = [e for e in felt if not _has_reason(e, own, database) and not _has_ended(e, event, own, database)]
    lost = [e for e in felt if e.cause in LOST_ONE or e.kind in LOST_ONE]
    if lost and all(_is_overtaken(event, e, others) for e in lost):
        return False
    follows = any(_follows(e, event, others, jobs, database) for e in felt)
    return follows or (not strange and _breaks_off(event, own, jobs, database))


def _is_bare(event: Observation) -> bool:
    """Is it the head of a traceback, say, that does not tell which exception it is?"""
    return event.cause == EXCEPTION and not raised(event)


def _has_reason(later: Observation, own: Sequence[Observation], database: Database) -> bool:
    """Does the job tell ahead of `later` why it came to that: a mistake in the code, a disk that is full, a value that is not a
    number, which no death makes?"""

    if _is_bare(later) and any(_is_mistake(e) and e.source == later.source for e in own):
        return True

    def reason(e: Observation) -> bool:
        follows = later.weight == "hint" or database.explains(str(e.cause), str(later.cause))
        made_here = _misses_nobody(e) if e.cause == EXCEPTION else str(e.cause).startswith(MADE_HERE)
        return made_here and (follows or (e.source == later.source and _is_mistake(e)))

    return any(e.weight != "hint" and _is_ahead(e, later) and reason(e) for e in own)


def _has_ended(later: Observation, event: Observation, own: Sequence[Observation], database: Database) -> bool:
    """Does the job itself tell a crash or a wait, none by the death `event`, that `later` follows from?"""
    ends = [e for e in own if e.weight != "hint" and e is not later and e.cause != later.cause]
    ends = [e for e in ends if (e.cause in CRASHES and is_own(e, event, database)) or _is_too_soon(e, event)]
    fallback = later.weight == "hint" and database.causes[str(later.cause)].fallback
    return later.cause not in CRASHES and any(fallback or database.explains(str(e.cause), str(later.cause)) for e in ends)


def _is_ahead(e: Observation, later: Observation) -> bool:
    """Does `e` stand in front of `later` in one log, or in another rank's log at a time that is not known to be later?"""
    return e.last_line < later.line if e.source == later.source else _gap(e, later) >= -SLACK_S


def _may_tell(event: Observation, jobs: Jobs) -> bool:
    """May a log of a job be of the time of `event`? Where all are of other days, none is of the job that died."""
    if event.time is None:
        return True
    for source, end in jobs.ends.items():
        begun = jobs.starts.get(source)
        early, late = begun is not None and event.time < begun - DAY, end is not None and event.time > end + DAY
        if not early and not late:
            return True
    return False


def _follows(later: Observation, event: Observation, others: Sequence[Observation], jobs: Jobs, database: Database) -> bool:
    """Does `later`, of the job's log, tell what follows from the death `event`, as far as their times say?"""
    if not _is_consequence(later, event, database):
        return False
    begun = jobs.starts.get(later.source)
    if event.time is None or later.time is None:
        return event.time is None or begun is None or begun <= event.time + timedelta(seconds=SLACK_S)
    if begun is not None and begun > event.time + timedelta(seconds=SLACK_S + (event.uncertainty_s or 0)):
        return False
    gap = _gap(event, later)
    off = (event.uncertainty_s or 0) + (later.uncertainty_s or 0)
    if not -SOON_S - off <= gap <= (SLOW_S if str(later.cause).startswith(WAITS) else NEAR_S) + off:
        return False
    return not any(abs(_gap(o, later)) <= SOON_S < gap for o in others if o.time and o.cause != event.cause)


def _is_overtaken(event: Observation, later: Observation, others: Sequence[Observation]) -> bool:
    """Did another process die between the death `event` and `later`, that one was missed? Whoever waits for it soon knows.

    Who waits for it is in its group: where the kernel lists several programs in the full group, it is that of the job.
    """
    if _is_of_group(event):
        return False
    off = SLACK_S + (event.uncertainty_s or 0) + (later.uncertainty_s or 0)
    deaths = [o for o in others if o.source == event.source and o.cause != event.cause and o.weight == "proof"]
    soon = [o for o in deaths if o.line > event.last_line and abs(_gap(event, o)) <= SOON_S]
    return any(o.time is None or later.time is None or _gap(o, later) >= -off for o in soon)


def _is_of_group(event: Observation) -> bool:
    """Does the report of a kill list more than one program, other than shells, in the group that was full?"""
    programs = (task.split()[0] for task in str(event.fields.get("biggest", "")).split(", ") if task)
    return "limit_path" in event.fields and sum(p not in SHELLS for p in programs) > 1


def _gap(event: Observation, later: Observation) -> float:
    """Seconds from one to the other, both of known time."""
    return (later.time - event.time).total_seconds() if event.time and later.time else 0.0


def _is_consequence(later: Observation, event: Observation, database: Database) -> bool:
    if later.cause == EXCEPTION:
        return not is_own(later, event, database)
    explained = later.cause == event.cause or database.explains(str(event.cause), str(later.cause))
    return explained and not _is_too_soon(later, event)


def _breaks_off(event: Observation, own: Sequence[Observation], jobs: Jobs, database: Database) -> bool:
    """Does a log of the job that was running at the moment of `event` have its last line then, and tell no end of its own?"""
    if event.time is None:
        return False
    off = event.uncertainty_s or 0
    for source, end in jobs.ends.items():
        begun = jobs.starts.get(source)
        if (
            end is None
            or source.endswith(NOTEBOOK)
            or (begun is not None and begun > event.time + timedelta(seconds=SLACK_S + off))
        ):
            continue
        told = [e for e in own if e.source == source and (e.weight != "hint" or _is_too_soon(e, event))]
        if told and all(_has_reason(e, own, database) for e in told):
            continue
        ended = -NEAR_S - off <= (end - event.time).total_seconds() <= SOON_S + off
        if not told and _ends_with_another(source, event, own, jobs, database):
            continue
        if ended and not any(_is_end(e, event, database) for e in told):
            return True
    return False


def _ends_with_another(source: str, event: Observation, own: Sequence[Observation], jobs: Jobs, database: Database) -> bool:
    """Does another log of the job tell, at the moment of the last line of `source`, a good end or one that is made there, and
    that is none by `event`?"""
    end = jobs.ends[source]
    found = [e for e in own if e.source != source and (e.weight != "hint" or _is_too_soon(e, event))]
    found = [e for e in found if _is_end(e, event, database)]
    found = [e for e in found if not (end and (begun := jobs.starts.get(e.source)) and begun > end)]  # a program that ran next
    ends = [e.time or jobs.ends.get(e.source) for e in found if e.cause == HEALTHY or _is_made_here(e)]
    return end is not None and any(t is not None and -SLACK_S <= (end - t).total_seconds() <= SOON_S for t in ends)


def _is_made_here(event: Observation) -> bool:
    """Is it an end that no other process or host has a part in?"""
    return str(event.cause).startswith((*MADE_HERE, STOPPED)) and event.cause != ELSEWHERE


def _is_end(told: Observation, event: Observation, database: Database) -> bool:
    """Does `told`, of the job's log, tell an end that is none by `event`: another trouble, or that it ended well later?"""
    if told.cause == HEALTHY:
        return told.time is None or event.time is None or told.time >= event.time
    return is_own(told, event, database) or _is_too_soon(told, event)

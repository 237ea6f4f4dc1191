"""Does what the host's log tells concern the job whose log lies beside it?

A kernel log tells of every process of the host: a browser that was killed an hour before a training died of its own error is
no cause of it. An event of the host's log counts less when the job's log says otherwise: no pid and no moment links the two,
and the job died of something it names itself, ended well, or simply went on. So it does when the job that failed had not begun
yet, or when the process that was killed was an earlier attempt: the job's log goes on for more than NEAR_S and names another end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from forensics.database import HEALTHY, Database
from forensics.model import Event

UNRELATED = 0.2
SLACK_S = 2.0  # the kernel stamps a kill, the job its first line, by clocks that are read at different moments
NEAR_S = 60.0  # a killed process is missed by its parent within seconds; a log's last line may be older
SLOW_S = 3600.0  # hardware and the kernel may ail for a while before the job feels it
EXCEPTION = "code.exception"
MISSES = ("BrokenPipeError", "ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "EOFError", "TimeoutError")
ENDINGS = ("host_memory.", "process.")  # what ends one process, at once


@dataclass(frozen=True, slots=True)
class Jobs:
    """What is known of the job's own logs: `ends` maps each such source to the time of its last line, `starts` to that of its
    first, None where unknown.

    Empty when only logs of hosts were given: then everything concerns us.
    """

    ends: Mapping[str, datetime | None]
    starts: Mapping[str, datetime | None] = field(default_factory=dict)

    def is_job(self, event: Event) -> bool:
        """Does the event stand in a log of the job?"""
        return event.source in self.ends


def relevance(event: Event, events: Sequence[Event], jobs: Jobs, database: Database) -> float:
    """1, or UNRELATED for an event of the host's log that does not concern the job. `events`: of the whole incident."""
    if not jobs.ends or jobs.is_job(event) or event.time is None or event.cause in (None, HEALTHY):
        return 1.0
    own = [e for e in events if jobs.is_job(e)]
    ending = str(event.cause).startswith(ENDINGS)
    pid = event.fields.get("pid")
    if pid is not None and any(pid == e.fields.get("pid") for e in own):
        return UNRELATED if ending and _outlived(event, own, database) else 1.0
    if ending and _before_the_job(event, own, jobs, database):
        return UNRELATED
    window = NEAR_S if ending else SLOW_S
    moments = [e.time for e in own if e.time and e.cause != HEALTHY] or [t for t in jobs.ends.values() if t]
    if not moments or any(abs((m - event.time).total_seconds()) <= window for m in moments):
        return 1.0
    return UNRELATED if not own or any(_says_otherwise(e, database) for e in own) else 1.0


def _before_the_job(event: Event, own: Sequence[Event], jobs: Jobs, database: Database) -> bool:
    """Did every log of the job that speaks of trouble begin after `event`, and one of them tell an end that does not follow from it?"""
    loud = [e for e in own if e.weight != "hint" and e.cause is not None]
    starts = [jobs.starts.get(e.source) for e in loud]
    over = (event.time or datetime.min) + timedelta(seconds=(event.uncertainty_s or 0.0) + SLACK_S)
    begun = bool(starts) and all(s is not None and s > over for s in starts)
    return begun and any(_is_own(e, event, database) for e in loud)


def _is_own(end: Event, event: Event, database: Database) -> bool:
    """Is `end` no consequence of the death that `event` tells? An exception is one only where it misses somebody."""
    if end.cause == EXCEPTION:
        return "exc_type" in end.fields and not str(end.fields["exc_type"]).endswith(MISSES)
    return not database.explains(str(event.cause), str(end.cause))


def _outlived(event: Event, own: Sequence[Event], database: Database) -> bool:
    """Does a log that misses the process of `event` go on for long and end by something that does not follow from it?"""
    missed = [e for e in own if e.fields.get("pid") == event.fields.get("pid")]
    return any(
        later.source == e.source
        and later.line > e.line
        and later.time is not None
        and event.time is not None
        and (later.time - event.time).total_seconds() > NEAR_S
        and later.cause != event.cause
        and later.weight != "hint"
        and _is_own(later, event, database)
        for e in missed
        for later in own
    )


def _says_otherwise(event: Event, database: Database) -> bool:
    """Does an event of the job's log name a cause of its own, or tell that it ended well?"""
    if event.weight == "hint" or event.cause is None:
        return False
    return event.cause == HEALTHY or not database.causes[event.cause].fallback

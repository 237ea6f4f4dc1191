"""Does what the host's log tells concern the job whose log lies beside it?

A kernel log tells of every process of the host: a browser that was killed an hour before a training died of its own error is
no cause of it. An event of the host's log counts less when the job's log says otherwise: no pid and no moment links the two,
and the job died of something it names itself, ended well, or simply went on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from forensics.database import HEALTHY, Database
from forensics.model import Event

UNRELATED = 0.2
NEAR_S = 60.0  # a killed process is missed by its parent within seconds; a log's last line may be older
SLOW_S = 3600.0  # hardware and the kernel may ail for a while before the job feels it
ENDINGS = ("host_memory.", "process.")  # what ends one process, at once


@dataclass(frozen=True, slots=True)
class Jobs:
    """What is known of the job's own logs: `ends` maps each such source to the time of its last line, None where unknown.

    Empty when only logs of hosts were given: then everything concerns us.
    """

    ends: Mapping[str, datetime | None]

    def is_job(self, event: Event) -> bool:
        """Does the event stand in a log of the job?"""
        return event.source in self.ends


def relevance(event: Event, events: Sequence[Event], jobs: Jobs, database: Database) -> float:
    """1, or UNRELATED for an event of the host's log that does not concern the job. `events`: of the whole incident."""
    if not jobs.ends or jobs.is_job(event) or event.time is None or event.cause in (None, HEALTHY):
        return 1.0
    own = [e for e in events if jobs.is_job(e)]
    pid = event.fields.get("pid")
    if pid is not None and any(pid == e.fields.get("pid") for e in own):
        return 1.0
    window = NEAR_S if str(event.cause).startswith(ENDINGS) else SLOW_S
    moments = [e.time for e in own if e.time and e.cause != HEALTHY] or [t for t in jobs.ends.values() if t]
    if not moments or any(abs((m - event.time).total_seconds()) <= window for m in moments):
        return 1.0
    return UNRELATED if not own or any(_says_otherwise(e, database) for e in own) else 1.0


def _says_otherwise(event: Event, database: Database) -> bool:
    """Does an event of the job's log name a cause of its own, or tell that it ended well?"""
    if event.weight == "hint" or event.cause is None:
        return False
    return event.cause == HEALTHY or not database.causes[event.cause].fallback

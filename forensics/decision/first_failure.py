"""The error of one process, and what waited for that process behind it.

rank 1   OSError: [Errno 28] No space left on device
rank 0   ten minutes later: Watchdog caught collective operation timeout    -> the full disk is the reason, the timeout followed

rank 1   OSError: [Errno 28] ... while it wrote a summary
rank 0   step 41 / step 42 / Watchdog caught collective operation timeout   -> the ranks worked on: it kept nobody waiting
"""

from collections.abc import Sequence

from forensics.database import Database
from forensics.decision.last_word import MIN_GROWN, all_behind, is_of_earlier_attempt, survived
from forensics.decision.ledger import exchange, first_of
from forensics.model.verdicts import Candidate, Lane, OwnedObservation
from forensics.outcome.tiers import ENDING_STRONG, evidence_tier

FAILED_FIRST = "rule: a process of the job failed on its own, and others waited for it from then on"
FAILED_BEFORE = "rule: a process of the job failed on its own before it"


def failed_process_first(ranked: Sequence[Candidate], lanes: Sequence[Lane], database: Database) -> list[Candidate]:
    """`ranked`; the first error of one process exchanges its probability with that of what waited for it behind."""
    found = list(ranked)
    j = first_of(found)
    if not found or not database.has_trait(found[j].cause, "waits_for_peer"):
        return found
    waited, cause = found[j].owned, found[j].cause
    own = [(o.observation.line, i, o) for i, c in enumerate(found) for o in c.owned if _failed_by_itself(o, cause, database)]
    own = [e for e in own if not any(_went_on_beside(lane, e[2]) for lane in lanes)]
    first = [e for e in own if all_behind(found[j], e[2], database) and not is_of_earlier_attempt([e[2]], waited)]
    if first and all(i != j for _, i, _ in own):
        _, i, error = min(first, key=lambda e: e[:2])
        exchange(found, i, j, (FAILED_FIRST, FAILED_BEFORE), error)
    return found


def _failed_by_itself(o: OwnedObservation, waiting: str, database: Database) -> bool:
    """Is it a strong sign of an end for which others are `waiting`, and which no other process and nobody outside can give: of an
    error, of a death, or of a port that is taken on its host? What its program calls a warning ended nothing."""
    cause = str(o.observation.cause)
    given = database.has_trait(cause, "waits_for_peer") or database.has_trait(cause, "external_stop")
    told = database.explains(cause, waiting) and not given and not o.aftermath.low_severity
    own = told or "listen_error" in o.observation.fields
    return own and o.owner == "mine" and evidence_tier(o, database) <= ENDING_STRONG and not survived(o)


def _went_on_beside(lane: Lane, failed: OwnedObservation) -> bool:
    """Is it another process of the job, which worked on behind `failed`, and so did not wait for it?"""
    behind = [n for n in lane.last_worked if n > failed.observation.last_line]
    return lane is not failed.lane and lane.source == failed.observation.source and len(behind) >= MIN_GROWN

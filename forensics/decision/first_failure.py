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

NO_REASONS = ("waits_for_peer", "external_stop")  # traits of what does not tell why a process left the others
FAILED_FIRST = "rule: a process of the job failed on its own, and others waited for it from then on"
FAILED_BEFORE = "rule: a process of the job failed on its own before it"


def failed_process_first(ranked: Sequence[Candidate], lanes: Sequence[Lane], database: Database) -> list[Candidate]:
    """`ranked`; the first error of one process exchanges its probability with that of what waited for it behind."""
    found = list(ranked)
    j = first_of(found)
    if not found or not database.has_trait(found[j].cause, "waits_for_peer"):
        return found
    waited, told = found[j].owned, [(i, o) for i, c in enumerate(found) for o in c.owned]
    own = [
        (o.observation.line, i, o) for i, o in told if _failed_by_itself(o, database) or _ended_rank(o, found[j].cause, database)
    ]
    own = [e for e in own if not any(_went_on_beside(lane, e[2]) for lane in lanes)]
    first = [e for e in own if all_behind(found[j], e[2], database) and not is_of_earlier_attempt([e[2]], waited)]
    if first and all(i != j for _, i, _ in own):
        _, i, error = min(first, key=lambda e: e[:2])
        exchange(found, i, j, (FAILED_FIRST, FAILED_BEFORE), error)
    return found


def _failed_by_itself(o: OwnedObservation, database: Database) -> bool:
    """Is it a strong sign of an error that no other process can give: of its program, or of a port that is taken on its host?"""
    own = database.has_trait(str(o.observation.cause), "program_error") or "listen_error" in o.observation.fields
    return own and o.owner == "mine" and evidence_tier(o, database) <= ENDING_STRONG and not survived(o)


def _ended_rank(o: OwnedObservation, waiting: str, database: Database) -> bool:
    """Did a process raise it or die of it, end with it, and can that leave others `waiting`? A stop ends them all."""
    cause, after = str(o.observation.cause), o.aftermath
    died = "exc_type" in o.observation.fields or database.has_trait(cause, "process_death")
    able = database.explains(cause, waiting) and not any(
        database.has_trait(cause, t) for t in ("waits_for_peer", "external_stop")
    )
    went_on = after.later_attempts or after.repeated or after.progress or after.good or after.handled or after.low_severity
    return died and able and not went_on and o.owner == "mine" and evidence_tier(o, database) <= ENDING_STRONG


def _went_on_beside(lane: Lane, failed: OwnedObservation) -> bool:
    """Is it another process of the job, which worked on behind `failed`, and so did not wait for it?"""
    behind = [n for n in lane.last_worked if n > failed.observation.last_line]
    return lane is not failed.lane and lane.source == failed.observation.source and len(behind) >= MIN_GROWN

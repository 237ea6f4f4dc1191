"""What a platform keeps of an end is a status and no reason: what the program itself said last stands before it.

describe.txt: Reason: Error, Exit Code: 1, CrashLoopBackOff     logs.txt: Error: Cannot find module 'express'
-> the missing module is the cause, and the state of the pod is what followed from it

ERROR attempt 5/5 failed: [Errno 28] No space left on device    then a traceback: RuntimeError: download failed after 5 attempts
-> the full disk is the cause, and the exception only counts the tries
"""

from collections.abc import Sequence

from msgspec.structs import replace

from forensics.database import Database
from forensics.decision.ledger import exchange, first_of, moved
from forensics.model import Observation
from forensics.model.verdicts import Candidate, OwnedObservation
from forensics.outcome.tiers import ENDING_STRONG, NOTICE, evidence_tier, what_ended
from forensics.readers.python.exception_words import tells_of_failed_tries

DESCRIBED = "kubectl_describe"  # the record of how Kubernetes describes a container that ended
SAID_FACTS = ("exc_type", "exc_message", "stated")  # what a program said of itself, whoever hands it on
TOLD_FROM_OUTSIDE = ("external_stop", "memory_kill", "process_death", "stalls")  # traits of what no program says of itself
MIN_RIVAL_PROBABILITY = 0.1  # chosen by hand: a state that is less probable is told as what followed already
MAX_LINES_OF_LAST_TRY = 10  # chosen by hand: between the reason of the last try and the exception that counts them
LAST_TRY = "rule: the last of several tries failed for it, and the exception behind it only tells that they failed"
COUNTS_TRIES = "rule: it only tells that several tries failed"
SAID_ITSELF = "rule: a platform keeps only the status of this end, and the program's own log says why"
ONLY_STATUS = "rule: it is only the status of an end of which the program's own log says why"


def own_reason_first(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """`ranked`; the best reason that ends a log of the program takes the probability of what is only a status."""
    states = [c for c in ranked if c.probability >= MIN_RIVAL_PROBABILITY and only_tells_status(c, database)]
    own = [(c, o) for c in ranked if c not in states for o in c.owned if _ended_a_log(o, database)]
    if not states or not own:
        return list(ranked)
    reason, shown = max(own, key=lambda found: found[0].probability)
    on, more = (shown.observation.source, shown.observation.line), sum(c.probability for c in states)
    said = moved(replace(reason, explained_by=None), reason.probability + more, SAID_ITSELF, *on)
    return [said if c is reason else moved(c, 0.0, ONLY_STATUS, *on) if c in states else c for c in ranked]


def last_try_first(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """`ranked`; of an exception that only tells of failed tries, the probability goes to why the last one of them failed."""
    found = list(ranked)
    j = first_of(found)
    told = next((o for o in found[j].owned if _tells_of_tries(o)), None) if found else None
    if told is None or not database.has_trait(found[j].cause, "exception"):
        return found
    able = [(i, o) for i, c in enumerate(found) if database.explains(c.cause, found[j].cause) for o in c.owned]
    tries = [(max(o.observation.shown_on, default=o.observation.line), i, o) for i, o in able if _may_be_try(o, told, database)]
    if tries:
        _, i, last = max(tries, key=lambda t: t[:2])
        exchange(found, i, j, (LAST_TRY, COUNTS_TRIES), last)
    return found


def _tells_of_tries(o: OwnedObservation) -> bool:
    fields = o.observation.fields
    return "exc_type" in fields and tells_of_failed_tries(str(fields["exc_type"]), str(fields.get("exc_message", "")))


def _may_be_try(o: OwnedObservation, told: OwnedObservation, database: Database) -> bool:
    """Is it a strong sign shortly before `told`, with no work between them?"""
    last = max(o.observation.shown_on, default=o.observation.line)
    near = last < told.observation.line <= last + MAX_LINES_OF_LAST_TRY and o.lane is told.lane
    worked = o.aftermath.progress - told.aftermath.progress
    return near and not worked and o.owner == "mine" and evidence_tier(o, database) <= ENDING_STRONG


def only_tells_status(candidate: Candidate, database: Database) -> bool:
    """Is all that shows it the status of an end, which a platform keeps? A signal, a kill or a hang is more than that."""
    outside = any(database.has_trait(candidate.cause, trait) for trait in TOLD_FROM_OUTSIDE)
    ending = [o.observation for o in candidate.owned if evidence_tier(o, database) < NOTICE]
    return bool(ending) and not outside and all(_is_status(seen, database) for seen in ending)


def _is_status(seen: Observation, database: Database) -> bool:
    of_job = what_ended(seen, database) == "job" and database.has_trait(str(seen.cause), "exception")
    kept = of_job or seen.kind == DESCRIBED
    return kept and seen.weight != "proof" and not any(name in seen.fields for name in SAID_FACTS)


def _ended_a_log(o: OwnedObservation, database: Database) -> bool:
    """Is it a strong sign of an end in a log of the subject's own, behind which nothing went on?"""
    after = o.aftermath
    went_on = after.later_attempts or after.repeated or after.progress or after.positions or after.good or after.handled
    job = o.lane is not None and o.lane.kind == "job"
    return o.owner == "mine" and job and not went_on and evidence_tier(o, database) <= ENDING_STRONG

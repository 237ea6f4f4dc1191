"""What a platform keeps of an end is a status and no reason: what the program itself said last stands before it.

describe.txt: Reason: Error, Exit Code: 1, CrashLoopBackOff     logs.txt: Error: Cannot find module 'express'
-> the missing module is the cause, and the state of the pod is what followed from it
"""

from collections.abc import Sequence

from msgspec.structs import replace

from forensics.database import Database
from forensics.decision.ledger import moved
from forensics.model import Observation
from forensics.model.verdicts import Candidate, OwnedObservation
from forensics.outcome.tiers import ENDING_STRONG, NOTICE, evidence_tier, what_ended

DESCRIBED = "kubectl_describe"  # the record of how Kubernetes describes a container that ended
SAID_FACTS = ("exc_type", "exc_message", "stated")  # what a program said of itself, whoever hands it on
TOLD_FROM_OUTSIDE = ("external_stop", "memory_kill", "process_death", "stalls")  # traits of what no program says of itself
MIN_RIVAL_PROBABILITY = 0.1  # chosen by hand: a state that is less probable is told as what followed already
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

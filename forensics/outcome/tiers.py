"""How strongly an observation shows an end: by the `ends` and the weight of its signature, and by whether it is in scope.

"Killed process 4711" (ends: process, proof) in a kernel's lane     -> ENDING_PROOF
"hint: set CUDA_LAUNCH_BLOCKING=1" (ends: nothing)                  -> NOTICE
"ModuleNotFoundError" (scope: job, notebook) in sshd's lane         -> NOTICE
"part 7 attempt 2 failed: connection reset, retrying in 4s"         -> NOTICE
"""

from forensics.database import HEALTHY, Database
from forensics.model import Observation
from forensics.model.verdicts import OwnedObservation

ENDING_PROOF, ENDING_STRONG, ENDING_HINT, NOTICE = range(4)
TIER_NAMES = ("proof", "strong", "hint", "notice")
TIER_OF_WEIGHT = {"proof": ENDING_PROOF, "strong": ENDING_STRONG, "hint": ENDING_HINT}


def what_ended(o: Observation, database: Database) -> str:
    """What ended according to `o`: process, job, machine or nothing.

    It is the `ends` of its signature; for a record of a detector that of its cause, and nothing if its weight is hint.
    """
    if o.ends:
        return o.ends
    cause = database.causes.get(str(o.cause))
    return "nothing" if o.weight == "hint" or cause is None else cause.ends


def in_scope(owned: OwnedObservation, database: Database) -> bool:
    """Is the lane of the observation of a kind that the `scope` of its signature names?"""
    o = owned.observation
    cause = database.causes.get(str(o.cause))
    scope = o.scope or (cause.scope if cause else ("any",))
    return "any" in scope or owned.lane is None or owned.lane.kind in scope


def evidence_tier(owned: OwnedObservation, database: Database) -> int:
    """One of ENDING_PROOF, ENDING_STRONG, ENDING_HINT, NOTICE."""
    if owned.observation.cause == HEALTHY or not in_scope(owned, database):
        return NOTICE
    ended = what_ended(owned.observation, database)
    if ended == "nothing" or (ended != "machine" and _goes_on(owned)):
        return NOTICE
    return TIER_OF_WEIGHT[owned.observation.weight]


def _goes_on(owned: OwnedObservation) -> bool:
    """Does the last of such messages itself say that the program goes on?"""
    o = owned.observation
    return o.weight != "proof" and "exc_type" not in o.fields and o.last_line == owned.aftermath.handled_line

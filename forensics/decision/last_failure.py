"""Of two failures between which the program worked on, the last one ended it.

step 9 / OSError: [Errno 28] ... / + python train.py --resume / step 10 ... step 19 / KeyError: 'label'   -> the KeyError
step 9 / OSError: [Errno 28] ... / + python eval.py / FileNotFoundError: ck_10.pt                         -> the full disk
step 9 / OSError: [Errno 28] ... / step 10 ... step 19 / FileNotFoundError: ck_9.pt                       -> the full disk

What a cause is known to leave behind, a file that is missing or damaged, is found long after it.
"""

from collections.abc import Sequence

from forensics.database import Database
from forensics.decision.last_word import (
    MAX_CONTINUED_LINES,
    MAX_LINES_BEHIND_WORD,
    MIN_GROWN,
    has_lasting_effect,
    may_be_word,
)
from forensics.decision.ledger import exchange, first_of
from forensics.model.verdicts import Candidate, OwnedObservation
from forensics.outcome.tiers import ENDING_STRONG, NOTICE, evidence_tier

ENDED_AT_LAST = "rule: the program had worked on after an earlier failure, and ended with this one"
OVERCOME = "rule: the program worked on after it, and ended with another failure"


def last_failure_first(ranked: Sequence[Candidate], database: Database) -> list[Candidate]:
    """`ranked`; the failure that ended the program exchanges its probability with that of an earlier one, which it overcame."""
    found = list(ranked)
    j = first_of(found)
    before = [o for o in found[j].every if evidence_tier(o, database) < NOTICE] if found else []
    if not before or has_lasting_effect(found[j].cause, database) or not all(map(_overcame, before)):
        return found
    left = [i for i, c in enumerate(found) if i != j and not _may_be_left_by(found[j].cause, c.cause, database)]
    ends = [(o.observation.line, i, o) for i in left for o in found[i].owned if _ended_with(o, database)]
    last = max(ends, key=lambda e: e[:2], default=None)
    if last and all(_is_before(o, last[2]) for o in before):
        exchange(found, last[1], j, (ENDED_AT_LAST, OVERCOME), last[2])
    return found


def _overcame(o: OwnedObservation) -> bool:
    """Did the program, or a further attempt of it, do more behind `o` than a program may print while it ends?"""
    after = o.aftermath
    worked = after.positions >= MIN_GROWN and after.progress >= MAX_CONTINUED_LINES
    return worked or (after.later_attempts > 0 and after.progress >= MIN_GROWN)


def _may_be_left_by(earlier: str, cause: str, database: Database) -> bool:
    """May `earlier` show in `cause` long after it? In an exception of no known kind it would be named."""
    named = not database.has_trait(cause, "exception") and database.explains(earlier, cause)
    return named or may_be_word(cause, database)


def _ended_with(o: OwnedObservation, database: Database) -> bool:
    """Did the subject raise it and end with it?"""
    after = o.aftermath
    went_on = after.later_attempts or after.progress or after.positions or after.good or after.handled or after.low_severity
    near = after.lines_after <= MAX_LINES_BEHIND_WORD and after.repeated <= MAX_CONTINUED_LINES
    raised = o.owner == "mine" and "exc_type" in o.observation.fields and evidence_tier(o, database) <= ENDING_STRONG
    return raised and near and not went_on


def _is_before(o: OwnedObservation, last: OwnedObservation) -> bool:
    return o.lane is last.lane and o.observation.last_line < last.observation.line

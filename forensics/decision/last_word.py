"""What the program survived, and which message is the last word of its last attempt.

    CUDA out of memory / (a further attempt) / step 900 / Killed          `Killed` is the last word; the first was survived
    bad sample: index 4 ... / update 62 / update 63 / SIGTERM received    the signal is the last word

A last word is a message about a death or a stop from outside behind which nothing goes on; in a notebook, whose kernel keeps its
state from cell to cell, there is none. What the program survived is evidence behind which its position grew, or a further attempt
began.
"""

from collections.abc import Sequence

from forensics.database import Database
from forensics.model.verdicts import Candidate, OwnedObservation
from forensics.outcome.tiers import NOTICE, evidence_tier

MAX_CONTINUED_LINES = 10  # while it ends a program may print a few lines like earlier ones
MIN_GROWN = 2  # a buffer that is written late may show one more step behind the end
MAX_LINES_BEHIND_WORD = 20  # of a last word: the stack and the launcher's lines that are printed for the signal
LAST_WORD_TRAITS = ("process_death", "external_stop")
LASTING_TRAITS = ("machine_fault", "memory_kill", "kernel_fault", "worthless_result", "stalls")  # work may go on behind these


def survived(o: OwnedObservation) -> bool:
    """Did a further attempt begin behind it, or did the position of its own attempt grow?"""
    return o.aftermath.later_attempts > 0 or o.aftermath.positions >= MIN_GROWN


def is_of_earlier_attempt(first: Sequence[OwnedObservation], second: Sequence[OwnedObservation]) -> bool:
    """Did a further attempt begin between all of `first` and all of `second`, in the one source that has both?"""
    if not first or not second or len({o.observation.source for o in (*first, *second)}) > 1:
        return False
    return min(o.aftermath.later_attempts for o in first) > max(o.aftermath.later_attempts for o in second)


def all_behind(later: Candidate, first: OwnedObservation, database: Database) -> bool:
    """Does all evidence of `later` stand behind `first` in the same log?"""
    seen = first.observation
    ending = [o.observation for o in later.every if evidence_tier(o, database) < NOTICE]
    return all(o.source == seen.source and o.line > seen.last_line for o in ending)


def has_lasting_effect(cause: str, database: Database) -> bool:
    """May work go on behind it although it decides how the run ends?"""
    return any(database.has_trait(cause, t) for t in LASTING_TRAITS)


def may_be_word(cause: str, database: Database) -> bool:
    """Is it a death or a stop, of which one word tells?"""
    return any(database.has_trait(cause, t) for t in LAST_WORD_TRAITS)


def last_word(cause: str, owned: Sequence[OwnedObservation], database: Database) -> OwnedObservation | None:
    """The observation among `owned`, of one cause, that is the last word of the subject's last attempt; None if it has none."""
    if not may_be_word(cause, database):
        return None
    return next((o for o in reversed(owned) if o.observation.weight != "hint" and _is_last_word(o)), None)


def _is_last_word(o: OwnedObservation) -> bool:
    after, lane = o.aftermath, o.lane
    took_back = after.handled and "signal_name" not in o.observation.fields  # what a shell tells of its command is final
    went_on = after.later_attempts or after.progress or after.positions or after.good or took_back
    told = o.owner == "mine" and lane is not None and lane.kind == "job"
    if lane is None or (len(lane.attempts) > 1 and lane.attempts[-1].first_line >= o.observation.line):
        return False  # a launcher that tells of a death begins the next attempt with it
    return told and not went_on and after.lines_after <= MAX_LINES_BEHIND_WORD

"""Say in a few words by what a subject is shown to have ended badly; nothing where its log shows trouble, and no end.

    Traceback (most recent call last): ... / KeyError: 'image'      -> "its last lines tell of it"
    exit status 137                                                 -> "its last lines give exit status 137"
    iteration 21: rss 491 MB                                        -> "": the log may go on
    ECC Errors / Uncorrectable Error : 4                            -> "": the output of a query has no end

The probability of a bad end is another matter (outcome/features.py). This is what a reader can look up.
"""

from collections.abc import Iterable, Sequence

from forensics.database import Database
from forensics.model.verdicts import Aftermath, Lane, LaneDigest, OwnedObservation
from forensics.outcome.tiers import NOTICE, evidence_tier, what_ended

MAX_LINES_BEHIND = 10  # chosen by hand: what a launcher, a shell or an interpreter prints behind the reason of an end
MAX_LINES_OF_MESSAGE = 2  # chosen by hand: a message and what it goes on with
MAX_LINES_OF_STACK = 50  # chosen by hand: from the head of a traceback to its exception


def bad_end_shown(
    owned: Sequence[OwnedObservation], lane: Lane | None, status: int | None, command_status: int | None, database: Database
) -> str:
    """Why the subject is said to have ended badly; empty if no end of it is shown.

    `owned`: the evidence of the first cause. `lane`: the subject's own that shows how it ended. `status`: the exit status that
    its last lines record; `command_status`: the one that the process recorded that started it.
    """
    if command_status:
        return f"it ended with exit status {command_status}"
    if lane is None or lane.kind not in ("job", "notebook") or 0 <= lane.digest.good <= MAX_LINES_BEHIND:
        return ""
    if status is not None:
        return f"its last lines give exit status {status}" if status else ""
    ends = _ends(o for o in owned if o.owner == "mine" and o.lane is lane and evidence_tier(o, database) < NOTICE)
    if _is_over(lane.digest) or any(_is_last(o.aftermath) for o in ends if what_ended(o.observation, database) != "machine"):
        return "its last lines tell of it"
    return ""


def _ends(owned: Iterable[OwnedObservation]) -> list[OwnedObservation]:
    """Those that are messages of an end. Measured numbers show a course, and a course has no last line."""
    return [o for o in owned if o.observation.weight != "hint" and not o.observation.kind.startswith("series/")]


def _is_last(after: Aftermath) -> bool:
    """Is it among the last lines, with nothing behind it that shows that the program went on?"""
    went_on = after.repeated or after.progress or after.good or after.later_attempts or after.handled or after.low_severity
    return after.lines_after <= MAX_LINES_OF_MESSAGE and not went_on


def _is_over(digest: LaneDigest) -> bool:
    """Does the log end with a stack, or with a line that says that what was asked for failed?"""
    stack = 0 <= digest.traceback <= MAX_LINES_OF_STACK and not digest.again_after_traceback and not digest.traceback_in_record
    said = 0 <= digest.bad_end < MAX_LINES_OF_MESSAGE and not digest.again_after_bad_end and not digest.attempts_after_bad_end
    nearest = min([digest.traceback] * stack + [digest.bad_end] * said, default=-1)
    return nearest >= 0 and not 0 <= digest.progress < nearest and not 0 <= digest.good < nearest

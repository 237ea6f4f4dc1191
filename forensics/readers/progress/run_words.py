"""Words that a run prints of itself between its numbers: an end, trouble, the trial or fold that a line belongs to."""

import re

from forensics.core import lazy
from forensics.core.shapes import by_shape
from forensics.data_files.named_parts import part_pattern

END_WORDS_PATTERN = lazy.regex(
    r"\b(?:done|finish\w*|complet\w*|ended|exit(?:ing|ed)?|sav(?:ed|ing)|best|total time|shut\w* ?down|success\w*|"
    r"evaluat\w*|test(?:ing)?|results?|accuracy|summary|uploading|goodbye|bye)\b",
    re.IGNORECASE,
)
# Of the whole run, in words that no epoch ends with: `Training complete`, `Done!`, `Early stopping at epoch 7`.
CLOSING_PATTERN = lazy.regex(
    r"\b(?:training|run|job|experiment|script|process\w*|pipeline|fit\w*|optimi[sz]ation|search|tuning|all|everything)\b"
    r".{0,40}\b(?:finished|completed?|done|over|ended|succe\w+)\b"
    r"|\b(?:finished|completed?|done)\b.{0,20}\b(?:training|run|job|experiment|pipeline|successfully|after \d+ epochs)\b"
    r"|\bsuccessfully (?:completed|finished|trained|saved|exported|ended|exited|uploaded)\b"
    r"|\btarget reached\b|\bstatus\W{1,4}success\b"
    r"|\bearly[ _-]?stopp(?:ed|ing)\b(?! ?[=:])|\bstopp(?:ed|ing) (?:early|training)\b|\bconverged (?:after|at|in)\b"
    r"|\btotal (?:training |elapsed |wall |run(?:ning)? )?time\b|\b(?:pushed|uploaded) to\b"
    r"|\bmax_(?:epochs|steps|iter\w*)\S{0,12} reached\b"
    r"|\bfinal[ _](?:\w{1,20}[ _]){0,2}"
    r"(?:test|train|val\w*|eval\w*|loss|acc\w*|results?|scores?|model|metrics?|performance)(?:\b|_)"
    r"|^\W{0,8}(?:(?:done|finished|completed?|bye|good ?bye)\W{0,4}$|success\b|\w{0,12} ?summary\b)",
    re.IGNORECASE,
)
QUOTED_CALL_PATTERN = lazy.regex(r"\w\([fr]?[\"']")  # of a line of a program that is quoted: `print("training done")`
TROUBLE_PATTERN = lazy.regex(
    r"Traceback|Error\b|Exception\b|"
    r"\b(?:CANCELLED|core dumped|fatal|panic|Abort\w*|[Kk]ill\w*|SIG[A-Z]+|[Ss]ignal|fail\w*)\b"
)
TRIAL_PATTERN = part_pattern("run words", "trial")


def tells_an_end(text: str) -> bool:
    """Has the line a word of the end of a run, or of what comes at its end?"""
    return END_WORDS_PATTERN.search(text) is not None


@by_shape
def closes_run(text: str) -> bool:
    """Does the line say that the whole run is over, and well?"""
    return CLOSING_PATTERN.search(text) is not None and not QUOTED_CALL_PATTERN.search(text)


def tells_trouble(text: str) -> bool:
    """Has the line a word of failure?"""
    return TROUBLE_PATTERN.search(text) is not None


def trial_number(text: str) -> str | None:
    """The digits of the trial, fold or run that the line names; None if it names none."""
    found = TRIAL_PATTERN.search(text)
    return str(found["number"]) if found else None

"""Words that a run prints of itself between its numbers: an end, trouble, the trial or fold that a line belongs to."""

import re

from forensics.core import lazy

END_WORDS_PATTERN = lazy.regex(
    r"\b(?:done|finish\w*|complet\w*|ended|exit(?:ing|ed)?|sav(?:ed|ing)|best|total time|shut\w* ?down|success\w*|"
    r"evaluat\w*|test(?:ing)?|results?|accuracy|summary|uploading|goodbye|bye)\b",
    re.IGNORECASE,
)
TROUBLE_PATTERN = lazy.regex(
    r"Traceback|Error\b|Exception\b|"
    r"\b(?:CANCELLED|core dumped|fatal|panic|Abort\w*|[Kk]ill\w*|SIG[A-Z]+|[Ss]ignal|fail\w*)\b"
)
TRIAL_PATTERN = lazy.regex(r"(?i)\b(?:trial|fold|run|experiment|seed|config(?:uration)?)\W{1,3}(?P<number>\d{1,9})\b")


def tells_an_end(text: str) -> bool:
    """Has the line a word of the end of a run, or of what comes at its end?"""
    return END_WORDS_PATTERN.search(text) is not None


def tells_trouble(text: str) -> bool:
    """Has the line a word of failure?"""
    return TROUBLE_PATTERN.search(text) is not None


def trial_number(text: str) -> str | None:
    """The digits of the trial, fold or run that the line names; None if it names none."""
    found = TRIAL_PATTERN.search(text)
    return str(found["number"]) if found else None

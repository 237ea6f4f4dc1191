"""Words that a run prints of itself between its numbers: an end, trouble, the trial or fold that a line belongs to."""

from forensics.core import lazy
from forensics.core.shapes import by_shape
from forensics.data_files.named_parts import patterns_of

PATTERNS = patterns_of("run words")
QUOTED_CALL_PATTERN = lazy.regex(r"\w\([fr]?[\"']")  # of a line of a program that is quoted: `print("training done")`


def tells_an_end(text: str) -> bool:
    """Has the line a word of the end of a run, or of what comes at its end?"""
    return PATTERNS.end_words.search(text) is not None


@by_shape
def closes_run(text: str) -> bool:
    """Does the line say that the whole run is over, and well?"""
    return PATTERNS.closing.search(text) is not None and not QUOTED_CALL_PATTERN.search(text)


def tells_trouble(text: str) -> bool:
    """Has the line a word of failure?"""
    return PATTERNS.trouble.search(text) is not None


def trial_number(text: str) -> str | None:
    """The digits of the trial, fold or run that the line names; None if it names none."""
    found = PATTERNS.trial.search(text)
    return str(found["number"]) if found else None

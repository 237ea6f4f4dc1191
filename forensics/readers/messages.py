"""How far the message of a line goes on in the lines behind it.

ValueError: The feature names should match those that were passed during fit.   <- a whole sentence
Feature names unseen at fit time:                                               <- it announces the next lines
- area
- age
"""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.model import Line

SENTENCE_OVER_PATTERN = lazy.regex(r"[.!?\"'`)\]}>]\s*\Z")
CONTINUATION_PATTERN = lazy.regex(r"\s*[-*\u2022] \S|\s+(?!File \"|at )\S|[a-z(](?![\w.-]*@)|\d+ (?:[!=<>]=|[-+*/x]) ?\d")


def continued_lines(line: Line, behind: Sequence[Line]) -> int:
    """How many of the lines `behind` it belong to the message of `line`."""
    count, last = 0, line
    for following in behind:
        if following.number != last.number + 1 or not continues(last.text, following.text):
            break
        count, last = count + 1, following
    return count


def continues(text: str, following: str) -> bool:
    """Does a message of several lines go on? Its line is no whole sentence, and the next one is no record, frame or sentence."""
    open_end = text.rstrip().endswith((":", ",", "=", "(", "-")) or not SENTENCE_OVER_PATTERN.search(text)
    return open_end and CONTINUATION_PATTERN.match(following) is not None

"""Where the message of an exception ends: a message that runs over several lines is one message.

ValueError: The feature names should match those that were passed during fit.
Feature names unseen at fit time:                                                a heading of a list
- rain                                                                           and its items
"""

from collections.abc import Sequence
from itertools import islice

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of
from forensics.readers.base import ParsedLine

TRACEBACK_HEAD = "Traceback (most recent call last)"
# Two texts between the tracebacks of a chain. After the first one, the earlier exception is only context: the later exception
# ended the program.
HANDLED = "During handling of the above exception"
CHAIN = (HANDLED, "The above exception was the direct cause")
MAX_MESSAGE_LINES = 12  # of one exception's text. PyTorch's CUDA errors have five lines; longer lists of keys are cut
MAX_LIST_LINES = 100  # of a message whose lines have the form of a list
MAX_FRAMED_LINES = 40  # between two rules
RULE_LINE_PATTERN = lazy.regex(r"\A[-=*]{20,}\s*$")
PATTERNS = patterns_of("exception message")
LIST_ITEM_PATTERN = lazy.regex(r"\A(?:\s{1,12}\S|(?:[-*•+]|\d{1,4}[.)]) {1,4}\S)")
LIST_HEADING_PATTERN = lazy.regex(r":\s*\Z")


def message_end(rows: Sequence[ParsedLine], place: int) -> int:
    """Number of the message's last line; `place`: the index of its first one. It ends before a blank line, a time stamp, another
    traceback, words of another program or a line of dashes, but a message that begins with such a line ends with the next one."""
    below = rows[place + 1 : place + 1 + MAX_FRAMED_LINES]
    if below and RULE_LINE_PATTERN.match(below[0].message):
        closing = next((r for r in below[1:] if RULE_LINE_PATTERN.match(r.message)), None)
        if closing is not None and not any(TRACEBACK_HEAD in r.message for r in below):
            return closing.line.number
    last = rows[place].line.number
    for row in rows[place + 1 : place + 1 + MAX_MESSAGE_LINES]:
        if _is_beyond(row):
            break
        last = row.line.number
    return max(last, list_end(rows, place))


def list_end(rows: Sequence[ParsedLine], place: int) -> int:
    """Number of the last line that surely belongs to the message, by its form: an item of a list, or the heading of one."""
    below = list(islice(rows, place + 1, place + 1 + MAX_LIST_LINES))
    last = rows[place].line.number
    for i, row in enumerate(below):
        if _is_beyond(row):
            break
        is_item = LIST_ITEM_PATTERN.match(row.message) is not None
        following = below[i + 1] if i + 1 < len(below) else None
        is_heading = LIST_HEADING_PATTERN.search(row.message) and following and LIST_ITEM_PATTERN.match(following.message)
        if not is_item and not is_heading:
            break
        last = row.line.number
    return last


def _is_beyond(row: ParsedLine) -> bool:
    text = row.message
    begins = not text.strip() or row.prefix.stamp is not None or TRACEBACK_HEAD in text or text.startswith(CHAIN)
    return begins or any(p.match(text) for p in (RULE_LINE_PATTERN, PATTERNS.other_program))

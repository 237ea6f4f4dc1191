"""Boxes around text, as Rich draws them around tracebacks: a vertical bar at both ends of a line.

│ /home/ada/train.py:12 in main                │
"""

import re

from forensics.core import lazy
from forensics.sources.formats.base import Head
from forensics.sources.strips.base import MIN_DECORATED_LINES, Strip

MIN_BOXED_SHARE = 0.3  # of the lines; chosen by hand: a box around a traceback stands in an ordinary log
SIDES = "│┃║"
BOXED_LINE_PATTERN = lazy.regex(rf"^\s*[{SIDES}].*[{SIDES}]\s*$")


def shows(head: Head) -> bool:
    """Stand the lines of `head` in a box?"""
    if not any(side in head.text for side in SIDES):
        return False
    lines = head.written
    boxed = sum(bool(BOXED_LINE_PATTERN.match(line)) for line in lines)
    return boxed >= MIN_DECORATED_LINES and boxed >= MIN_BOXED_SHARE * len(lines)


SIDE_PATTERN = "|".join(SIDES).encode()
# A line with nothing between its bars, else the bar in front, else the one behind; each is found in one go over the blanks.
EMPTY_ROW_PATTERN = rb"^[ \t]*+(?:" + SIDE_PATTERN + rb")[ \t]*+(?:" + SIDE_PATTERN + rb")[ \t]*+\r?$"
LEFT_SIDE_PATTERN = rb"^[ \t]*+(?:" + SIDE_PATTERN + rb") ?"
RIGHT_SIDE_PATTERN = rb"(?<![ \t])[ \t]*+(?:" + SIDE_PATTERN + rb")[ \t]*+\r?$"
BOX_SIDES_PATTERN = lazy.regex(rb"|".join((EMPTY_ROW_PATTERN, LEFT_SIDE_PATTERN, RIGHT_SIDE_PATTERN)), re.MULTILINE)
BOXES = Strip("boxes", BOX_SIDES_PATTERN)

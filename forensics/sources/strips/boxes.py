"""Boxes around text, as Rich draws them around tracebacks: a vertical bar at both ends of a line.

│ /home/ada/train.py:12 in main                │
"""

import re

from forensics.core import lazy
from forensics.sources.formats.base import Head
from forensics.sources.strips.base import Strip

SHARE = 0.3
LEAST = 3
SIDES = "│┃║"
BORDER = lazy.regex(rf"^\s*[{SIDES}].*[{SIDES}]\s*$")


def _shows(head: Head) -> bool:
    if not any(side in head.text for side in SIDES):
        return False
    lines = head.written
    boxed = sum(bool(BORDER.match(line)) for line in lines)
    return boxed >= LEAST and boxed >= SHARE * len(lines)


SIDE = "|".join(SIDES).encode()
# A line with nothing between its bars, else the bar in front, else the one behind; each is found in one go over the blanks.
EMPTY = rb"^[ \t]*+(?:" + SIDE + rb")[ \t]*+(?:" + SIDE + rb")[ \t]*+\r?$"
FRONT = rb"^[ \t]*+(?:" + SIDE + rb") ?"
BEHIND = rb"(?<![ \t])[ \t]*+(?:" + SIDE + rb")[ \t]*+\r?$"
BORDERS = lazy.regex(rb"|".join((EMPTY, FRONT, BEHIND)), re.MULTILINE)
STRIPS = (Strip("boxes", _shows, BORDERS),)

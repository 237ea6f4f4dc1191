"""Boxes around text, as Rich draws them around tracebacks: a vertical bar at both ends of a line.

│ /home/ada/train.py:12 in main                │
"""

import re

from forensics.sources.formats.base import Head
from forensics.sources.strips.base import Strip

SHARE = 0.3
LEAST = 3
SIDES = "│┃║"
BORDER = re.compile(rf"^\s*[{SIDES}].*[{SIDES}]\s*$")


def _shows(head: Head) -> bool:
    lines = [line for line in head.lines if line.strip()]
    boxed = sum(bool(BORDER.match(line)) for line in lines)
    return boxed >= LEAST and boxed >= SHARE * len(lines)


SIDE = "|".join(SIDES).encode()
BORDERS = re.compile(rb"^[ \t]*(?:" + SIDE + rb") ?|(?<![ \t])[ \t]*+(?:" + SIDE + rb")[ \t]*\r?$", re.MULTILINE)
STRIPS = (Strip("boxes", _shows, BORDERS),)

"""Mail and issue quoting: `> ` in front of every line, once or several times."""

import re

from forensics.core import lazy
from forensics.sources.formats.base import Head
from forensics.sources.strips.base import MIN_DECORATED_LINES, Strip

MIN_QUOTED_SHARE = 0.8  # of the lines; chosen by hand: who answers a mail writes a few lines of their own


def shows(head: Head) -> bool:
    """Are the lines of `head` quoted?"""
    if ">" not in head.text:
        return False
    lines = head.written
    quoted = sum(line.lstrip().startswith(">") and not line.lstrip().startswith(">>>") for line in lines)
    return quoted >= MIN_DECORATED_LINES and quoted >= MIN_QUOTED_SHARE * len(lines)


QUOTES = Strip("quotes", lazy.regex(rb"^[ \t]*(?:> ?)+", re.MULTILINE))

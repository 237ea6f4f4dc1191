"""The last lines of each source, those that differ only in numbers folded, for an end that nothing proves.

step 1 / step 2 / ... / step 300 / Saving model / Killed
-> step 300 (300 times), Saving model, Killed
"""

from collections.abc import Collection, Sequence

from forensics.core.text import last_frame
from forensics.model import MessageGroup, Scan
from forensics.readers.capture.own_message import is_own_line
from forensics.readers.lanes.line_classes import TROUBLE, LineClasses
from forensics.readers.templates import Templates

MAX_LAST_CHARS = 500  # of a line: five rows of a page
OWN_LINES = 20  # chosen by hand: of each source of the subject, a screen
OTHER_LINES = 5  # chosen by hand: of each other source, the last message and what led to it
MAX_LAST_LINES_OF_ALL = 60  # chosen by hand: of all sources, as much as a reader takes in


def last_lines(scans: Sequence[Scan], classes: LineClasses, own: Collection[str]) -> tuple[MessageGroup, ...]:
    """Of each source its last lines in order, those of `own` (names of sources) first. Of `count` lines that differ only in
    numbers the last one stands, and `line` is its number."""
    templates = Templates()
    found: list[MessageGroup] = []
    for scan in sorted(scans, key=lambda s: s.source.name not in own):
        if len(found) < MAX_LAST_LINES_OF_ALL:
            most = OWN_LINES if scan.source.name in own else OTHER_LINES
            found += _of_source(scan, templates, classes)[-most:]
    return tuple(found[:MAX_LAST_LINES_OF_ALL])


def _of_source(scan: Scan, templates: Templates, classes: LineClasses) -> list[MessageGroup]:
    rows = [line.text.encode("utf-8", "replace") for line in scan.tail]
    groups = sorted(templates.groups(rows), key=lambda g: g.last) if rows else []
    name, made = scan.source.name, []
    for group in groups:
        text, line = last_frame(rows[group.last])[:MAX_LAST_CHARS], scan.source.number_of(scan.tail[group.last].number)
        made.append(
            MessageGroup(name, line, name, line, group.count, text, bool(classes.classify(text) & TROUBLE), is_own_line(text))
        )
    return made

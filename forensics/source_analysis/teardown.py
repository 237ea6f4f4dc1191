"""Helper threads that fail behind a good end: the interpreter takes their queue away, and nothing of the run is lost.

    Training is over, model saved.                    the end, in order
    Exception in thread Thread-2:                     \\
    Traceback (most recent call last):                 | lines of the teardown, which show no other end
      ...tensorboardX/event_file_writer.py...          |
    OSError: handle is closed                         /
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from forensics.line_formats import unlabelled
from forensics.model import Line, Observation, Scan
from forensics.readers.lanes.line_classes import GOOD, NOT_AN_END, PROGRESS, TROUBLE, LineClasses
from forensics.readers.python.exception_message import TRACEBACK_HEAD
from forensics.readers.python.library_files import is_library_file
from forensics.readers.python.teardown import IN_THREAD, THREAD_PREFIX

MAX_THREAD_HEAD_LINES = 8  # before the first traceback, in which several threads announce themselves at once


class Teardown(Struct, frozen=True):
    """`events`: the observations, those of the teardown without a cause. `lines`: the numbers of its lines."""

    events: Sequence[Observation]
    lines: frozenset[int] = frozenset()


def find_teardown(scan: Scan, events: Sequence[Observation], classes: LineClasses) -> Teardown:
    """The threads of libraries that failed behind the good end of `scan`, if the program did nothing further."""
    failed = [o for o in events if IN_THREAD in o.fields and o.proofs and is_library_file(str(o.fields.get("file", "")))]
    tail = {line.number: line for line in scan.tail}
    if not failed or any(o.proofs[0].line not in tail for o in failed):
        return Teardown(events)
    spanned = {n for o in failed for n in range(o.line, o.last_line + 1)}
    first = min(spanned) - MAX_THREAD_HEAD_LINES
    heads = {n for n, line in tail.items() if n >= first and (THREAD_PREFIX in line.text or TRACEBACK_HEAD in line.text)}
    bits = {n: classes.classify(unlabelled(line.text)) for n, line in tail.items()}
    last = max(o.proofs[0].line for o in failed)
    ends = [n for n, b in bits.items() if b & GOOD and not b & TROUBLE and n < last]
    own = (spanned | heads) - set(ends)
    if not ends or any(_shows_more(bits[n], tail[n]) for n in bits if n > max(ends) and n not in own):
        return Teardown(events)
    told = [replace(o, cause=None, weight="hint") if set(o.shown_on) <= own else o for o in events]
    return Teardown(told, frozenset(own))


def _shows_more(bits: int, line: Line) -> bool:
    """Does a line behind the end show that the program went on, or failed otherwise?"""
    return bool(line.text.strip()) and bool(bits & PROGRESS or (bits & TROUBLE and not bits & NOT_AN_END))

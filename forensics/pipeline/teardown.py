"""Trouble that ends nothing: helper threads behind a good end, exceptions that are ignored, a shell's failing file tools, the
logs of containers that were replaced, and what is only quoted (readers/lanes/quotations.py).

    Training is over, model saved.                    the end, in order
    Exception in thread Thread-2:                     \\
    Traceback (most recent call last):                 | lines of the teardown, which show no other end
      ...tensorboardX/event_file_writer.py...          |
    OSError: handle is closed                         /

The interpreter takes the queue of such a thread away, and nothing of the run is lost. An exception that is ignored, as of a
destructor, is no sign of an end where the end of the log shows no other trouble.

    mv: cannot stat '*.pt': No such file or directory     a file tool fails
    real    126m14.364s                                   the shell goes on, so it does not stop at such a failure
    mv: cannot stat '*.out': No such file or directory    the last line, which ended nothing
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from forensics.database import HEALTHY
from forensics.line_formats import unlabelled
from forensics.model import Line, Observation, Scan
from forensics.readers.lanes.line_classes import GOOD, NOT_AN_END, PROGRESS, SHUT_DOWN, TROUBLE, LineClasses, is_low_severity
from forensics.readers.lanes.quotations import quoted_lines
from forensics.readers.platforms.shell_places import failed_file_tool
from forensics.readers.python.library_files import is_library_file
from forensics.readers.python.quoted_source import CHAIN, TRACEBACK_HEAD
from forensics.readers.python.teardown import EXIT_HOOKS, IGNORED, IN_THREAD, THREAD_PREFIX

MAX_THREAD_HEAD_LINES = 8  # before the first traceback, in which several threads announce themselves at once
MAX_LINES_OF_CHAIN = 4  # from an exception to the head of the next one of its chain: a sentence between two blank lines
IGNORED_TRACEBACK = "traceback/ignored"
REPLACED_CONTAINER = "container_sections"  # one of the same name runs: what stands in its section was overcome


def ignored_lines(events: Sequence[Observation]) -> frozenset[int]:
    """The numbers of the lines of all tracebacks that were printed and ignored, as of a finalizer: none tells a reason."""
    return frozenset(n for o in events if o.kind == IGNORED_TRACEBACK for n in _lines_of(o))


def harmless_lines(events: Sequence[Observation]) -> frozenset[int]:
    """The numbers of the lines that are known as harmless, and as nothing else: none tells a reason."""
    known = {n for o in events if o.cause == HEALTHY for n in o.shown_on}
    return frozenset(known.difference(n for o in events if o.cause not in (None, HEALTHY) for n in o.shown_on))


def _lines_of(ignored: Observation) -> set[int]:
    """The lines of one such traceback, or of each that is told with it and whose head was kept: all are as long as the last."""
    heads = [p.line for p in ignored.proofs] or [ignored.line]
    length = ignored.last_line - max(heads)
    return {n for head in heads for n in range(head, head + length + 1)}


class Teardown(Struct, frozen=True):
    """`events`: the observations, those of the teardown without a cause. `lines`: the numbers of its lines."""

    events: Sequence[Observation]
    lines: frozenset[int] = frozenset()


def find_teardown(scan: Scan, events: Sequence[Observation], classes: LineClasses) -> Teardown:
    """What failed at the end of `scan` and ended nothing."""
    found = _find_in_program(scan, events, classes)
    sections = (o for o in events if o.kind == REPLACED_CONTAINER)
    survived = _survived_tools(scan.tail) | {n for o in sections for n in range(o.line, o.last_line + 1)} | quoted_lines(scan)
    return Teardown(_without_cause(found.events, survived), found.lines | survived) if survived else found


def _survived_tools(tail: Sequence[Line]) -> frozenset[int]:
    """The lines in which the file tool failed with which the log ends, if the shell went on behind it before."""
    last = {failed_file_tool(line.text) for line in islice((x for x in reversed(tail) if x.text.strip()), 1)} - {""}
    if not last:
        return frozenset()
    told = [line for line in tail if line.text.strip()]
    alike = [failed_file_tool(line.text) in last for line in told]
    survived = False in alike[alike.index(True) :]
    return frozenset(line.number for line, is_alike in zip(told, alike, strict=False) if is_alike and survived)


def _without_cause(events: Sequence[Observation], lines: frozenset[int]) -> list[Observation]:
    """`events`; those that stand on `lines` alone have no cause."""
    return [replace(o, cause=None, weight="hint") if set(o.shown_on) <= lines else o for o in events]


def _find_in_program(scan: Scan, events: Sequence[Observation], classes: LineClasses) -> Teardown:
    """The threads of libraries, exit hooks and destructors that failed behind the good end of `scan`, if the program did nothing
    further; where no such end is told, only the lines of what was printed and ignored."""
    failed = [o for o in events if IN_THREAD in o.fields and o.proofs and is_library_file(str(o.fields.get("file", "")))]
    ignored = [o for o in events if o.kind == IGNORED_TRACEBACK]
    if not failed and not ignored:
        return Teardown(events)
    tail = {line.number: line for line in scan.tail}
    blocks = {n for o in ignored if o.line in tail for n in _block(o.line, tail)}
    in_tail = all(o.proofs[0].line in tail for o in failed)
    if in_tail and (own := _behind_good_end(failed, blocks, tail, classes)):
        return Teardown(_without_cause(events, own), own)
    if failed and in_tail:
        return Teardown(events)
    calm = not any(_is_trouble(line.text, classes) for n, line in tail.items() if n not in blocks | ignored_lines(events))
    chained = frozenset(n for o in ignored if o.line in tail for n in _chained(o.line, tail))
    return Teardown(_without_cause(events, chained), frozenset(blocks | ignored_lines(events)) if calm else chained)


def _behind_good_end(
    failed: Sequence[Observation], ignored: Collection[int], tail: Mapping[int, Line], classes: LineClasses
) -> frozenset[int]:
    """The lines of the threads that `failed`, and those `ignored`, behind a good end with no other trouble or work behind it."""
    spanned = {n for o in failed for n in range(o.line, o.last_line + 1)}
    first = min(spanned, default=0) - MAX_THREAD_HEAD_LINES
    heads = {n for n, line in tail.items() if n >= first and (THREAD_PREFIX in line.text or TRACEBACK_HEAD in line.text)}
    bits = {n: classes.classify(unlabelled(line.text)) for n, line in tail.items()}
    last = max((o.proofs[0].line for o in failed), default=max(ignored, default=0))
    ends = [n for n, b in bits.items() if b & GOOD and not b & TROUBLE and n < last and n not in ignored]
    own = ((spanned | heads if failed else set()) | {n for n in ignored if n > max(ends, default=0)}) - set(ends)
    more = any(_shows_more(bits[n], tail[n]) for n in bits if n > max(ends, default=0) and n not in own)
    return frozenset() if more or not ends else frozenset(own)


def _is_trouble(text: str, classes: LineClasses) -> bool:
    """Has it a word of failure that is not told as a part of an orderly end: `INFO ... Terminating local worker processes`?"""
    bits = classes.classify(unlabelled(text))
    return bool(bits & TROUBLE and not bits & NOT_AN_END) and not (bits & SHUT_DOWN and is_low_severity(text))


def _block(head: int, tail: Mapping[int, Line]) -> range:
    """The numbers of the lines of the traceback at `head` and of its chain, with the line that says that it is ignored."""
    first = head - 1 if head - 1 in tail and any(said in tail[head - 1].text for said in (*IGNORED, *EXIT_HOOKS)) else head
    return range(first, _chained(head, tail).stop)


def _chained(head: int, tail: Mapping[int, Line]) -> range:
    """The numbers of the lines behind the exception of the traceback at `head`, to that of the last one of its chain."""
    last = head + 1
    while last in tail and unlabelled(tail[last].text)[:1].isspace():
        last += 1
    below = [n for n in range(last + 1, last + 1 + MAX_LINES_OF_CHAIN) if n in tail and unlabelled(tail[n].text).strip()]
    follows = len(below) > 1 and unlabelled(tail[below[0]].text).startswith(CHAIN) and TRACEBACK_HEAD in tail[below[1]].text
    return range(last + 1, _chained(below[1], tail).stop if follows else last + 1)


def _shows_more(bits: int, line: Line) -> bool:
    """Does a line behind the end show that the program went on, or failed otherwise?"""
    return bool(line.text.strip()) and bool(bits & PROGRESS or (bits & TROUBLE and not bits & NOT_AN_END))

"""Confirm a candidate line: does the signature's pattern match it, and what are its fields?

Nov 20 11:22:33 gpu07 kernel: thermal thermal_zone0: acpitz: critical temperature reached   -> a match, whatever the host's name
$ dmesg | grep -i "out of memory"                                                         -> no match: a command searches for it

The parts of a long text in which a pattern is searched for: around the places of the texts of which each match holds one.

"aaaa... NVRM: Xid ... aaaa"   ->   600 characters before NVRM: and 1,000 behind it; the rest is not looked at

Many patterns cost the square of the text they search. A text of ordinary length is searched as a whole.
"""

import functools
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from forensics.core import lazy, limits
from forensics.core.text import ascii_lower
from forensics.database.entries import Signature
from forensics.line_formats import unlabelled

if TYPE_CHECKING:
    import regex


WHOLE_CHARS = 2048  # chosen by hand: hardly a line of a log is longer, and so much costs little
BEFORE_CHARS = 600  # of an anchor: what a message has before one of its plain texts is shorter
BEHIND_CHARS = 1000  # the longest gap between two texts of a message has 320 characters, and few have three of them
START_CHARS = 200  # of a line: time, host, program, level
MAX_PLACES = 4  # at each end of the text: of a message that is repeated in one line, the first and the last ones tell


FROM_START = lazy.regex(r"(?:\(\?[a-z]+\))?(?:\^|\\A)")


def windows(folded: str, anchors: Sequence[str], pattern: str) -> list[tuple[int, int]]:
    """The parts of `folded`, in order and apart from each other, that hold one of `anchors` with what is around it.

    A `pattern` of the start of a line is tried from there alone, which costs little.
    """
    made: list[tuple[int, int]] = []
    for place in sorted({p for anchor in anchors for p in _places(folded, anchor)}):
        start, end = max(0, place - BEFORE_CHARS), min(len(folded), place + BEHIND_CHARS)
        if made and start <= made[-1][1]:
            made[-1] = made[-1][0], end
        else:
            made.append((start, end))
    return [(0, made[-1][1])] if made and FROM_START.match(pattern) else made


def around(text: str, start: int, end: int) -> str:
    """What is around text[start:end], with the start of `text`, where the prompt of a shell or a level would stand."""
    left = max(0, start - BEFORE_CHARS)
    return text[: min(left, START_CHARS)] + text[left : end + BEHIND_CHARS]


def _places(folded: str, anchor: str) -> Iterator[int]:
    at = -1
    for _ in range(MAX_PLACES):
        at = folded.find(anchor, at + 1)
        if at < 0:
            return
        yield at
    at = len(folded)
    for _ in range(MAX_PLACES):
        at = folded.rfind(anchor, 0, at + len(anchor) - 1)
        if at < 0:
            return
        yield at


# Time, host and program, as syslog and `journalctl` write them; a level at the position of the host is not a host.
SYSLOG_HOST_PATTERN = lazy.regex(
    r"^(?:<\d{1,3}>)?(?:\w{3,5}\.? +\d{1,2} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) "
    r"(?!(?i:info|warn(?:ing)?|err(?:or)?|debug|critical|fatal|notice|trace)\b)([\w.-]{1,64}) "
    r"(?=[\w./@-]{1,64}(?:\[\d{1,9}\])?: )"
)
# A quoted text for which a command searches a log; it may find nothing.
SOUGHT = lazy.regex(r"\b[efz]?grep(?:\s{1,4}-[\w=-]{1,31}){0,8}\s{1,4}([\"'])(.{1,300}?)\1")


START_OF_LINE_PATTERN = lazy.regex(r"\\A|(?<![\\\[])\^")  # in a pattern: what asks for the start of the line
ASSUMED_BUSY_S = 0.001  # chosen by hand: in so little time a thread is hardly ever interrupted
MIN_CONFIRMED_LINES = 64  # of a flood; from there on the texts of vetoes are looked for before their patterns
Veto = tuple[tuple[str, ...], "regex.Pattern[str]"]  # texts of which one stands in each match, none for any text


def _anchors(pattern: str) -> tuple[str, ...]:
    from forensics.database.anchors import NoAnchorError, anchors_of

    try:
        return anchors_of(pattern)
    except NoAnchorError:
        return ()


@functools.cache
def compiled(pattern: str) -> "regex.Pattern[str]":
    """`pattern`, compiled once per process. Only patterns with a candidate line are compiled."""
    return lazy.compiled_with_timeout(pattern)


def without_host(line: str) -> str:
    """`line` without the host in a syslog prefix: a host name such as gpu07 or build-3 must not match a veto."""
    head = SYSLOG_HOST_PATTERN.match(line)
    return line if head is None else line[: head.start(1)] + line[head.end(1) :]


def is_sought(line: str, start: int, end: int) -> bool:
    """Are the characters from `start` to `end` of `line` part of the text that a `grep` in that line searches for?"""
    return "grep" in line and any(s.start(2) <= start and end <= s.end(2) for s in SOUGHT.finditer(line))


class Clock:
    """The processor time of this thread, asked for only now and then: asking takes longer than most searches.

    `at`, `read`: when it was asked for last, and what it was. On a busy machine a search of microseconds may be interrupted for
    many milliseconds, which are not its own; it is charged with what the thread did since then, ASSUMED_BUSY_S too much at most.
    """

    __slots__ = ("at", "read")

    def __init__(self) -> None:
        self.at, self.read = time.perf_counter(), time.thread_time()

    def begin(self) -> float:
        """The time at which a search begins."""
        now = time.perf_counter()
        if now - self.at > ASSUMED_BUSY_S:
            self.at, self.read = now, time.thread_time()
        return now

    def spent(self, begun: float) -> float:
        """The processor time since `begun`, never less than it."""
        now = time.perf_counter()
        if now - begun < ASSUMED_BUSY_S:
            return now - begun
        self.at, before, self.read = now, self.read, time.thread_time()
        return min(now - begun, self.read - before)


class Allowance:
    """The processor time that searches in one line may take; TimeoutError is raised when nothing is left."""

    __slots__ = ("clock", "left")

    def __init__(self, seconds: float, clock: Clock) -> None:
        self.left, self.clock = seconds, clock

    def search(
        self, pattern: "regex.Pattern[str]", line: str, start: int = 0, end: int | None = None, fixed: bool = False
    ) -> "regex.Match[str] | None":
        """The first match of `pattern` in line[start:end]; if `fixed`, only one that begins at `start`."""
        if self.left <= 0:
            raise TimeoutError
        run = pattern.match if fixed else pattern.search
        begun = self.clock.begin()
        try:
            return run(line, start, end, timeout=self.left)
        finally:
            self.left -= self.clock.spent(begun)


class Found(Struct, frozen=True):
    """A confirmed line: the fields of the match, and the characters from `span[0]` to `span[1]` of the line that it takes up."""

    fields: dict[str, str]
    span: tuple[int, int]


def _found(match: "regex.Match[str]", offset: int = 0) -> Found:
    start, end = match.span()
    return Found({k: v for k, v in match.groupdict().items() if v is not None}, (start + offset, end + offset))


class Confirmer:
    """A signature that is prepared to confirm lines. It raises TimeoutError for a line that takes longer than it may."""

    __slots__ = ("anchors", "at_start", "confirmed", "pattern", "signature", "vetoes")

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.anchors = signature.anchors
        self.pattern: regex.Pattern[str] | None = None  # compiled when it is first searched for, as the vetoes are
        self.vetoes: list[Veto] = []
        self.at_start = START_OF_LINE_PATTERN.search(signature.pattern) is not None
        self.confirmed = 0  # lines on which the pattern was found, where there are vetoes

    def search(self, line: str, allowance: Allowance | None = None) -> Found | None:
        """The match in `line`; None if the pattern is not found, is only searched for by a command, or a veto matches.

        A pattern that asks for the start of the line is content with the start of what the program wrote, behind the label of a
        launcher or a collector. `allowance`: what all searches together may take, `limits.confirm` if it is not given. Of a long
        line, only what is around the anchors is searched.
        """
        allowance = allowance or Allowance(limits.current.confirm, Clock())
        found = self._search(line, allowance)
        if found is None and self.at_start:
            said = unlabelled(line)
            if len(said) < len(line):
                found = self._search(said, allowance, len(line) - len(said))
        if found is None or not self.signature.unless:
            return found
        said = line if len(line) <= WHOLE_CHARS else around(line, *found.span)
        return None if self._is_vetoed(without_host(unlabelled(said)), allowance) else found

    def first(self, line: str, allowance: Allowance, begin: int = 0) -> "regex.Match[str] | None":
        """The first match in `line` from character `begin` on."""
        pattern = self.pattern = self.pattern or compiled(self.signature.pattern)
        if len(line) <= WHOLE_CHARS:
            return allowance.search(pattern, line, begin)
        for start, end in windows(ascii_lower(line), self.anchors, pattern.pattern):
            if end <= begin:
                continue
            found = allowance.search(pattern, line, max(start, begin), end)
            if found is not None and found.end() == end:  # it may go on behind the part
                found = allowance.search(pattern, line, found.start(), fixed=True)
            if found is not None:
                return found
        return None

    def _search(self, text: str, allowance: Allowance, offset: int = 0) -> Found | None:
        found = self.first(text, allowance)
        if found is not None and is_sought(text, *found.span()):  # what the command prints may stand behind it
            found = self.first(text, allowance, found.end())
        return _found(found, offset) if found else None

    def _is_vetoed(self, said: str, allowance: Allowance) -> bool:
        self.vetoes = self.vetoes or [((), compiled(veto)) for veto in self.signature.unless]
        self.confirmed += 1
        if self.confirmed == MIN_CONFIRMED_LINES:
            self.vetoes = [(_anchors(veto), compiled(veto)) for veto in self.signature.unless]
        folded = ascii_lower(said)
        for anchors, veto in self.vetoes:
            if (not anchors or any(map(folded.__contains__, anchors))) and allowance.search(veto, said):
                return True
        return False

    def fields(self, line: str) -> dict[str, str] | None:
        """The fields of the match in one line, as in a scan; None unless an anchor occurs and the pattern matches."""
        folded = ascii_lower(line)
        if not any(a in folded for a in self.anchors):
            return None
        found = self.search(line)
        return None if found is None else found.fields

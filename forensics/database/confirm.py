"""Confirm a candidate line: does the signature's pattern match it, and what are its fields?

Nov 20 11:22:33 gpu07 kernel: thermal thermal_zone0: acpitz: critical temperature reached   -> a match, whatever the host's name
$ dmesg | grep -i "out of memory"                                                         -> no match: a command searches for it
"""

import functools
import time
from typing import TYPE_CHECKING

from forensics.core import lazy, limits
from forensics.core.text import ascii_lower
from forensics.database.entries import Signature

if TYPE_CHECKING:
    import regex

# Time, host and program, as syslog and `journalctl` write them; a level at the position of the host is not a host.
SYSLOG_HOST_PATTERN = lazy.regex(
    r"^(?:<\d{1,3}>)?(?:\w{3,5}\.? +\d{1,2} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) "
    r"(?!(?i:info|warn(?:ing)?|err(?:or)?|debug|critical|fatal|notice|trace)\b)([\w.-]{1,64}) "
    r"(?=[\w./@-]{1,64}(?:\[\d{1,9}\])?: )"
)
# A quoted text for which a command searches a log; it may find nothing.
SOUGHT = lazy.regex(r"\b[efz]?grep(?:\s{1,4}-{1,2}[\w=-]{1,30}){0,8}\s{1,4}([\"'])(.{1,300}?)\1")


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
    import regex  # takes 10 ms, and a log without a candidate line needs none

    return regex.compile(pattern)


def without_host(line: str) -> str:
    """`line` without the host in a syslog prefix: a host name such as gpu07 or build-3 must not match a veto."""
    head = SYSLOG_HOST_PATTERN.match(line)
    return line if head is None else line[: head.start(1)] + line[head.end(1) :]


def is_sought(line: str, start: int, end: int) -> bool:
    """Are the characters from `start` to `end` of `line` part of the text that a `grep` in that line searches for?"""
    return "grep" in line and any(s.start(2) <= start and end <= s.end(2) for s in SOUGHT.finditer(line))


class Allowance:
    """The processor time that searches in one line may take; TimeoutError is raised when nothing is left."""

    __slots__ = ("left",)

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    def search(self, pattern: "regex.Pattern[str]", line: str, start: int = 0) -> "regex.Match[str] | None":
        """The first match of `pattern` in `line` from character `start` on."""
        if self.left <= 0:
            raise TimeoutError
        begun = time.thread_time()
        try:
            return pattern.search(line, start, timeout=self.left)
        finally:
            self.left -= time.thread_time() - begun


class Confirmer:
    """A signature that is prepared to confirm lines. It raises TimeoutError for a line that takes longer than it may."""

    __slots__ = ("anchors", "confirmed", "pattern", "signature", "vetoes")

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.anchors = signature.anchors
        self.pattern: regex.Pattern[str] | None = None  # compiled when it is first searched for, as the vetoes are
        self.vetoes: list[Veto] = []
        self.confirmed = 0  # lines on which the pattern was found, where there are vetoes

    def search(self, line: str, allowance: Allowance | None = None) -> "regex.Match[str] | None":
        """The match in `line`; None if the pattern is not found, is only searched for by a command, or a veto matches.

        `allowance`: what all searches together may take, `limits.confirm` if it is not given.
        """
        pattern = self.pattern = self.pattern or compiled(self.signature.pattern)
        allowance = allowance or Allowance(limits.current.confirm)
        found = allowance.search(pattern, line)
        if found is not None and is_sought(line, *found.span()):  # what the command prints may stand behind it
            found = allowance.search(pattern, line, found.end())
        if found is None or not self.signature.unless:
            return found
        return None if self._is_vetoed(without_host(line), allowance) else found

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
        return None if found is None else {k: v for k, v in found.groupdict().items() if v is not None}

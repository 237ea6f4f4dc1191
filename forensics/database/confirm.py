"""Confirms a candidate line: does this signature's pattern really stand in it, and what are its fields?

Nov 20 11:22:33 gpu07 kernel: thermal thermal_zone0: acpitz: critical temperature reached   -> speaks, whatever the host's name
$ dmesg | grep -i "out of memory"                                                         -> says nothing: it is looked for
"""

import functools

import regex

from forensics.core import lazy, limits
from forensics.core.text import ascii_lower
from forensics.database.entries import Signature

# Time, host and program, as syslog and `journalctl` write them; a level in the host's place is none.
SYSLOG_HOST_PATTERN = lazy.regex(
    r"^(?:<\d{1,3}>)?(?:\w{3,5}\.? +\d{1,2} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) "
    r"(?!(?i:info|warn(?:ing)?|err(?:or)?|debug|critical|fatal|notice|trace)\b)([\w.-]{1,64}) "
    r"(?=[\w./@-]{1,64}(?:\[\d{1,9}\])?: )"
)
# What a command looks for in a log, in quotes; it may find nothing.
SOUGHT = lazy.regex(r"\b[efz]?grep(?:\s{1,4}-{1,2}[\w=-]{1,30}){0,8}\s{1,4}([\"'])(.{1,300}?)\1")


@functools.cache
def compiled(pattern: str) -> "regex.Pattern[str]":
    """`pattern` compiled once for the process; only patterns with a candidate line are ever compiled."""
    return regex.compile(pattern)


def without_host(line: str) -> str:
    """`line` without the host's name in a syslog head: no veto is meant for a machine that is called gpu07 or build-3."""
    head = SYSLOG_HOST_PATTERN.match(line)
    return line if head is None else line[: head.start(1)] + line[head.end(1) :]


def is_sought(line: str, start: int, end: int) -> bool:
    """Do the characters from `start` to `end` of `line` stand in what a `grep` of that line looks for?"""
    return "grep" in line and any(s.start(2) <= start and end <= s.end(2) for s in SOUGHT.finditer(line))


class Confirmer:
    """A signature made ready to confirm lines; raises TimeoutError past `limits.confirm` seconds a pattern."""

    __slots__ = ("anchors", "pattern", "signature", "vetoes")

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.anchors = signature.anchors
        self.pattern: regex.Pattern[str] | None = None  # compiled when it is first searched for, as the vetoes are
        self.vetoes: list[regex.Pattern[str]] = []

    def search(self, line: str) -> "regex.Match[str] | None":
        """The match in `line`, or None where the pattern is not found, is only looked for, or a veto is found."""
        pattern = self.pattern = self.pattern or compiled(self.signature.pattern)
        seconds = limits.current.confirm
        found = pattern.search(line, timeout=seconds)
        if found is not None and is_sought(line, *found.span()):  # what the command prints may stand behind it
            found = pattern.search(line, found.end(), timeout=seconds)
        if found is None or not self.signature.unless:
            return found
        self.vetoes = self.vetoes or [compiled(veto) for veto in self.signature.unless]
        said = without_host(line)
        for veto in self.vetoes:
            if veto.search(said, timeout=seconds):
                return None
        return found

    def fields(self, line: str) -> dict[str, str] | None:
        """As the scanner would answer for one line: None unless an anchor occurs and the pattern confirms."""
        folded = ascii_lower(line)
        if not any(a in folded for a in self.anchors):
            return None
        found = self.search(line)
        return None if found is None else {k: v for k, v in found.groupdict().items() if v is not None}

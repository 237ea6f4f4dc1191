"""Confirms a candidate line: does this signature's pattern really stand in it, and what are its fields?

Nov 20 11:22:33 gpu07 kernel: thermal thermal_zone0: acpitz: critical temperature reached   -> speaks, whatever the host's name
"""

import functools

import regex

from forensics import lazy, limits
from forensics.database.entries import Signature

# Time, host and program, as syslog and `journalctl` write them; a level in the host's place is none.
HOST = lazy.regex(
    r"^(?:<\d{1,3}>)?(?:\w{3,5}\.? +\d{1,2} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) "
    r"(?!(?i:info|warn(?:ing)?|err(?:or)?|debug|critical|fatal|notice|trace)\b)([\w.-]{1,64}) "
    r"(?=[\w./@-]{1,64}(?:\[\d{1,9}\])?: )"
)


@functools.cache
def compiled(pattern: str) -> "regex.Pattern[str]":
    """`pattern` compiled once for the process; only patterns with a candidate line are ever compiled."""
    return regex.compile(pattern)


def without_host(line: str) -> str:
    """`line` without the host's name in a syslog head: no veto is meant for a machine that is called gpu07 or build-3."""
    head = HOST.match(line)
    return line if head is None else line[: head.start(1)] + line[head.end(1) :]


class Confirmer:
    """A signature made ready to confirm lines; raises TimeoutError past `limits.confirm` seconds a pattern."""

    __slots__ = ("anchors", "signature")

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.anchors = tuple(a.lower() for a in signature.anchors)

    def search(self, line: str) -> "regex.Match[str] | None":
        """The match in `line`, or None where the pattern is not found or a veto is."""
        found = compiled(self.signature.pattern).search(line, timeout=limits.current.confirm)
        if found is None or not self.signature.unless:
            return found
        said = without_host(line)
        vetoed = any(compiled(veto).search(said, timeout=limits.current.confirm) for veto in self.signature.unless)
        return None if vetoed else found

    def fields(self, line: str) -> dict[str, str] | None:
        """As the scanner would answer for one line: None unless an anchor occurs and the pattern confirms."""
        folded = line.lower()
        if not any(a in folded for a in self.anchors):
            return None
        found = self.search(line)
        return None if found is None else {k: v for k, v in found.groupdict().items() if v is not None}

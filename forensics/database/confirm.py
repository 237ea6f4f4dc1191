"""Confirms a candidate line: does this signature's pattern really stand in it, and what are its fields?"""

import functools

import regex

from forensics import limits
from forensics.database.entries import Signature


@functools.cache
def compiled(pattern: str) -> "regex.Pattern[str]":
    """`pattern` compiled once for the process; only patterns with a candidate line are ever compiled."""
    return regex.compile(pattern)


class Confirmer:
    """A signature made ready to confirm lines; raises TimeoutError past `limits.confirm` seconds a pattern."""

    __slots__ = ("anchors", "signature")

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.anchors = tuple(a.lower() for a in signature.anchors)

    def search(self, line: str) -> "regex.Match[str] | None":
        """The match in `line`, or None where the pattern is not found or a veto is."""
        found = compiled(self.signature.pattern).search(line, timeout=limits.current.confirm)
        if found is None:
            return None
        for veto in self.signature.unless:
            if compiled(veto).search(line, timeout=limits.current.confirm):
                return None
        return found

    def fields(self, line: str) -> dict[str, str] | None:
        """As the scanner would answer for one line: None unless an anchor occurs and the pattern confirms."""
        folded = line.lower()
        if not any(a in folded for a in self.anchors):
            return None
        found = self.search(line)
        return None if found is None else {k: v for k, v in found.groupdict().items() if v is not None}

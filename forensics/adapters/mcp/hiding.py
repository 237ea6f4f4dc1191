"""Mask secrets, and replace names by stand-ins that stay the same for a session: host-1 of one answer is host-1 of the next."""

from __future__ import annotations

from collections.abc import Iterable

from forensics.api import Report
from forensics.report import with_stand_ins
from forensics.report.redaction.names import Names
from forensics.report.redaction.secrets import mask_text, swept


class Redactor:
    """Redacts the answers of a session. `names`: names are shown; secrets never are."""

    def __init__(self, names: bool = False) -> None:
        self.names = names
        self._known = Names.among([], [])
        self._secrets: dict[str, str] = {}  # so far, with their masks

    def text(self, text: str) -> str:
        """`text` without secrets and, unless names are shown, without names."""
        lines = [swept(mask_text(line, self._secrets), self._secrets) for line in text.split("\n")]
        if not self.names:
            self._learn([], lines)
            lines = [self._known.hide(line) for line in lines]
        return "\n".join(lines)

    def report(self, report: Report) -> None:
        """Learn the names of a report: its records have more of them than its text."""
        if not self.names:
            self._learn(_pairs(with_stand_ins(report, folder=False)[1]), [])

    def revealed(self, path: str) -> str:
        """A path that an agent took from an answer, with the names for which its stand-ins stand."""
        known = self._known.key()
        for stand_in in sorted(known, key=len, reverse=True):
            path = path.replace(stand_in, known[stand_in])
        return path

    def _learn(self, pairs: Iterable[tuple[str, str]], lines: Iterable[str]) -> None:
        self._known = Names.among([*_pairs(self._known.key()), *pairs], lines)  # the old ones first: each keeps its number


def _pairs(key: dict[str, str]) -> list[tuple[str, str]]:
    """A key of stand-ins as kinds and names: {"host-1": "gpu17"} -> [("host", "gpu17")]."""
    return [(stand_in.rpartition("-")[0], name) for stand_in, name in key.items()]

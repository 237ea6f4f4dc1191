"""Shorten the names of sources: the folder that they share is named once.

data/jobs/4711/node1/dmesg.log, data/jobs/4711/node2/dmesg.log -> in data/jobs/4711/: node1/dmesg.log, node2/dmesg.log
"""

from collections.abc import Sequence

from msgspec import Struct

from forensics.model import Report

MIN_FOLDER_CHARS = 16  # chosen by hand: a shorter folder is repeated in each name


class Paths(Struct, frozen=True):
    """`shared`: the folder left out of every name, ending in `/`; empty if names are not shortened."""

    shared: str = ""

    @classmethod
    def of(cls, report: Report) -> "Paths":
        """The folder that all sources of `report` share."""
        return cls.among([s.name for s in report.sources] or [p.source for f in report.causes for p in f.evidence])

    @classmethod
    def among(cls, names: Sequence[str]) -> "Paths":
        """The folder that all of `names` share."""
        return cls(_shared(names))

    def short(self, name: str) -> str:
        """`name` without the folder."""
        return name.removeprefix(self.shared)

    def place(self, name: str, line: int) -> str:
        """`name:line`, short."""
        return f"{self.short(name)}:{line}"

    def within(self, text: str) -> str:
        """`text` with the names in it shortened."""
        return text.replace(self.shared, "") if self.shared else text


def _shared(names: Sequence[str]) -> str:
    folders = [name.split("/")[:-1] for name in names]
    if not folders:
        return ""
    shared: list[str] = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    folder = "/".join(shared) + "/" if shared else ""
    return folder if len(folder) > MIN_FOLDER_CHARS else ""

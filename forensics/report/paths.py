"""Shorten the names of sources: the folder that they share is named once; without one, each loses what it can.

data/jobs/4711/node1/dmesg.log, data/jobs/4711/node2/dmesg.log -> in data/jobs/4711/: node1/dmesg.log, node2/dmesg.log
/var/log/kern.log, /home/user/projects/run7/train.log           -> kern.log, train.log
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from forensics.model import Report

MIN_FOLDER_CHARS = 16  # chosen by hand: a shorter folder is repeated in each name
MIN_SHORTENED_CHARS = 24  # chosen by hand: beside a name of that length a line of a log has room enough


class Paths(Struct, frozen=True):
    """`shared`: the folder left out of every name, ending in `/`; empty if there is none. `names`: what is left of each name."""

    shared: str = ""
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, report: Report) -> "Paths":
        """The folder that all sources of `report` share."""
        return cls.among([s.name for s in report.sources] or [p.source for f in report.causes for p in f.evidence])

    @classmethod
    def among(cls, names: Sequence[str]) -> "Paths":
        """The folder that all of `names` share; without one, the shortest end of each name that no other name has."""
        folder = _shared(names)
        is_long = not folder and max(map(len, names), default=0) > MIN_SHORTENED_CHARS
        return cls(folder, _shortest_ends(names) if is_long else {})

    def short(self, name: str) -> str:
        """`name` without the folder."""
        return self.names.get(name) or name.removeprefix(self.shared)

    def place(self, name: str, line: int) -> str:
        """`name:line`, short."""
        return f"{self.short(name)}:{line}"

    def within(self, text: str) -> str:
        """`text` with the names in it shortened."""
        for name, short in self.names.items():
            text = text.replace(name, short)
        return text.replace(self.shared, "") if self.shared else text


def _shortest_ends(names: Sequence[str]) -> dict[str, str]:
    """The shortest end of each name, in whole parts, that is the end of no other name."""
    left = dict.fromkeys(names, 1)
    while True:
        ends = {name: "/".join(name.split("/")[-parts:]) for name, parts in left.items()}
        times = Counter(ends.values())
        alike = [name for name, end in ends.items() if times[end] > 1 and left[name] < len(name.split("/"))]
        if not alike:
            return ends
        left |= {name: left[name] + 1 for name in alike}


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

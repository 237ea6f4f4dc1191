"""The subject, which is what the user asks about: the job, the notebook, or the machine where only logs of hosts were given.

train.log, dmesg.txt    -> the job that wrote train.log; dmesg.txt is the log of its host
dmesg.txt               -> the machine
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field

from forensics.correlation.file_names import FileNameIds, ids_of_file_name
from forensics.model import SourceSummary
from forensics.model.verdicts import Entity, Lane, LaneKind
from forensics.outcome.lanes import HOST_FORMATS, SLURM_DAEMON_LOG

OWN_KINDS: tuple[LaneKind, ...] = ("job", "notebook")


class Subject(Struct, frozen=True):
    """The job, notebook or machine that the verdict is about.

    `own`: names of the sources that it wrote; all sources where they are all of one kind. `starts`, `ends`: first and last known
    time of each of these. `pids`: its processes, as far as its logs name them. `machine`: only logs of hosts were given.
    `lanes`: of all sources, by name. `hosts`: those that its own lines name.
    """

    own: frozenset[str]
    starts: Mapping[str, datetime | None]
    ends: Mapping[str, datetime | None]
    pids: frozenset[int]
    machine: bool
    lanes: Mapping[str, tuple[Lane, ...]] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()

    @property
    def named(self) -> list[FileNameIds]:
        """The ids in the names of its own files."""
        return [ids_of_file_name(name) for name in self.own]

    @property
    def has_host_log(self) -> bool:
        """Was a log of a host given in addition to its own?"""
        return len(self.lanes) > len(self.own)

    def own_lanes(self) -> list[Lane]:
        """The lanes that the subject wrote: those of programs in its own sources. For a machine its kernel's, else the largest.

        A host has a hundred services, and one of them always ends with an error.
        """
        found = [lane for name in sorted(self.own) for lane in self.lanes.get(name, ())]
        if self.machine:
            kernel = [lane for lane in found if lane.kind == "kernel"]
            return kernel or sorted(found, key=lambda lane: -lane.digest.lines)[:1]
        jobs = [lane for lane in found if lane.kind in OWN_KINDS]
        return jobs or found

    def last_attempt_lines(self) -> dict[str, int]:
        """Of each of its own sources, the first line of the last attempt; of several programs in it, of the earliest such."""
        starts: dict[str, int] = dict.fromkeys(self.own, 1)
        for name in self.own:
            lanes = [lane for lane in self.own_lanes() if lane.source == name and lane.attempts]
            starts[name] = min((lane.attempts[-1].first_line for lane in lanes), default=1)
        return starts

    def main_lane(self) -> Lane | None:
        """The own lane with most lines."""
        return max(self.own_lanes(), key=lambda lane: lane.digest.lines, default=None)

    def end(self) -> datetime | None:
        """The latest known time of its own logs."""
        return max((t for t in self.ends.values() if t), default=None)

    def start(self) -> datetime | None:
        """The earliest known time of its own logs; None where one of them has none."""
        return None if not self.starts or None in self.starts.values() else min(t for t in self.starts.values() if t)

    def entity(self) -> Entity:
        """Its name for people."""
        if self.machine:
            return Entity("machine", "")
        lane = self.main_lane()
        jobs = sorted({n.job for n in self.named if n.job})
        if jobs:
            return Entity("job", " and ".join(jobs[:3]))
        if lane and lane.kind == "notebook":
            return Entity("notebook", lane.source)
        return Entity("job", lane.source if lane else "")


def find_subject(
    summaries: Iterable[SourceSummary], lanes: Mapping[str, tuple[Lane, ...]], pids: Mapping[str, frozenset[int]]
) -> Subject:
    """The subject of these sources. `lanes`, `pids`: by source."""
    every = list(summaries)
    own = [s for s in every if not s.format.startswith(HOST_FORMATS) and not SLURM_DAEMON_LOG.search(s.name)]
    machine = not own
    own = own or every
    return Subject(
        own=frozenset(s.name for s in own),
        starts={s.name: s.first_time for s in own},
        ends={s.name: s.last_time for s in own},
        pids=frozenset(p for s in own for p in pids.get(s.name, ())),
        machine=machine,
        lanes=lanes,
    )

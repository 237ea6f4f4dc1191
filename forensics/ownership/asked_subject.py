"""The subject is what the user asks about: the job, the notebook, or the machine if only logs of hosts were given.

train.log, dmesg.txt    -> the job that wrote train.log; dmesg.txt is the log of its host
run1.log, run2.log      -> the run that wrote run2.log; the earlier run is an attempt before it
dmesg.txt               -> the machine

Runs of one program that wrote logs of their own, one after the other, are told apart by names and times.

train_23448290.out, train_23451530.out                                            -> a run each, by the numbers of their jobs
slurm-4711.out, slurm-4712_1.out, slurm-4712_2.out                                -> two runs; the last one is an array of tasks
run1.log 10:00 to 10:20, run2.log 11:00 to 11:30, both begin "starting train.py"  -> {run1.log}, {run2.log}
rank0.log, rank1.log, both 10:00 to 10:20                                         -> one run: at the same time
train.log.1 "starting train.py", train.log "step 700 loss 0.3"                    -> one run, whose log was rotated
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from forensics.model import Incident, SourceSummary
from forensics.model.verdicts import Entity, Lane, LaneKind
from forensics.readers.capture.captured_end import CapturedRun
from forensics.readers.identity.entity_ids import FileNameIds, ids_of_file_name
from forensics.readers.lanes.lane_rows import HOST_FORMATS, SLURM_DAEMON_LOG

OWN_KINDS: tuple[LaneKind, ...] = ("job", "notebook")


class Subject(Struct, frozen=True, dict=True):  # a folder of thousands of logs is asked for its times with each event
    """The job, notebook or machine that the verdict is about.

    `own`: names of the sources that it wrote; for a machine all sources. `starts`, `ends`: first and last known time of each of
    these. `pids`: its processes, as far as its logs name them. `machine`: only logs of hosts were given. `lanes`: of all sources,
    by name. `hosts`: those that its own lines name. `earlier`: the runs of the same program before it, in order. `other_runs`:
    names of the sources that other runs wrote. `captured`: what captures say of its runs, one for each node of a job.
    """

    own: frozenset[str]
    starts: Mapping[str, datetime | None]
    ends: Mapping[str, datetime | None]
    pids: frozenset[int]
    machine: bool
    lanes: Mapping[str, tuple[Lane, ...]] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()
    earlier: tuple["Subject", ...] = ()
    other_runs: frozenset[str] = frozenset()
    captured: tuple[CapturedRun, ...] = ()

    @property
    def named(self) -> list[FileNameIds]:
        """The ids in the names of its own files."""
        return [ids_of_file_name(name) for name in self.own]

    @property
    def has_host_log(self) -> bool:
        """Was a log of a host given in addition to its own?"""
        return len(self.lanes) > len(self.own) + len(self.other_runs)

    def own_lanes(self) -> list[Lane]:
        """The lanes that the subject wrote: those of jobs and notebooks in its own sources. For a machine the kernel's lanes, or
        the largest lane.

        A host has a hundred services, and one of them always ends with an error.
        """
        found = [lane for name in sorted(self.own) for lane in self.lanes.get(name, ())]
        if self.machine:
            kernel = [lane for lane in found if lane.kind == "kernel"]
            return kernel or sorted(found, key=lambda lane: -lane.digest.lines)[:1]
        jobs = [lane for lane in found if lane.kind in OWN_KINDS]
        return jobs or found

    def last_attempt_lines(self) -> dict[str, int]:
        """Of each of its own sources, the first line of the last attempt; if several programs write it, the smallest one."""
        starts: dict[str, int] = dict.fromkeys(self.own, 1)
        of_source: dict[str, list[int]] = defaultdict(list)
        for lane in self.own_lanes():
            if lane.attempts:
                of_source[lane.source].append(lane.attempts[-1].first_line)
        return starts | {name: min(of_source[name]) for name in self.own if name in of_source}

    def main_lane(self) -> Lane | None:
        """The own lane with most lines."""
        return max(self.own_lanes(), key=lambda lane: lane.digest.lines, default=None)

    @cached_property
    def end(self) -> datetime | None:
        """The latest known time of its own logs."""
        return max((t for t in self.ends.values() if t), default=None)

    @cached_property
    def start(self) -> datetime | None:
        """When its captured commands started, else the earliest known time of its own logs; None if one of them has no time."""
        if self.captured:
            moments = [run.started for run in self.captured if run.started]
            return min(moments) if len(moments) == len(self.captured) else None
        return None if not self.starts or None in self.starts.values() else min(t for t in self.starts.values() if t)

    def entity(self) -> Entity:
        """Its kind and its name for the reader."""
        if self.machine:
            return Entity("machine", "")
        lane = self.main_lane()
        jobs = sorted({n.job for n in self.named if n.job})
        if jobs:
            return Entity("job", " and ".join(jobs[:3]))
        if lane and lane.kind == "notebook":
            return Entity("notebook", lane.source)
        return Entity("job", lane.source if lane else "")


MAX_KNOWN_RUNS = 100  # chosen by hand: the last ones; each of thousands would hold the names of all others


def find_subject(
    summaries: Iterable[SourceSummary],
    lanes: Mapping[str, tuple[Lane, ...]],
    pids: Mapping[str, frozenset[int]],
    head: Callable[[str], Sequence[str]] = lambda _name: (),
    captured: Mapping[str, CapturedRun] = MappingProxyType({}),
) -> Subject:
    """The subject of these sources. `lanes`, `pids`, `head` (the first lines), `captured`: by source."""
    every = list(summaries)
    own = [s for s in every if not s.format.startswith(HOST_FORMATS) and not _is_of_scheduler(s.name, lanes.get(s.name, ()))]
    if not own:
        return _subject(every, frozenset(s.name for s in every), lanes, pids, machine=True)
    runs = separate_runs(own, head)
    found = [_subject(own, names, lanes, pids, captured=captured) for names in runs[-MAX_KNOWN_RUNS:]]
    return replace(found[-1], earlier=tuple(found[:-1]))


def _is_of_scheduler(name: str, lanes: Sequence[Lane]) -> bool:
    """Is it the log of a scheduler's daemon? Its own program has the kind of lane then."""
    return bool(SLURM_DAEMON_LOG.search(name)) or any(x.kind == "scheduler" and x.entity == Entity("job", name) for x in lanes)


def _subject(
    summaries: Sequence[SourceSummary],
    names: frozenset[str],
    lanes: Mapping[str, tuple[Lane, ...]],
    pids: Mapping[str, frozenset[int]],
    machine: bool = False,
    captured: Mapping[str, CapturedRun] = MappingProxyType({}),
) -> Subject:
    """The subject that wrote the sources `names`; other runs wrote the others of `summaries`."""
    own = [s for s in summaries if s.name in names]
    return Subject(
        own=names,
        starts={s.name: s.first_time for s in own},
        ends={s.name: s.last_time for s in own},
        pids=frozenset(p for name in names for p in pids.get(name, ())),
        machine=machine,
        lanes=lanes,
        other_runs=frozenset(s.name for s in summaries) - names,
        captured=tuple(captured[name] for name in sorted(names) if name in captured),
    )


def subject_of(incident: Incident, asked: Subject) -> Subject:
    """`asked`, or, if none of its own logs has a line of `incident`, the latest earlier run that has one."""
    sources = {o.source for o in incident.events}
    return next((run for run in (asked, *reversed(asked.earlier)) if run.own & sources), asked)


DIGITS = re.compile(r"\d+")
ROTATED_SUFFIX = re.compile(r"[.](?:\d{1,3}|old|prev|bak)$")  # the log of an earlier run, or an earlier part of this run's log
DAY_IN_NAME = re.compile(
    r"(?<!\d)(?:19|20)\d\d-?[01]\d-?[0-3]\d(?![\d_T]|-\d)"
)  # a date without a time names one part of a longer log
MAX_PID = 1 << 22  # of Linux; a greater number in a name is a job's, or the second or minute of its start
ARRAY_TASK = re.compile(r"(?<=#)_\d{1,7}(?=[.]|$)")  # or a rank, behind the number of a job
HEAD_ROWS = 3  # a program prints its first lines again when it is started again
MIN_HEAD_WORDS = 2  # a shorter row (`[`, `{`, `loading`) may begin any log
WORD = re.compile(r"[^\W\d]{2,}")


def separate_runs(own: Sequence[SourceSummary], head: Callable[[str], Sequence[str]]) -> list[frozenset[str]]:
    """The names of the sources `own`, by run, in order; a source of no known run counts to the last run.

    Runs are separated if their names differ in numbers only, and either these are the numbers of jobs, or all times are known, no
    run begins before the one before it has ended, and all begin with the same row, which occurs only once in each. `head`: the
    first lines of a source, by its name.
    """
    if len(by_job := _by_job(own)) > 1:
        return by_job
    families: dict[str, list[SourceSummary]] = defaultdict(list)
    for source in own:
        if not DAY_IN_NAME.search(source.name):
            families[DIGITS.sub("#", ROTATED_SUFFIX.sub("", source.name))].append(source)
    for family in sorted(families.values(), key=len, reverse=True):
        runs = _one_after_the_other(family) if len(family) > 1 else []
        if len(runs) > 1 and _begin_alike(runs, head):
            return _with_others(runs, own)
    return [frozenset(source.name for source in own)]


def _job(name: str) -> str:
    """The number of the job, or the second of its start, in the name of its log; empty if there is none."""
    ids = ids_of_file_name(name)
    return (
        ids.job or ids.array or max((n for n in DIGITS.findall(name.rpartition("/")[2]) if int(n) > MAX_PID), key=int, default="")
    )


def _by_job(own: Sequence[SourceSummary]) -> list[frozenset[str]]:
    """The names by run, if they differ in the number of a job only: those of all jobs but the last are earlier runs, in order.

    `rank0_1755831600.log` and `rank1_1755831602.log` differ in more: they are of one run, whose ranks started seconds apart.
    """
    families: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for source in own:
        if not DAY_IN_NAME.search(source.name) and (job := _job(source.name)):
            families[ARRAY_TASK.sub("", source.name.replace(job, "#"))][int(job)].append(source.name)
    earlier: dict[int, set[str]] = defaultdict(set)
    for family in families.values():
        for number in sorted(family)[:-1]:
            earlier[number] |= set(family[number])
    rest = frozenset(s.name for s in own).difference(*earlier.values())
    return [*(frozenset(earlier[number]) for number in sorted(earlier)), rest]


def _one_after_the_other(family: Sequence[SourceSummary]) -> list[list[str]]:
    """The names of the sources in order of time, those with overlapping times together; empty if a time is unknown."""
    known = [(s.first_time, s.last_time, s.name) for s in family if s.first_time and s.last_time]
    if len(known) < len(family):
        return []
    runs: list[list[str]] = []
    end: datetime | None = None
    for first, last, name in sorted(known):
        if end is None or first >= end:
            runs.append([])
        runs[-1].append(name)
        end = last if end is None else max(end, last)
    return runs


def _begin_alike(runs: Sequence[Sequence[str]], head: Callable[[str], Sequence[str]]) -> bool:
    forms = ({form for name in run for form in _head_forms(head(name))} for run in reversed(runs))
    last = next(forms)
    return all(last & other for other in forms)


def _head_forms(lines: Sequence[str]) -> set[str]:
    """The first rows without their numbers; without rows that are repeated, as the steps of a run are."""
    rows = [DIGITS.sub("#", line) for line in lines if line.strip()]
    return {row for row in rows[:HEAD_ROWS] if rows.count(row) == 1 and len(WORD.findall(row)) >= MIN_HEAD_WORDS}


def _with_others(runs: Sequence[Sequence[str]], own: Sequence[SourceSummary]) -> list[frozenset[str]]:
    """`runs`, each with the sources of other families that have the same numbers in their names; all others in the last run."""
    by_name = {name: i for i, run in enumerate(runs) for name in run}
    by_numbers = {tuple(DIGITS.findall(name)): i for name, i in by_name.items()}
    of_run: list[set[str]] = [set() for _ in runs]
    for source in own:
        numbered = by_numbers.get(tuple(DIGITS.findall(source.name)), -1)
        of_run[by_name.get(source.name, numbered)].add(source.name)
    return [frozenset(names) for names in of_run]

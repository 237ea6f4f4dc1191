"""Separate the runs of one program that wrote logs of their own, one after the other.

train_23448290.out, train_23451530.out                                            -> a run each, by the numbers of their jobs
slurm-4711.out, slurm-4712_1.out, slurm-4712_2.out                                -> two runs; the last one is an array of tasks
run1.log 10:00 to 10:20, run2.log 11:00 to 11:30, both begin "starting train.py"  -> {run1.log}, {run2.log}
rank0.log, rank1.log, both 10:00 to 10:20                                         -> one run: at the same time
train.log.1 "starting train.py", train.log "step 700 loss 0.3"                    -> one run, whose log was rotated
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime

from forensics.model import SourceSummary
from forensics.readers.identity.entity_ids import ids_of_file_name

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

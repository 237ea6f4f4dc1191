"""The runs that wrote some logs: which logs are of one run, and which runs are attempts of one job.

train_23448290.out, train_23451530.out                                            -> a run each, by the numbers of their jobs
slurm-4711.out, slurm-4712_1.out, slurm-4712_2.out                                -> two runs; the last one is an array of tasks
run1.log 10:00 to 10:20, run2.log 11:00 to 11:30, both begin "starting train.py"  -> {run1.log}, {run2.log}
rank0.log, rank1.log, both 10:00 to 10:20                                         -> one run: at the same time
train.log.1 "starting train.py", train.log "step 700 loss 0.3"                    -> one run, whose log was rotated

Runs of different jobs are attempts of one only if something shows it: their logs have a name that was chosen for them, or begin
alike, and none began before the one before it had ended.

slurm-4711.out 10:00 to 10:20, slurm-4712.out 10:10 to 11:00                      -> two jobs
slurm-4711.out "starting train.py", slurm-4712.out "starting train.py", later     -> two attempts of one job
slurm-4711.out "starting train.py", slurm-4712.out "reading the genomes"          -> two jobs

Logs whose names number runs, and that no time, process or rank joins, are of jobs that have nothing to do with one another.

run_06.log "Segmentation fault", run_10.log "loss nan", both without a time       -> two jobs
run_06.log 10:00 to 10:20, run_10.log 10:05 to 10:30                              -> one run: at the same time
run_06.log "No space left on device", run_07.log "resuming from last.pt"          -> one run: what the second resumes

Of a folder whose files nobody sorted, each run is a case: files_by_run().
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from posixpath import splitext

from forensics.core import lazy
from forensics.model import SourceSummary
from forensics.readers.identity.entity_ids import ids_of_file_name
from forensics.readers.progress.saved_files import resumes
from forensics.readers.python.quoted_source import TRACEBACK_HEAD

Run = frozenset[str]  # the names of the sources that it wrote
Head = Callable[[str], Sequence[str]]  # the first lines of a source, by its name
Joined = Container[Run]  # pairs of sources that an id joins, as a process that both name

DIGITS = lazy.regex(r"\d+")
ROTATED_SUFFIX = lazy.regex(r"[.](?:\d{1,3}|old|prev|bak)$")  # the log of an earlier run, or an earlier part of this run's log
DAY_IN_NAME = lazy.regex(
    r"(?<!\d)(?:19|20)\d\d-?[01]\d-?[0-3]\d(?![\d_T]|-\d)"
)  # a date without a time names one part of a longer log
MAX_PID = 1 << 22  # of Linux; a greater number in a name is a job's, or the second or minute of its start
RANK_IN_NAME = lazy.regex(r"(?i)(?:^|[._-])(?:local|global)?[._-]?rank[._-]?\d+")
ARRAY_TASK = lazy.regex(r"(?<=#)_\d{1,7}(?=[.]|$)")  # or a rank, behind the number of a job
RUN_IN_NAME = lazy.regex(
    r"(?i)(?:^|[^a-z])(?:run|exp|experiment|trial|attempt|try|seed|fold|sweep)[._-]?(?P<number>\d{1,9})(?=[._-]|$)"
)
MAX_RESUMED_ROWS = 40  # chosen by hand: a run says what it resumes before it works
HEAD_ROWS = 3  # a program prints its first lines again when it is started again
MIN_HEAD_WORDS = 2  # a shorter row (`[`, `{`, `loading`) may begin any log
WORD = lazy.regex(r"[^\W\d]{2,}")


def attempts_by_job(own: Sequence[SourceSummary], head: Head, limit: int, joined: Joined = ()) -> list[list[Run]]:
    """The last `limit` runs that wrote `own`, those that are attempts of one job together; all in order of time."""
    by_job = _by_job(own)
    if len(by_job) < 2:
        attempts = separate_runs(own, head)[-limit:]
        return [attempts] if len(attempts) > 1 else [[run] for run in _unrelated(own, head, joined)[-limit:]]
    known = {source.name: source for source in own}
    jobs: list[list[Run]] = []
    for run in by_job[-limit:]:
        before = next((job for job in reversed(jobs) if _is_next(job[-1], run, known, head)), None)
        if before is None:
            jobs.append([run])
        else:
            jobs.remove(before)
            jobs.append([*before, run])
    return jobs


def _is_next(before: Run, run: Run, known: Mapping[str, SourceSummary], head: Head) -> bool:
    """Does something show that `run` is the next attempt of what `before` tried? Only logs that name a job can."""
    before, run = (frozenset(filter(_job_form, names)) for names in (before, run))
    ended, begun = _last_time(before, known), min((t for name in run if (t := known[name].first_time)), default=None)
    if ended and begun and begun < ended:
        return False
    chosen = {form for name in before if not _is_default(name) and (form := _job_form(name))}
    return any(_job_form(name) in chosen for name in run) or _begin_alike([[*before], [*run]], head)


def _is_default(name: str) -> bool:
    """Is it the name that sbatch gives where nobody chose one? Every script's output has it."""
    ids = ids_of_file_name(name)
    return bool(ids.job or ids.array)


def _last_time(run: Iterable[str], known: Mapping[str, SourceSummary]) -> datetime | None:
    return max((t for name in run if (t := known[name].last_time)), default=None)


def files_by_run(names: Iterable[str]) -> list[list[str]]:
    """File names of one folder, those of one run together, in order: its output and its errors, its ranks, rotated parts, its
    program."""
    runs: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        runs[RANK_IN_NAME.sub("#", splitext(ROTATED_SUFFIX.sub("", name.removesuffix(".gz").removesuffix(".xz")))[0])].append(
            name
        )
    return [*runs.values()]


def separate_runs(own: Sequence[SourceSummary], head: Head) -> list[Run]:
    """The names of the sources `own`, by run, in order; a source of no known run counts to the last run.

    Runs are separated if their names differ in numbers only, all times are known, no run begins before the one before it has
    ended, and all begin with the same row, which occurs only once in each.
    """
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
    if DAY_IN_NAME.search(name):
        return ""
    ids = ids_of_file_name(name)
    return (
        ids.job or ids.array or max((n for n in DIGITS.findall(name.rpartition("/")[2]) if int(n) > MAX_PID), key=int, default="")
    )


def _job_form(name: str) -> str:
    """The name of a job's log without the number of the job, of a task of it, and its ending; empty if no job is named."""
    job = _job(name)
    return splitext(ARRAY_TASK.sub("", name.replace(job, "#")))[0] if job else ""


def _by_job(own: Sequence[SourceSummary]) -> list[Run]:
    """The names by run, in order of time, if they differ in the number of a job only; all others count to the last run.

    `rank0_1755831600.log` and `rank1_1755831602.log` differ in more: they are of one run, whose ranks started seconds apart.
    """
    families: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for source in own:
        if form := _job_form(source.name):
            families[form][int(_job(source.name))].append(source.name)
    order = _in_time(families.values(), {source.name: source for source in own})
    earlier: dict[int, set[str]] = defaultdict(set)
    for family in families.values():
        for number in sorted(family, key=order.__getitem__)[:-1]:
            earlier[number] |= set(family[number])
    rest = frozenset(s.name for s in own).difference(*earlier.values())
    return [*(frozenset(earlier[number]) for number in sorted(earlier, key=order.__getitem__)), rest]


def _in_time(families: Iterable[Mapping[int, Sequence[str]]], known: Mapping[str, SourceSummary]) -> dict[int, int]:
    """The place of each job by its last time; one without a time ended behind those that were submitted before."""
    logs: dict[int, list[str]] = defaultdict(list)
    for family in families:
        for number, names in family.items():
            logs[number] += names
    latest, ends = datetime.min.replace(tzinfo=UTC), dict[int, datetime]()
    for number in sorted(logs):
        ends[number] = _last_time(logs[number], known) or latest
        latest = max(latest, ends[number])
    return {number: i for i, number in enumerate(sorted(ends, key=lambda number: (ends[number], number)))}


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


def _begin_alike(runs: Sequence[Sequence[str]], head: Head) -> bool:
    forms = ({form for name in run for form in _head_forms(head(name), _job(name))} for run in reversed(runs))
    last = next(forms)
    return all(last & other for other in forms)


def _head_forms(lines: Sequence[str], job: str) -> set[str]:
    """The first rows without their numbers; without rows that are repeated, as the steps of a run are, those that name the job,
    which the cluster prints for every script, and the head of a traceback, with which a script of any kind may begin."""
    told = (line for line in lines if line.strip() and TRACEBACK_HEAD not in line)
    rows = [(DIGITS.sub("#", line), job in DIGITS.findall(line)) for line in told]
    own = [row for row, names_job in rows[:HEAD_ROWS] if not names_job]
    return {row for row in own if rows.count((row, False)) == 1 and len(WORD.findall(row)) >= MIN_HEAD_WORDS}


def _with_others(runs: Sequence[Sequence[str]], own: Sequence[SourceSummary]) -> list[Run]:
    """`runs`, each with the sources of other families that have the same numbers in their names; all others in the last run."""
    by_name = {name: i for i, run in enumerate(runs) for name in run}
    by_numbers = {tuple(DIGITS.findall(name)): i for name, i in by_name.items()}
    of_run: list[set[str]] = [set() for _ in runs]
    for source in own:
        numbered = by_numbers.get(tuple(DIGITS.findall(source.name)), -1)
        of_run[by_name.get(source.name, numbered)].add(source.name)
    return [frozenset(names) for names in of_run]


def _unrelated(own: Sequence[SourceSummary], head: Head, joined: Joined) -> list[Run]:
    """The names of the sources by the run that their names number, in order of time; those together that were written at the same
    time, that an id joins, or of which the later resumes the one before. What numbers no run counts to one more, the first."""
    numbered: dict[tuple[int, str], list[SourceSummary]] = defaultdict(list)
    for source in own:
        found = None if RANK_IN_NAME.search(source.name) else RUN_IN_NAME.search(splitext(source.name)[0])
        numbered[(int(found["number"]), source.name[: found.end()]) if found else (-1, "")].append(source)
    rest = numbered.pop((-1, ""), [])
    groups: list[list[SourceSummary]] = []
    for run in _by_time([numbered[key] for key in sorted(numbered)]):
        same = [group for group in groups if any(_are_joined(a, b, joined) for a in group for b in run)]
        if groups and groups[-1] not in same and any(resumes(head(s.name)[:MAX_RESUMED_ROWS]) for s in run):
            same.append(groups[-1])
        groups = [*(group for group in groups if group not in same), [*(s for group in same for s in group), *run]]
    if len(groups) < 2:
        return [frozenset(source.name for source in own)]
    return [frozenset(s.name for s in group) for group in ([rest] if rest else []) + groups]


def _by_time(runs: Sequence[list[SourceSummary]]) -> list[list[SourceSummary]]:
    """`runs` in order of their last times; one without a time stands behind those that are in front of it."""
    latest, ends = datetime.min.replace(tzinfo=UTC), list[tuple[datetime, int]]()
    for i, run in enumerate(runs):
        latest = max((s.last_time for s in run if s.last_time), default=latest)
        ends.append((latest, i))
    return [runs[i] for _, i in sorted(ends)]


def _are_joined(a: SourceSummary, b: SourceSummary, joined: Joined) -> bool:
    """Were both written at the same time, or does an id join them?"""
    at_once = False
    if a.first_time and a.last_time and b.first_time and b.last_time:
        at_once = a.first_time < b.last_time and b.first_time < a.last_time
    return at_once or frozenset((a.name, b.name)) in joined

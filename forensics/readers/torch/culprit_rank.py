"""Finds the rank that did not join a collective, from the watchdog reports of all ranks, and tells the reason.

    rank 1: waits in work 808, last enqueued 811      rank 2: the same      rank 3: last enqueued 807
        -> culprit_rank 3, "last enqueued work is 807 where others had reached 811"

A rank whose watchdog times out was waiting for another rank. That other rank enqueued less work, runs another operation under
the same sequence number, failed in another way, or reports nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from forensics.core.text import number_ranges
from forensics.model import Value

# Chosen by hand: a work is done only when its whole group joined it, so the oldest unfinished ones of a group are close together;
# numbers further apart were counted in different groups, which these lines do not name.
MAX_WORKS_APART = 1000
WHOLE_GROUP_OPERATIONS = ("ALLGATHER_BASE", "_ALLGATHER_BASE", "REDUCE_SCATTER_BASE", "_REDUCE_SCATTER_BASE")


class Report(Struct, frozen=True):
    """The fields of one line of one rank.

    `says`: the kind of line: caught, status, dump, joined, stayed_away or error. `rank`: the rank in the job, as far as known.
    `group_rank`: the rank in the process group. `group`: the group's name, "" if the line names none. `numel`: number of elements
    of the input and of the output. `ranks`: the ranks that the line itself names.
    """

    says: str
    rank: int | None = None
    group_rank: int | None = None
    group: str = ""
    seq: int | None = None
    op: str = ""
    numel: tuple[int | None, int | None] = (None, None)
    last_enqueued: int | None = None
    first_rank: int | None = None
    ranks: tuple[int, ...] = ()
    error: str = ""


class CulpritRank(Struct, frozen=True):
    """`fields`: the result. `lines`: indices of the reports that show it; empty if no report of a culprit does."""

    fields: dict[str, Value] = field(default_factory=dict)
    lines: tuple[int, ...] = ()


def find_culprit(reports: Sequence[Report]) -> CulpritRank:
    """The rank to look at first, from the surest evidence there is. `first_rank` is the rank that reported the time-out first."""
    numbered = list(enumerate(reports))
    fields: dict[str, Value] = {}
    first = next((r.first_rank for r in reports if r.first_rank is not None), None)
    if first is not None:
        fields["first_rank"] = first
    for decide in (
        _from_desync_report,
        _with_other_error,
        _least_enqueued,
        _other_operation,
        _different_works,
        _oldest_unfinished,
        _without_report,
    ):
        found = decide(numbered)
        if found.fields:
            return CulpritRank({**fields, **found.fields}, found.lines)
    return CulpritRank(fields)


Numbered = list[tuple[int, Report]]


def _from_desync_report(reports: Numbered) -> CulpritRank:
    """The ranks that PyTorch's own desync report names."""
    for i, report in reports:
        if report.says == "stayed_away" and report.ranks:
            return CulpritRank(_culprit(report.ranks, "named as lagging by PyTorch's desync report"), (i,))
    joined = [(i, r) for i, r in reports if r.says == "joined" and r.seq is not None]
    if len({r.seq for _, r in joined}) > 1:
        i, least = min(joined, key=lambda x: x[1].seq or 0)
        return CulpritRank(_culprit(least.ranks, f"still in collective number {least.seq} while others are further"), (i,))
    return CulpritRank()


def _with_other_error(reports: Numbered) -> CulpritRank:
    """A rank whose watchdog reports another error than a time-out, while the others only wait."""
    waiting = {r.rank for _, r in reports if r.says == "caught"}
    failed = [(i, r) for i, r in reports if r.says == "error" and r.rank is not None and r.rank not in waiting]
    if failed and waiting:
        ranks = sorted({r.rank for _, r in failed if r.rank is not None})
        return CulpritRank(_culprit(ranks, f"failed in another way ({failed[0][1].error[:80]})"), (failed[0][0],))
    return CulpritRank()


def _least_enqueued(reports: Numbered) -> CulpritRank:
    """The rank with the lowest last enqueued work in its process group. It did not enqueue the work that the others wait for."""
    groups: dict[str, dict[int, tuple[int, Report]]] = defaultdict(dict)
    for i, report in reports:
        if report.last_enqueued is not None and report.rank is not None and report.group:
            groups[report.group].setdefault(report.rank, (i, report))
    for members in groups.values():
        inner = [r.group_rank for _, r in members.values()]
        if len(members) < 2 or len(set(inner)) < len(inner):  # several process groups share one name
            continue
        reached = Counter(r.last_enqueued for _, r in members.values() if r.last_enqueued is not None)
        least, most = min(reached), max(reached)
        if least == most or reached[least] > len(members) / 2:
            continue
        lines = [i for i, r in members.values() if r.last_enqueued == least]
        ranks = sorted(rank for rank, (_, r) in members.items() if r.last_enqueued == least)
        return CulpritRank(_culprit(ranks, f"last enqueued work is {least} where others had reached {most}"), tuple(lines[:3]))
    return CulpritRank()


def _other_operation(reports: Numbered) -> CulpritRank:
    """A rank that runs another operation or another size under the sequence number that the others wait for."""
    by_work: dict[tuple[str, int], dict[int, tuple[int, Report]]] = defaultdict(dict)
    for i, report in reports:
        if report.says == "caught" and report.rank is not None and report.seq is not None:
            by_work[report.group, report.seq].setdefault(report.rank, (i, report))
    for (_, seq), members in by_work.items():
        kinds = Counter((r.op, r.numel) for _, r in members.values())
        if len(members) < 3 or len(kinds) < 2:
            continue
        usual = kinds.most_common(1)[0][0]
        odd = {rank: (i, r) for rank, (i, r) in members.items() if (r.op, r.numel) != usual}
        if len(odd) * 2 >= len(members):
            continue
        i, report = next(iter(odd.values()))
        if report.op != usual[0]:
            what = f"runs {report.op} as number {seq} where the others run {usual[0]}"
        else:
            what = f"gives {report.numel[0]} elements to number {seq} where the others give {usual[1][0]}"
        return CulpritRank(_culprit(sorted(odd), what), (i,))
    return CulpritRank()


def _oldest_work(reports: Numbered) -> dict[int, tuple[int, Report]]:
    """The unfinished work with the lowest number of each rank, with the index of its line."""
    oldest: dict[int, tuple[int, Report]] = {}
    for i, report in reports:
        if report.says == "caught" and report.rank is not None and report.seq is not None:
            known = oldest.get(report.rank)
            if known is None or (known[1].seq or 0) > report.seq:
                oldest[report.rank] = (i, report)
    return oldest


def _different_works(reports: Numbered) -> CulpritRank:
    """In which works the ranks of one group wait, if these are different operations: one took another way.

    Which one it was is not known: the work that most ranks wait in can be the wrong one.
    """
    oldest = _oldest_work(reports)
    numbers = [r.seq or 0 for _, r in oldest.values()]
    if len({r.group for _, r in oldest.values()}) != 1 or len({r.op for _, r in oldest.values()}) < 2:
        return CulpritRank()
    if max(numbers) - min(numbers) > MAX_WORKS_APART:
        return CulpritRank()
    at: dict[str, list[int]] = defaultdict(list)
    for rank, (_, report) in oldest.items():
        at[f"{report.op} number {report.seq}"].append(rank)
    told = (f"{'rank' if len(ranks) == 1 else 'ranks'} {number_ranges(ranks)} in {work}" for work, ranks in at.items())
    lines = {r.op: i for i, r in oldest.values()}
    return CulpritRank({"collectives": ", ".join(told)}, tuple(lines.values())[:3])


def _oldest_unfinished(reports: Numbered) -> CulpritRank:
    """The rank with the lowest unfinished sequence number. For PyTorch before 2.3, whose lines do not show what was enqueued."""
    oldest = _oldest_work(reports)
    enqueued = any(r.last_enqueued is not None for _, r in reports)
    if enqueued or len(oldest) < 2 or len({r.op for _, r in oldest.values()}) > 1:
        return CulpritRank()
    numbers = Counter(r.seq or 0 for _, r in oldest.values())
    least, most = min(numbers), max(numbers)
    if least == most or numbers[least] > len(oldest) / 2 or most - least > MAX_WORKS_APART:
        return CulpritRank()
    ranks = sorted(rank for rank, (_, r) in oldest.items() if r.seq == least)
    line = next(i for i, r in oldest.values() if r.seq == least)
    return CulpritRank(_culprit(ranks, f"oldest unfinished work is number {least}, that of others {most}"), (line,))


def _without_report(reports: Numbered) -> CulpritRank:
    """Ranks that report nothing while most ranks do: gaps in the rank numbers, up to the group size if an operation shows it."""
    heard = {r.rank for _, r in reports if r.rank is not None}
    most = max(heard, default=0)
    if len(heard) < 2 or most >= 2 * len(heard):  # about as many gaps as ranks, or a wrong rank number
        return CulpritRank()
    missing = sorted(set(range(most)) - heard)
    for _, report in reports:
        size = _group_size(report)
        inner = {r.group_rank for _, r in reports if r.group_rank is not None}
        if size and most < size and inner == heard:
            missing = sorted(set(range(size)) - heard)
    if not missing or len(missing) >= len(heard):
        return CulpritRank()
    why = "nothing was heard from there while others report that they wait"
    facts: dict[str, Value] = {"missing_ranks": _listed(missing), "missing_reason": why}
    if len(missing) == 1:
        facts |= {"culprit_rank": missing[0], "culprit_reason": why}
    return CulpritRank(facts)


def _group_size(report: Report) -> int | None:
    """Number of ranks in the group, from the input and output sizes of an operation in which each rank has an equal share."""
    small, large = sorted((report.numel[0] or 0, report.numel[1] or 0))
    if report.op not in WHOLE_GROUP_OPERATIONS or not small or large % small:
        return None
    size = large // small
    return size if 1 < size <= 4096 else None


def _culprit(ranks: Iterable[int], reason: str) -> dict[str, Value]:
    ranks = list(ranks)
    if len(ranks) == 1:
        return {"culprit_rank": ranks[0], "culprit_reason": reason}
    return {"culprit_ranks": _listed(ranks), "culprit_reason": reason}


def _listed(ranks: Iterable[int]) -> str:
    return ", ".join(str(r) for r in ranks)

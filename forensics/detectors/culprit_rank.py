"""Who stayed away: from what the watchdogs of all ranks report to the rank to look at first, and why.

    rank 1: waits in work 808, last enqueued 811      rank 2: the same      rank 3: last enqueued 807
        -> culprit_rank 3, "last enqueued work is 807 where others had reached 811"

A rank whose watchdog times out waits for somebody else. The one it waits for has enqueued less, runs something else under the
same number, failed in another way, or reports nothing at all.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from forensics.model import Value

WHOLE_GROUP_OPERATIONS = ("ALLGATHER_BASE", "_ALLGATHER_BASE", "REDUCE_SCATTER_BASE", "_REDUCE_SCATTER_BASE")


class Report(Struct, frozen=True):
    """What one line of one rank tells.

    `says`: caught, status, dump, joined, stayed_away or error. `rank`: in the job, as far as known; `group_rank`: in the process
    group named `group`, "" where the line names none. `numel`: elements in and out. `ranks`: those that the line itself names.
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


class Initiator(Struct, frozen=True):
    """`fields` to tell and the places in the given reports of the `lines` that show it; both empty where nothing can be told."""

    fields: dict[str, Value] = field(default_factory=dict)
    lines: tuple[int, ...] = ()


def initiator(reports: Sequence[Report]) -> Initiator:
    """The decision, from the surest kind of evidence down; `first_rank`, who gave the alarm, is told besides."""
    numbered = list(enumerate(reports))
    fields: dict[str, Value] = {}
    first = next((r.first_rank for r in reports if r.first_rank is not None), None)
    if first is not None:
        fields["first_rank"] = first
    for decide in (_named, _failed, _behind, _different, _older, _silent):
        found = decide(numbered)
        if found.fields:
            return Initiator({**fields, **found.fields}, found.lines)
    return Initiator(fields)


Numbered = list[tuple[int, Report]]


def _named(reports: Numbered) -> Initiator:
    """PyTorch's own desync report names them."""
    for i, report in reports:
        if report.says == "stayed_away" and report.ranks:
            return Initiator(_told(report.ranks, "named as lagging by PyTorch's desync report"), (i,))
    joined = [(i, r) for i, r in reports if r.says == "joined" and r.seq is not None]
    if len({r.seq for _, r in joined}) > 1:
        i, least = min(joined, key=lambda x: x[1].seq or 0)
        return Initiator(_told(least.ranks, f"still in collective number {least.seq} while others are further"), (i,))
    return Initiator()


def _failed(reports: Numbered) -> Initiator:
    """A rank whose watchdog saw another error than a time-out, while others only wait."""
    waiting = {r.rank for _, r in reports if r.says == "caught"}
    failed = [(i, r) for i, r in reports if r.says == "error" and r.rank is not None and r.rank not in waiting]
    if failed and waiting:
        ranks = sorted({r.rank for _, r in failed if r.rank is not None})
        return Initiator(_told(ranks, f"failed in another way ({failed[0][1].error[:80]})"), (failed[0][0],))
    return Initiator()


def _behind(reports: Numbered) -> Initiator:
    """The rank with the lowest last enqueued work of one process group skipped what the others wait in."""
    groups: dict[str, dict[int, tuple[int, Report]]] = defaultdict(dict)
    for i, report in reports:
        if report.last_enqueued is not None and report.rank is not None and report.group:
            groups[report.group].setdefault(report.rank, (i, report))
    for members in groups.values():
        inner = [r.group_rank for _, r in members.values()]
        if len(members) < 2 or len(set(inner)) < len(inner):  # several groups under one number
            continue
        reached = Counter(r.last_enqueued for _, r in members.values() if r.last_enqueued is not None)
        least, most = min(reached), max(reached)
        if least == most or reached[least] > len(members) / 2:
            continue
        lines = [i for i, r in members.values() if r.last_enqueued == least]
        ranks = sorted(rank for rank, (_, r) in members.items() if r.last_enqueued == least)
        return Initiator(_told(ranks, f"last enqueued work is {least} where others had reached {most}"), tuple(lines[:3]))
    return Initiator()


def _different(reports: Numbered) -> Initiator:
    """A rank that runs another operation, or another size, under the number that the others wait in."""
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
        return Initiator(_told(sorted(odd), what), (i,))
    return Initiator()


def _older(reports: Numbered) -> Initiator:
    """Before PyTorch 2.3 no line tells what was enqueued: of unfinished works of one kind, the oldest hangs behind."""
    oldest: dict[int, tuple[int, Report]] = {}
    for i, report in reports:
        if report.says == "caught" and report.rank is not None and report.seq is not None:
            known = oldest.get(report.rank)
            if known is None or (known[1].seq or 0) > report.seq:
                oldest[report.rank] = (i, report)
    enqueued = any(r.last_enqueued is not None for _, r in reports)
    if enqueued or len(oldest) < 2 or len({r.op for _, r in oldest.values()}) > 1:
        return Initiator()
    numbers = Counter(r.seq or 0 for _, r in oldest.values())
    least, most = min(numbers), max(numbers)
    if least == most or numbers[least] > len(oldest) / 2:
        return Initiator()
    ranks = sorted(rank for rank, (_, r) in oldest.items() if r.seq == least)
    line = next(i for i, r in oldest.values() if r.seq == least)
    return Initiator(_told(ranks, f"oldest unfinished work is number {least}, that of others {most}"), (line,))


def _silent(reports: Numbered) -> Initiator:
    """Ranks that report nothing while most do: gaps in the numbers, or as many as a gather's sizes say there must be."""
    heard = {r.rank for _, r in reports if r.rank is not None}
    most = max(heard, default=0)
    if len(heard) < 2 or most >= 2 * len(heard):  # as many gaps as ranks, or a number that no rank has
        return Initiator()
    missing = sorted(set(range(most)) - heard)
    for _, report in reports:
        size = _group_size(report)
        inner = {r.group_rank for _, r in reports if r.group_rank is not None}
        if size and most < size and inner == heard:
            missing = sorted(set(range(size)) - heard)
    if not missing or len(missing) >= len(heard):
        return Initiator()
    why = "nothing was heard from there while the others report that they wait"
    facts: dict[str, Value] = {"missing_ranks": _listed(missing), "missing_reason": why}
    if len(missing) == 1:
        facts |= {"culprit_rank": missing[0], "culprit_reason": why}
    return Initiator(facts)


def _group_size(report: Report) -> int | None:
    """Ranks in the group, from the sizes of an operation that spreads or collects equal shares."""
    small, large = sorted((report.numel[0] or 0, report.numel[1] or 0))
    if report.op not in WHOLE_GROUP_OPERATIONS or not small or large % small:
        return None
    size = large // small
    return size if 1 < size <= 4096 else None


def _told(ranks: Iterable[int], reason: str) -> dict[str, Value]:
    ranks = list(ranks)
    if len(ranks) == 1:
        return {"culprit_rank": ranks[0], "culprit_reason": reason}
    return {"culprit_ranks": _listed(ranks), "culprit_reason": reason}


def _listed(ranks: Iterable[int]) -> str:
    return ", ".join(str(r) for r in ranks)

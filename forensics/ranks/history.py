"""What the ranks called last: a row for each group, and the calls of an odd rank beside those of another one."""

from collections.abc import Iterable

from forensics.model.ranks import GroupRow, LastCalls, OddRank
from forensics.ranks.case import RankCase

KEPT_LAST = 20  # calls that are shown at most
MAX_COMPARED = 4  # odd ranks whose calls are shown


def matrix(case: RankCase) -> tuple[GroupRow, ...]:
    """A row for each group, in order of name."""
    return tuple(
        GroupRow(
            name,
            next(iter(calls.values())).title,
            case.members[name],
            {rank: group.enqueued for rank, group in calls.items()},
            {rank: call.seq for rank, call in case.stuck[name].items()},
        )
        for name, calls in sorted(case.groups.items(), key=lambda item: (len(item[0]), item[0]))
    )


def last_calls(case: RankCase, odd: Iterable[OddRank]) -> tuple[LastCalls, ...]:
    """The last calls of the first odd ranks that have a dump, each beside those of a rank that waits for it."""
    named = {o.rank for o in odd}
    made = []
    for one in list(odd)[:MAX_COMPARED]:
        others = [r for r in (*one.waiting, *case.dumps) if r in case.dumps and r not in named]
        others.sort(key=lambda r: not any(g.title == one.group for g in case.dumps[r].groups))
        if one.rank in case.dumps and others:
            made.append(LastCalls(one.rank, others[0], _calls(case, one.rank), _calls(case, others[0])))
    return tuple(made)


def _calls(case: RankCase, rank: int) -> tuple[str, ...]:
    placed = sorted(((c.created_ns, c.seq, g.title, c) for g in case.dumps[rank].groups for c in g.calls), key=lambda x: x[:3])
    rows = []
    for _, seq, title, call in placed[-KEPT_LAST:]:
        own = case.own_frame(call.frames)
        shapes, place = f" {call.inputs}" if call.inputs else "", f" at {own.place}" if own else ""
        state = ", unfinished" if call.pending else ""
        rows.append(f"{call.op} no. {seq} of {title}{shapes}{place}{state}")
    return tuple(rows)

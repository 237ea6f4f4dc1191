"""How a rank keeps the others waiting: the kind, what it does, its line and that of the others, and the lines that show it."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict, replace

from forensics.model.dumps import Call, Frame
from forensics.model.ranks import Kind, OddRank, ProofPlace
from forensics.ranks.calls import Difference
from forensics.ranks.case import RankCase
from forensics.ranks.doing import doing
from forensics.ranks.late import Late
from forensics.ranks.loops import has_left_loop
from forensics.ranks.threads import collective_name
from forensics.ranks.waits import Waits

NO_DUMP = "it left no dump: it ended, or could not write one any more"


def with_difference(case: RankCase, found: Difference) -> tuple[OddRank, ...]:
    """The ranks that made another call than the others."""
    usual_rank, usual = min(found.usual.items())
    title = case.groups[found.group][usual_rank].title
    return tuple(
        _odd(
            case,
            rank,
            found.kind,
            f"it left out {usual.op} no. {found.seq} of group {title}, and called what used to follow: {_shown(call)}"
            if found.kind == "left_out"
            else f"it called {_shown(call)} as no. {found.seq} of group {title}, where the others called {_shown(usual)}",
            group=title,
            call=f"{usual.op} no. {found.seq}",
            place=case.own_frame(call.frames),
            others=case.own_frame(usual.frames),
            waiting=tuple(sorted(found.usual)),
            proofs=(proof(case, rank, call), proof(case, usual_rank, usual)),
        )
        for rank, call in sorted(found.odd.items())
    )


def in_other_order(case: RankCase, found: Waits, rank: int, name: str, call: Call) -> OddRank:
    """A rank that waits in one group while others wait for it in another one."""
    edge = next((e for e in found.edges if e.other == rank and e.shown), found.edges[0])
    title = case.groups[edge.group][edge.rank].title
    mine, theirs = f"{_numbered(call)} of group {case.groups[name][rank].title}", f"{_numbered(edge.call)} of group {title}"
    kind: Kind = "other_order"
    how = "it enters the groups in another order, or left a call out"
    if has_left_loop(case, rank, call):
        kind, how = "other_call", "it left the loop in which it made its calls before, as with fewer batches than others have"
    elif not _is_usual(case, rank, name, call):
        kind, how = "other_call", "no other rank makes that call there"
    return _odd(
        case,
        rank,
        kind,
        f"it waits in {mine}, while others wait for it in {theirs}: {how}",
        group=title,
        call=_numbered(edge.call),
        place=case.own_frame(call.frames),
        others=case.own_frame(edge.call.frames),
        waiting=tuple(sorted(found.waited_for(rank))),
        proofs=(proof(case, rank, call), proof(case, edge.rank, edge.call)),
    )


def behind(case: RankCase, found: Waits, rank: int) -> OddRank:
    """A rank whose device did not carry out a call that others finished."""
    name, call = found.behind[rank]
    title = case.groups[name][rank].title
    others = next((c for r, g in case.groups[name].items() if r != rank for c in g.calls if c.seq >= call.seq), None)
    return _odd(
        case,
        rank,
        "device",
        f"its device did not finish {_numbered(call)} of group {title}, which others finished",
        group=title,
        call=_numbered(call),
        place=case.own_frame(call.frames),
        others=case.own_frame(others.frames) if others else None,
        waiting=tuple(sorted(found.waited_for(rank))),
        proofs=(proof(case, rank, call),),
    )


def waited_for(case: RankCase, found: Waits, rank: int) -> OddRank:
    """A rank that is waited for, and waits for nobody."""
    edge = found.first_for[rank]
    base = _odd(
        case,
        rank,
        "elsewhere",
        "its dump shows no call that is unfinished",
        group=case.groups[edge.group][edge.rank].title,
        call=_numbered(edge.call),
        others=case.own_frame(edge.call.frames),
        waiting=tuple(sorted(found.waited_for(rank))),
        proofs=(proof(case, edge.rank, edge.call),),
    )
    last = case.last_call(rank)
    base = replace(base, last_ns=last.created_ns if last else 0)
    own = case.own_frame(last.frames) if last else None
    at, end = doing(case, rank), case.ended.get(rank)
    if at and not (end and end.frame):  # a stack that was taken while an exception was handled shows no more than that
        return replace(base, kind=at.kind, doing=at.text, place=at.frame, proofs=(*at.proofs, *base.proofs))
    if end:
        return replace(
            base, kind="left", doing=end.text, place=end.frame or own, proofs=(end.proof, *base.proofs), cause=end.cause
        )
    if thread := case.in_other_collective(rank):
        text = f"it waits in {collective_name(thread)}, a call that its dump does not have"
        head = ProofPlace(case.stacks[rank].source, thread.lines[0].number, thread.lines[0].text)
        place = case.own_frame(thread.frames)
        return replace(base, kind="other_call", doing=text, place=place, proofs=(head, *base.proofs))
    if rank not in case.dumps:
        return replace(base, kind="no_dump", doing=NO_DUMP)
    if last is None:
        return base
    text = f"nothing shows what it does since it finished its last call, {_numbered(last)}"
    return replace(base, doing=text, place=own, proofs=(proof(case, rank, last), *base.proofs))


def outside(case: RankCase, rank: int, waiting: Sequence[int]) -> OddRank:
    """A rank whose stack stands outside of collectives, while those of `waiting` stand in one that no dump has."""
    at, other = doing(case, rank), case.stacks[waiting[0]].main
    last = case.last_call(rank)
    return _odd(
        case,
        rank,
        at.kind if at else "elsewhere",
        at.text if at else "its stack shows no collective call",
        place=at.frame if at else None,
        others=case.own_frame(other.frames) if other else None,
        waiting=tuple(waiting),
        last_ns=last.created_ns if last else 0,
        proofs=at.proofs if at else (),
    )


def on_device(case: RankCase) -> tuple[OddRank, ...]:
    """The first rank, where all ranks entered the same call, and none finished it."""
    waiting = {rank: place for rank in case.dumps if (place := case.waits_in(rank))}
    if not waiting or case.missing:
        return ()
    rank, (name, call) = min(waiting.items(), key=lambda item: item[0])
    title = case.groups[name][rank].title
    started = "started and not finished" if call.started else "not finished"
    text = f"all ranks of group {title} entered {_numbered(call)}, and it is {started} on any: the device or the network hangs"
    own = case.own_frame(call.frames)
    odd = OddRank(rank, "device", text, title, _numbered(call), own, own, tuple(sorted(waiting.keys() - {rank})))
    return (replace(odd, **asdict(case.process(rank)), proofs=(proof(case, rank, call),)),)


def late_rank(case: RankCase, late: Late) -> OddRank:
    """A rank that is late to all calls of a run that goes on."""
    group = case.groups[late.group][late.rank]
    call = next((c for c in reversed(group.calls) if not c.between_two), None)
    at = doing(case, late.rank)
    return _odd(
        case,
        late.rank,
        "late",
        f"it comes {late.late_s:.2g} s after the others to {late.rounds} calls of group {group.title}, from no. {late.since} on",
        group=group.title,
        place=at.frame if at else case.own_frame(call.frames) if call else None,
        waiting=tuple(r for r in case.members[late.group] if r != late.rank),
        late_s=late.late_s,
        since=late.since,
        proofs=(*(at.proofs if at else ()), *((proof(case, late.rank, call),) if call else ())),
    )


def proof(case: RankCase, rank: int, call: Call) -> ProofPlace:
    """The line of a call in the dump of a rank."""
    dump = case.dumps[rank]
    return ProofPlace(dump.source, call.line, dump.text[call.line - 1] if 0 < call.line <= len(dump.text) else "")


def _odd(case: RankCase, rank: int, kind: Kind, text: str, **more: Any) -> OddRank:
    return OddRank(rank, kind, text, **asdict(case.process(rank)), **more)


def _numbered(call: Call) -> str:
    return f"{call.op} no. {call.seq}"


def _shown(call: Call) -> str:
    return f"{call.op} {call.inputs}".strip()


def _is_usual(case: RankCase, rank: int, name: str, call: Call) -> bool:
    """Does another rank call this operation in the group, or did this one before?"""
    calls = ((r, c) for r, group in case.groups[name].items() for c in group.calls if c.op == call.op)
    return any(r != rank or c.seq < call.seq for r, c in calls)


def place_of(case: RankCase, rank: int) -> Frame | None:
    """The line at which a rank is: of its stack, else of its last call."""
    at = doing(case, rank)
    last = case.last_call(rank)
    return at.frame if at else case.own_frame(last.frames) if last else None

"""How a rank keeps the others waiting: the kind, what it does, its line and that of the others, and the lines that show it.

    group 0, no. 17: all_reduce Float[64] on ranks 0, 1 and 3, broadcast Float[64] on rank 2     -> rank 2, another operation

The ranks that call what most call are taken for the usual ones. Where there is no majority, the habit of each rank decides: what
came after the same calls before, and after the longer row of them. A rank that made the call that used to follow that of the
others left theirs out.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise, takewhile
from operator import eq, itemgetter

from msgspec import Struct
from msgspec.structs import replace

from forensics.capture.stacks import STOPPED_CALL
from forensics.model.dumps import Call, Frame, GroupCalls
from forensics.model.ranks import Kind, OddRank, ProofPlace
from forensics.ranks.by_stacks import loop_apart
from forensics.ranks.case import RankCase
from forensics.ranks.doing import STOPPED_CALLS, doing, doing_since
from forensics.ranks.kinds import BARRIER, Apart, kind_apart, told_apart
from forensics.ranks.late import Late
from forensics.ranks.threads import collective_name, in_collective, parting
from forensics.ranks.waits import Edge, Waits, row_beyond

# Operations for which all ranks give tensors of one shape and type. Others may differ by rank, or have one list more at the root.
SAME_SHAPES = ("all_reduce", "broadcast", "reduce", "barrier", "_all_gather_base", "_reduce_scatter_base", "allreduce")
MAX_CALLS_AFTER = 2  # calls that all ranks still made: a broadcast, for one, returns at its root whatever the others do


Signature = tuple[str, str]  # an operation, and the shapes where all ranks give the same


class Difference(Struct, frozen=True):
    """The first call of a group that differs. `odd`: the call of each odd rank; `usual`: that of each other rank. `follows`: the
    odd ranks made the call that used to follow that of the others."""

    group: str
    seq: int
    follows: bool
    odd: Mapping[int, Call]
    usual: Mapping[int, Call]


def first_difference(case: RankCase) -> Difference | None:
    """The earliest difference in a group in which no rank went on for long; None if there is none."""
    found = [d for name, calls in case.groups.items() if (d := _in_group(name, calls))]
    return min(found, key=lambda d: min(c.created_ns for c in (*d.odd.values(), *d.usual.values())), default=None)


def _in_group(name: str, calls: Mapping[int, GroupCalls]) -> Difference | None:
    by_seq: dict[int, dict[int, Call]] = {}
    for rank, group in calls.items():
        for call in group.calls:
            if not call.between_two:
                by_seq.setdefault(call.seq, {})[rank] = call
    reached = min(g.enqueued for g in calls.values())
    for seq in sorted(s for s in by_seq if s >= reached - MAX_CALLS_AFTER):
        at = by_seq[seq]
        if len(at) > 1 and len({_signature(c) for c in at.values()}) > 1:
            return _judged(name, seq, at, by_seq)
    return None


def _signature(call: Call) -> Signature:
    return call.op, call.inputs if call.op in SAME_SHAPES else ""


def _judged(name: str, seq: int, at: Mapping[int, Call], by_seq: Mapping[int, Mapping[int, Call]]) -> Difference:
    counts = Counter(map(_signature, at.values())).most_common()
    if len(counts) > 1 and counts[0][1] > counts[1][1]:
        usual = {counts[0][0]}
    else:
        habits = {_signature(c): _habit(_before(r, seq, by_seq), c) for r, c in at.items()}
        usual = {signature for signature, length in habits.items() if length == max(habits.values())}
    if len(usual) == len(counts):  # nothing tells them apart: all are shown, the last to call first
        usual = {_signature(min(at.values(), key=lambda c: c.created_ns))}
    odd = {r: c for r, c in at.items() if _signature(c) not in usual}
    rest = {r: c for r, c in at.items() if r not in odd}
    first = min(rest)
    return Difference(name, seq, _follows(odd.values(), rest[first], _before(first, seq, by_seq)), odd, rest)


def _before(rank: int, seq: int, by_seq: Mapping[int, Mapping[int, Call]]) -> list[Call]:
    """The calls of `rank` in the group before the number `seq`, as far as they were kept."""
    return [by_seq[s][rank] for s in sorted(by_seq) if s < seq and rank in by_seq[s]]


def _habit(before: Sequence[Call], call: Call) -> int:
    """How long a row of calls, the same as the last ones, came before this call earlier; 0 where none did."""
    row = [_signature(c) for c in before]
    ends = [at for at, one in enumerate(row) if one == _signature(call)]
    return max((_same_back(row[:at], row) for at in ends), default=0)


def _same_back(first: Sequence[Signature], second: Sequence[Signature]) -> int:
    """How many calls at the end of two rows are the same."""
    return sum(1 for _ in takewhile(bool, map(eq, reversed(first), reversed(second))))


def _follows(odd: Collection[Call], usual: Call, before: Sequence[Call]) -> bool:
    """Did the odd ranks make the call that used to follow that of the others? `before`: those of the usual rank before."""
    if all(c.op == usual.op for c in odd):
        return False
    followed = {(_exact(a), _exact(b)) for a, b in pairwise(before)}
    # a program has few barriers, and seldom two in a row: a call that is made elsewhere, too, is the next one
    ordinary = {(_exact(c), c.frames) for c in before} if usual.op == BARRIER else set()
    return all((_exact(usual), _exact(c)) in followed or (_exact(c), c.frames) in ordinary for c in odd)


def _exact(call: Call) -> Signature:
    return call.op, call.inputs


MIN_BEFORE = 4  # chosen by hand: calls from the loop, so that it ran more than once
NO_DUMP = "it left no dump: it ended, or could no longer write one"


def with_difference(case: RankCase, found: Difference) -> tuple[OddRank, ...]:
    """The ranks that made another call than the others."""
    usual_rank, usual = min(found.usual.items())
    title = case.groups[found.group][usual_rank].title
    made = []
    for rank, call in sorted(found.odd.items()):
        text = f"it called {_shown(call)} as no. {found.seq} of group {title}, where the others called {_shown(usual)}"
        loop = loop_apart(case, rank, call, usual_rank, usual)
        if not found.follows and BARRIER not in usual.op and _left_loop_at(case, rank, call) is not None:
            loop = "left"
        elif loop == "left" and _came_together(case, found, rank, usual_rank):
            loop = ""
        elif _goes_on_in_loop(case, found, rank, usual_rank):
            loop = "still_in"
        kind = kind_apart(shown := Apart(call.op, usual.op, True, loop, found.follows))
        if kind == "other_batches" or not found.follows:
            kind, text = told_apart(shown, text)
        else:
            text = f"it left out {usual.op} no. {found.seq} of group {title}, and called what used to follow: {_shown(call)}"
        edge = Edge(usual_rank, rank, found.group, usual, shown=True)
        made.append(_with_lines(case, _awaited(case, rank, edge, kind, text, found.usual), call, edge))
    return tuple(made)


def _came_together(case: RankCase, found: Difference, rank: int, other: int) -> bool:
    """Did both ranks make the call before this one from the function in which `rank` is now? Then none left a loop before it."""
    calls = case.groups[found.group]
    before = [next((c for c in calls[r].calls if c.seq == found.seq - 1), None) for r in (rank, other)]
    lines = [case.own_frame(c.frames) if c else None for c in (found.odd[rank], *before)]
    return None not in lines and len({(line.file, line.function) for line in lines if line}) == 1


def _goes_on_in_loop(case: RankCase, found: Difference, rank: int, other: int) -> bool:
    """Does a rank make the call that it made before once more, while the others are below it in that function for the first time?
    One that left out a call inside of the loop did not leave out all of them."""
    calls = case.groups[found.group][rank].calls
    call, usual = found.odd[rank], found.usual[other]
    before = next((c for c in calls if c.seq == found.seq - 1), None)
    parted = parting(case.own_frames(call.frames)[::-1], case.own_frames(usual.frames)[::-1])
    if before is None or before.frames != call.frames or parted is None:
        return False
    _, mine, theirs = parted
    is_below = (mine.file, mine.function) == (theirs.file, theirs.function) and mine.line < theirs.line
    known = (c for group in case.groups[found.group].values() for c in group.calls if c.seq < found.seq)
    return is_below and all(c.frames != usual.frames for c in known)


def _awaited(case: RankCase, rank: int, edge: Edge, kind: Kind, text: str, waiting: Iterable[int]) -> OddRank:
    """A rank for which others wait, as `edge` shows it, without its own place and call."""
    title, others = case.groups[edge.group][edge.rank].title, case.line_of(edge.rank, edge.call)
    shown = (proof(case, edge.rank, edge.call),)
    return case.odd(
        rank, kind, text, group=title, call=_numbered(edge.call), others=others, waiting=tuple(sorted(waiting)), proofs=shown
    )


def in_other_order(case: RankCase, found: Waits, rank: int, name: str, call: Call) -> OddRank:
    """A rank that waits in one group while others wait for it in another one."""
    awaited = {e.group: e for e in reversed(found.edges) if e.other == rank and e.shown}
    beyond, edge = max(
        ((row_beyond(case, rank, e.group), e) for e in awaited.values()), key=itemgetter(0), default=(0, found.edges[0])
    )
    mine = f"{_numbered(call)} of group {case.groups[name][rank].title}"
    theirs = f"{_numbered(edge.call)} of group {case.groups[edge.group][edge.rank].title}"
    left_at = _left_loop_at(case, rank, call)
    is_left = left_at is not None and not _is_call_of_loop(case, rank, name, call, left_at)
    is_known = beyond > 1 or any(
        (r != rank or c.seq < call.seq) and c.op == call.op for r, group in case.groups[name].items() for c in group.calls
    )
    shown = Apart(call.op, edge.call.op, False, "left" if is_left else "", beyond > 1, is_known, True)
    kind, text = told_apart(shown, f"it waits in {mine}, while others wait for it in {theirs}")
    return _with_lines(case, _awaited(case, rank, edge, kind, text, found.waited_for(rank)), call, edge)


def _with_lines(case: RankCase, odd: OddRank, call: Call, edge: Edge) -> OddRank:
    """A rank with the line of its own call beside that of the rank that waits for it."""
    place, others = case.lines_of(odd.rank, call, edge.rank, edge.call)
    aborted = (end.frame for rank, end in sorted(case.ended.items()) if rank != odd.rank and end.received)
    is_shared = place is not None and place == others  # then their ways do not part
    fork = None if is_shared else case.fork_of(odd.rank, call, edge.rank, edge.call)
    shown = (proof(case, odd.rank, call), *odd.proofs)
    return replace(odd, place=place, others=others or next(aborted, None), proofs=shown, fork=fork)


def _is_call_of_loop(case: RankCase, rank: int, name: str, call: Call, depth: int) -> bool:
    """Did the rank make calls of this group before by the lines inside of the frame `depth`, and those of no other group? Then it
    is a call of the loop, and only came from elsewhere."""
    inner = call.frames[: len(call.frames) - 1 - depth]
    calls = ((g.name, c) for g in case.dumps[rank].groups for c in g.calls if c is not call)
    return bool(case.own_frames(inner)) and {group for group, c in calls if c.frames[: len(inner)] == inner} == {name}


def behind(case: RankCase, found: Waits, rank: int) -> OddRank:
    """A rank whose device did not carry out a call that others finished."""
    name, call = found.behind[rank]
    title = case.groups[name][rank].title
    others = next((c for r, g in case.groups[name].items() if r != rank for c in g.calls if c.seq >= call.seq), None)
    text = f"its device did not finish {_numbered(call)} of group {title}, which others finished"
    lines = case.own_frame(call.frames), case.own_frame(others.frames) if others else None
    waiting, shown = tuple(sorted(found.waited_for(rank))), (proof(case, rank, call),)
    place, their = lines
    return case.odd(
        rank, "device", text, group=title, call=_numbered(call), place=place, others=their, waiting=waiting, proofs=shown
    )


def waited_for(case: RankCase, found: Waits, rank: int) -> OddRank:
    """A rank that is waited for, and waits for nobody."""
    edge, unclear = found.first_for[rank], "its dump shows no unfinished call"
    base = _awaited(case, rank, edge, "elsewhere", unclear, found.waited_for(rank))
    last = case.last_call(rank)
    base = replace(base, last_ns=last.created_ns if last else 0)
    own = case.own_frame(last.frames) if last else None
    at, end = doing(case, rank), case.ended.get(rank)
    if at and not (end and end.frame):  # a stack that was taken while an exception was handled shows no more than that
        return replace(base, kind=at.kind, doing=at.told, place=at.frame, proofs=(*at.proofs, *base.proofs))
    if rank in case.held:
        return replace(base, kind="outside", doing=STOPPED_CALLS[STOPPED_CALL], place=own)
    if end:
        base = replace(base, kind=end.kind, doing=end.text, place=end.frame or own, cause=end.cause)
        return replace(base, proofs=(end.proof, *base.proofs))
    if thread := case.in_other_collective(rank):
        text = f"it waits in {collective_name(thread)}, a call that its dump does not have"
        head = ProofPlace(case.stacks[rank].source, thread.lines[0].number, thread.lines[0].text)
        place = case.own_frame(thread.frames)
        kind = kind_apart(Apart(collective_name(thread), edge.call.op))
        return replace(base, kind=kind, doing=text, place=place, proofs=(head, *base.proofs))
    if rank not in case.dumps:
        return replace(base, kind="no_dump", doing=NO_DUMP)
    if last is None:
        return base
    text = f"nothing shows what it does since it finished its last call, {_numbered(last)}"
    return replace(base, doing=text, place=own, proofs=(proof(case, rank, last), *base.proofs))


def left_unrecorded(case: RankCase, found: Waits, rank: int) -> OddRank:
    """A rank that waits in a call while most ranks wait in one that no dump has, as PyTorch does not record all."""
    edge = next(e for e in found.edges if e.rank == rank)
    title = case.groups[edge.group][rank].title
    there = sorted({e.other for e in found.edges if e.rank == rank})
    thread, end = case.threads.get(there[0]), case.gave_up.get(there[0])
    call = collective_name(thread) if thread and in_collective(thread) else end.call if end else ""
    others = case.own_frame(thread.frames) if thread else end.frame if end else None
    text = f"it waits in {_numbered(edge.call)} of group {title}, and left out {call or 'the call'} in which the others wait"
    place, shown = case.line_of(rank, edge.call), (proof(case, rank, edge.call), *((end.proof,) if end else ()))
    kind = kind_apart(Apart(edge.call.op, call, follows=True))
    return case.odd(rank, kind, text, call=call, place=place, others=others, waiting=tuple(there), proofs=shown)


def on_device(case: RankCase) -> tuple[OddRank, ...]:
    """The first rank, where all ranks of a group entered the same call, and none finished it."""
    waiting = {rank: place for rank in sorted(case.dumps) if (place := case.waits_in(rank))}
    alike = Counter((name, call.seq) for name, call in waiting.values())
    whole = (r for r, (name, call) in waiting.items() if alike[name, call.seq] == len(case.members[name]))
    if case.missing or (rank := next(whole, None)) is None:
        return ()
    name, call = waiting[rank]
    title = case.groups[name][rank].title
    started = "started and not finished" if call.started else "not finished"
    text = f"all ranks of group {title} entered {_numbered(call)}, and it is {started} on any: the device or the network hangs"
    own, others = case.own_frame(call.frames), tuple(sorted(waiting.keys() - {rank}))
    shown = (proof(case, rank, call),)
    odd = case.odd(rank, "device", text, group=title, call=_numbered(call), place=own, others=own, waiting=others, proofs=shown)
    return (odd,)


def late_rank(case: RankCase, late: Late) -> OddRank:
    """A rank that is late to all calls of a run that goes on."""
    group = case.groups[late.group][late.rank]
    call = next((c for c in reversed(group.calls) if not c.between_two), None)
    began = next(at for seq, at in zip(group.seqs, group.created_ns, strict=True) if seq >= late.since)
    at = doing(case, late.rank) or doing_since(case, late.rank, began)
    text = (
        f"it comes {late.late_s:.2g} s after the others to {late.rounds} calls of group {group.title}, from no. {late.since} on"
    )
    place = at.frame if at else case.own_frame(call.frames) if call else None
    shown = (*(at.proofs if at else ()), *((proof(case, late.rank, call),) if call else ()))
    waiting = tuple(r for r in case.members[late.group] if r != late.rank)
    odd = case.odd(late.rank, "late", text, group=group.title, place=place, waiting=waiting, proofs=shown)
    return replace(odd, late_s=late.late_s, since=late.since)


def proof(case: RankCase, rank: int, call: Call) -> ProofPlace:
    """The line of a call in the dump of a rank."""
    dump = case.dumps[rank]
    return ProofPlace(dump.source, call.line, dump.text[call.line - 1] if 0 < call.line <= len(dump.text) else "")


def _numbered(call: Call) -> str:
    return f"{call.op} no. {call.seq}"


def _shown(call: Call) -> str:
    return f"{call.op} {call.inputs}".strip()


def place_of(case: RankCase, rank: int) -> Frame | None:
    """The line at which a rank is: of its stack, else of its last call."""
    at = doing(case, rank)
    last = case.last_call(rank)
    return at.frame if at else case.own_frame(last.frames) if last else None


def _left_loop_at(case: RankCase, rank: int, call: Call) -> int | None:
    """The number of the frame, seen from the outermost one, that stands below every line from which its function called others
    that made the rank's calls before; None where `call` has no such frame.

    step < epoch (train.py:97) < main, again and again, then finish < epoch (train.py:98) < main    -> it left the loop of epoch

    Two calls of one function that are made in another order look the same as a call behind the loop, and tell nothing."""
    own = case.own_frame(call.frames)
    calls = (c for group in case.dumps[rank].groups for c in group.calls)
    before = [c.frames[::-1] for c in calls if c.created_ns < call.created_ns]
    for depth, frame in enumerate(reversed(call.frames)):
        before = [frames for frames in before if len(frames) > depth and _is_same(frames[depth], frame)]
        lines = {frames[depth].line for frames in before}
        if frame.line not in lines:
            is_below = frame is not own or all(case.own_frame(frames[::-1]) is not frames[depth] for frames in before)
            return depth if len(before) >= MIN_BEFORE and frame.line > max(lines) and is_below else None
        before = [frames for frames in before if frames[depth].line == frame.line]
    return None


def _is_same(one: Frame, other: Frame) -> bool:
    return (one.file, one.function) == (other.file, other.function)

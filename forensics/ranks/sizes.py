"""Ranks of which logs tell that their call does not fit those of others.

rank 0 called allreduce [32] Float, rank 1 allreduce [32] Double, rank 2 as rank 0   -> rank 1: PyTorch compared the calls

Over gloo tensors of different sizes end a rank that gets more than it expects.

rank 1 got 112 bytes where it expects 96, in all_reduce     -> rank 1, or rank 2, from which they came: one is not as the others
rank 1 got them at evaluate (loops.py:35), where the others are at train_epoch (loops.py:22)   -> rank 1 made another call
rank 2, from which they came, is there, and the others are not                                 -> rank 2 made another call

A rank that gets less than it expects reads on, so the one that ends is the odd one only if its own tensor is the smaller. Dumps
of two others tell it: where they are alike, it is the one without a dump.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from forensics.model.dumps import Call, Frame
from forensics.model.ranks import Kind, OddRank
from forensics.ranks.case import RankCase
from forensics.ranks.ended import Ended
from forensics.ranks.kinds import LEFT_LOOP, SIZES_ALONE, Apart, kind_apart

FROM = {"all_reduce": 1, "reduce": 1, "all_gather": -1, "all_gather_into_tensor": -1}  # from which rank gloo gets
MIN_ALIKE = 2  # dumps of others that show one call, so that the one without a dump is the odd one
ONE_NUMBER, MIN_TIMES_LARGER = 8, 4  # bytes, and how many times as large: a gradient and a count, no two forms of one tensor
OTHER_CALL = "it made another call than they, as with fewer batches, or where only some ranks come by"


def of_told_call(case: RankCase) -> tuple[OddRank, ...]:
    """The ranks whose call is not that of most ranks, as PyTorch tells it; all of them where none is that of most."""
    (usual, count), *others = Counter(case.calls.values()).most_common() or [(("", ""), 0)]
    made = []
    for rank, call in sorted(case.calls.items()) if others else ():
        if call != usual or 2 * count <= len(case.calls):
            there = next(c for c in (usual, *(c for c, _ in others)) if c != call)
            kind: Kind = "other_shape" if there[0] == call[0] else "other_call"
            text = f"it called {' '.join(call).strip()}, where others called {' '.join(there).strip()}"
            lines = {r: end for r, end in case.gave_up.items() if end.frame}
            own, theirs = lines.get(rank), next((e for r, e in sorted(lines.items()) if case.calls.get(r) == there), None)
            shown = tuple(e.proof for e in (own, theirs) if e)
            places = {"place": own and own.frame, "others": theirs and theirs.frame, "proofs": shown}
            made.append(case.odd(rank, kind, text, waiting=tuple(sorted(case.calls.keys() - {rank})), **places))
    return tuple(made)


def of_other_size(case: RankCase) -> tuple[OddRank, ...]:
    """The ranks of which one differs, where one ended by the size of what it got; none if no log tells of such an end."""
    rank, end = next(((r, e) for r, e in sorted(case.ended.items()) if e.received), (-1, None))
    if end is None:
        return ()
    there = {r: e.frame for r, e in case.gave_up.items() if r != rank and e.frame}
    there |= {r: line for r in case.dumps if r != rank and (c := case.last_call(r)) and (line := case.line_of(r, c))}
    shown, others = _shown(end), next((frame for _, frame in sorted(there.items())), None)
    if end.frame and others and end.frame.place not in {frame.place for frame in there.values()}:
        kind = kind_apart(Apart(end.call, "", loop="left" if _is_of_number(end) or _is_behind(case, end.frame, others) else ""))
        return (_odd(case, rank, end, kind, f"{shown}: {LEFT_LOOP if kind == 'other_batches' else OTHER_CALL}", others),)
    if changed := [
        (r, was, call) for r, call in ((r, case.last_call(r)) for r in case.dumps) if call and (was := _usual(case, r, call))
    ]:
        r, was, made = changed[0]
        text = f"it called {made.op} {made.inputs}, and {was} before at that line; rank {rank} ended by it, as {shown}"
        return (_odd(case, r, replace(end, frame=case.line_of(r, made)), "other_shape", text, end.frame),)
    last = [call for r in case.dumps if r != rank and (call := case.last_call(r))]
    if sum(call.seq == max(c.seq for c in last) for call in last) >= MIN_ALIKE:
        return (_odd(case, rank, end, "other_shape", f"{shown}: its tensor is smaller than those of the others", others),)
    return _of_sender(case, rank, end, there, _sender(case, rank, end, last))


def _of_sender(case: RankCase, rank: int, end: Ended, there: Mapping[int, Frame], sender: int) -> tuple[OddRank, ...]:
    """Which of two ranks differs, the one that ended or the one from which the bytes came, by the lines that are known; the first
    one where nothing tells it. `sender`: `rank` itself where it is not known."""
    shown, others = _shown(end), next((frame for _, frame in sorted(there.items())), None)
    if few := _at_other_line(end, rank, sender, there):
        usual = next((frame for r, frame in sorted(there.items()) if r not in few), end.frame)
        text = f"rank {rank} got {end.received} bytes from rank {sender} and expects {end.expected}: {OTHER_CALL}"
        return tuple(_odd(case, r, replace(end, frame=there[r]), "other_call", text, usual) for r in few)
    if sender == rank or end.frame is None or (sender in there and there[sender].place != end.frame.place):
        if end.frame is None and _is_of_number(end):
            return (_odd(case, rank, end, "other_batches", f"{shown}, as of a single number: {LEFT_LOOP}", others),)
        whose = f"rank {sender}, which sent them," if sender != rank else "the rank which sent them"
        text = f"{shown}: {SIZES_ALONE} {whose} is larger"
        if end.frame is None and len(there) >= MIN_ALIKE and len({frame.place for frame in there.values()}) == 1:
            end = replace(end, frame=others)  # all others are in one call, of which its own is most likely a part
        return (_odd(case, rank, end, "other_shape", text, others),)
    # both are at one line: a last batch or a shard is more often too small than too large
    return (_odd(case, rank, end, "other_shape", f"{shown}: {SIZES_ALONE} rank {sender}, which sent them, is larger", others),)


def _is_of_number(end: Ended) -> bool:
    """Did it call for a single number, as a program does behind its loop, where it got a tensor?"""
    return MIN_TIMES_LARGER * end.expected <= end.received and end.expected <= ONE_NUMBER


def _shown(end: Ended) -> str:
    return f"{f'in {end.call} ' if end.call else ''}it got {end.received} bytes and expects {end.expected}"


def _sender(case: RankCase, rank: int, end: Ended, last: Sequence[Call]) -> int:
    """The rank from which the bytes came, by the operation as a stack, dumps or the lines of others tell it; `rank` itself where
    nothing does. `last`: the last calls of others in their dumps."""
    told = (end.call, *(call.op for call in last), *(one.call for _, one in sorted(case.gave_up.items())))
    step = FROM.get(next(filter(None, told), ""), 0)
    return (rank + step) % case.world if case.world > MIN_ALIKE else rank


def _at_other_line(end: Ended, rank: int, sender: int, there: Mapping[int, Frame]) -> list[int]:
    """The ranks at the line of the one that sent the bytes, where `rank`, which got them, is at another line with more of them:
    one call has one size. Where nothing tells the line of `rank`, it is not that one if others are elsewhere."""
    if sender not in there:
        return []
    at, own = there[sender].place, end.frame.place if end.frame else ""
    few = [r for r, frame in there.items() if frame.place == at]
    more = [r for r, frame in there.items() if frame.place != at and (not own or frame.place == own)]
    return sorted(few) if own != at and more and len(few) < len(more) + 1 else []


def _is_behind(case: RankCase, own: Frame, others: Frame) -> bool:
    """Was a rank, by the stack of its end, called from behind the line at which others wait, in their function?"""
    paths = (case.own_frames(t.frames) for one in case.all_stacks for t in one.threads)
    callers = next((path[1:] for path in paths if path[:1] and path[0].place == own.place), [])
    return any((f.file, f.function) == (others.file, others.function) and f.line > others.line for f in callers)


def _usual(case: RankCase, rank: int, call: Call) -> str:
    """The shape that a rank gave all its calls before from where it made this one with another shape; empty if it is none."""
    calls = (c for group in case.dumps[rank].groups for c in group.calls)
    before = {c.inputs for c in calls if c is not call and (c.op, c.frames) == (call.op, call.frames)}
    return before.pop() if len(before) == 1 and call.inputs not in before else ""


def _odd(case: RankCase, rank: int, end: Ended, kind: Kind, text: str, others: Frame | None) -> OddRank:
    waiting = tuple(sorted((case.gave_up.keys() | case.dumps.keys()) - {rank}))
    return case.odd(rank, kind, text, call=end.call, place=end.frame, others=others, waiting=waiting, proofs=(end.proof,))

"""The picture of a case: what each rank does, and which ranks keep the others waiting, and how.

The first of these that shows something decides: a call that differs, a circle of groups, a device that is behind, ranks that are
waited for and wait for nobody, a call that no device finishes, a rank that is late to all calls. A run in which no rank waits for
long shows nothing.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import sub

from msgspec.structs import replace

from forensics.line_formats import parse_prefix
from forensics.model.dumps import Dump
from forensics.model.ranks import GroupRow, LastCalls, OddRank, ProofPlace, RankPicture, RankProcess, RankRow
from forensics.model.stacks import ProcessStacks
from forensics.ranks.beside import Beside, with_beside
from forensics.ranks.by_stacks import late_in_looks, picture_of_ends, picture_of_stacks
from forensics.ranks.case import MAX_ODD, MIN_LOOKS, RankCase
from forensics.ranks.doing import CALLS, FOR_LOCK, FOR_THREAD, WORKS
from forensics.ranks.ended import Ends
from forensics.ranks.helpers import helper_of, waits_for_helper
from forensics.ranks.kinds import BARRIER, rival
from forensics.ranks.late import latest_rank
from forensics.ranks.looks import later_looks, place_at_work, shown_by_looks, stood_elsewhere
from forensics.ranks.observation import at
from forensics.ranks.odd_ranks import (
    behind,
    first_difference,
    in_other_order,
    late_rank,
    left_unrecorded,
    on_device,
    place_of,
    waited_for,
    with_difference,
)
from forensics.ranks.sizes import of_other_size, of_told_call
from forensics.ranks.threads import at_work, waits_in_call
from forensics.ranks.waits import Waits, odd_in_circle, waits

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


ELSEWHERE = ("barrier", "left_out", "other_call", "other_batches")  # kinds of a rank that waits in another call than the others
FOR_HELPER = ("outside", "computes", "lock")  # kinds of a rank that may wait for a process of its own
FOR_ANOTHER = (FOR_THREAD, FOR_LOCK, CALLS["futex"])  # waits of a rank that one of its own threads may never end
MIN_TIMES_GAP = 4.0  # a wait that is ordinary for a run is shorter than so many of its longest times between two calls
MIN_WAIT_S = 2.0  # chosen by hand: a shorter wait when the dumps were made is an ordinary one
MAX_AFTER_S = 7 * 86400.0  # a dump that was written so long after its last call was copied: the time of its file says nothing


def picture(
    dumps: Iterable[Dump],
    stacks: Iterable[ProcessStacks] = (),
    ends: Ends | None = None,
    processes: Mapping[int, RankProcess] | None = None,
    written: Mapping[str, datetime] | None = None,
    by_logs: bool = False,
    beside: Beside = Beside(),  # noqa: B008
) -> RankPicture | None:
    """The picture of the ranks in `dumps`; without a dump that of their stacks, None where they show none. `ends`: how ranks
    ended, as logs tell it. `processes`: those of ranks. `written`: when the file of each dump and of each stack was written.
    `by_logs`: where there is neither, the ends of ranks alone make it. `beside`: what logs of other programs tell."""
    case = RankCase(dumps, stacks, ends or Ends(), processes or {}, written or {})
    seen = _of_dumps(case, by_logs) if case.dumps else _without_dumps(case, by_logs)
    if seen is None:
        return None
    odd = tuple(_with_more(case, o, len(seen.odd) == 1) for o in seen.odd)
    if len(odd) != 1:
        return replace(seen, odd=odd)
    stacks_of_it = case.stacks.get(odd[0].rank)
    looked = (stacks_of_it.taken or case.written.get(stacks_of_it.source)) if stacks_of_it else None
    return replace(seen, odd=(with_beside(odd[0], beside, looked or 0.0),))


def _with_more(case: RankCase, odd: OddRank, is_alone: bool) -> OddRank:
    """A rank with what tells its kind beside the moment: that it was late before, or the one exception in the logs of which
    nothing tells the rank, where it went to another call than the others. Where that ended a thread, and the rank waits for one,
    it is the reason. And what it may be as well."""
    if odd.kind in ("computes", "elsewhere") and (odd.late_s or odd.late_waits):
        odd = replace(odd, kind="late")
    end = case.handled.get(odd.rank) or (case.raised[0] if is_alone and len(case.raised) == 1 else None)
    if end and odd.kind in ELSEWHERE:
        text = f"{end.text}, and then {odd.doing}"
        odd = replace(odd, kind=end.kind, doing=text, place=end.frame, proofs=(end.proof, *odd.proofs), cause=end.cause)
    elif end and end.in_thread and odd.doing.startswith(FOR_ANOTHER):
        text = f"{odd.doing}, and in one of its threads {end.text}{at(end.frame)}"
        odd = replace(odd, doing=text, proofs=(end.proof, *odd.proofs), cause=end.cause)
    odd = _with_helper(case, odd) if is_alone and not end else odd
    shown = tuple(dict.fromkeys((*_by_others(case, odd), *odd.proofs)))
    odd = replace(odd, proofs=shown, is_held=odd.rank in case.held)
    own = case.stacks.get(odd.rank)
    looks = sum(one.pid is not None and own is not None and (one.host, one.pid) == (own.host, own.pid) for one in case.all_stacks)
    return replace(odd, rival=rival(odd, looks >= MIN_LOOKS))


def _with_helper(case: RankCase, odd: OddRank) -> OddRank:
    """A rank that waits for a process of its own, with the end of that one, if a log tells of one that may be it."""
    found, stacks = case.at_work(odd.rank), case.stacks.get(odd.rank)
    if odd.kind not in FOR_HELPER or not found or not stacks or not waits_for_helper(found[0].frames, odd.place):
        return odd
    event = helper_of(stacks, case.others_ended)
    if event is None:
        return odd
    text = f"{odd.doing}, and a process that was started soon after it and is no rank, pid {event.fields['pid']}, is gone"
    place = ProofPlace(event.proofs[0].source, event.proofs[0].line, event.proofs[0].text)
    return replace(odd, doing=text, proofs=(*odd.proofs, place), helper=int(str(event.fields["pid"])))


def _by_others(case: RankCase, odd: OddRank) -> tuple[ProofPlace, ...]:
    """The lines in which others tell that they stopped it, or sent a signal to it or to the launcher that tells of its end."""
    own = {odd.pid, *(parse_prefix(one.text).pid for one in odd.proofs[:1] if odd.kind == "left")} - {None}
    sent = (line for pid in own if pid for line in case.sent.get(pid, ()))
    return (*case.held.get(odd.rank, ()), *(sent if odd.kind == "left" else ()))


def _without_dumps(case: RankCase, by_logs: bool) -> RankPicture | None:
    told = picture_of_stacks(case)
    moved = case.went_on or shown_by_looks(case.all_stacks) == "progress"
    goes_on = moved and not (case.gave_up or case.ended or case.raised)
    if goes_on and (late := late_in_looks(case.all_stacks, case.processes, case.went_on)):
        return late
    if told and ((goes_on and (case.went_on or _went_on(case, told))) or _most_work(case, told)):
        return _at_work(told)
    is_told = (
        by_logs
        or bool(case.calls)
        or any(end.received or (end.kind == "ended_well" and case.gave_up) for end in case.ended.values())
    )
    return told if (told and told.odd) or not is_told else picture_of_ends(case) or told


def _went_on(case: RankCase, told: RankPicture) -> bool:
    """Does a rank that waits in one look stand elsewhere in a later one, or one for which they wait in a call? Or do no more than
    half of the ranks wait, each of them where it did not stand in any other look? A barrier is there to wait for the work of
    others: one for which they wait there works if it moved."""
    odd = [case.stacks[o.rank] for o in told.odd if o.rank in case.stacks]
    if odd and all(BARRIER in o.call and stood_elsewhere(case.all_stacks, case.stacks[o.rank]) for o in told.odd):
        return True
    waiting = [case.stacks[rank] for rank in {r for o in told.odd for r in o.waiting} if rank in case.stacks]
    came = (at_work(one) for own in odd for one in later_looks(case.all_stacks, own))
    moved = (place_at_work(one) != place_at_work(own) for own in waiting for one in later_looks(case.all_stacks, own))
    if any(moved) or any(thread is not None and waits_in_call(thread) for thread in came):
        return True
    return 2 * len(waiting) <= told.world and all(stood_elsewhere(case.all_stacks, own) for own in waiting)


def _most_work(case: RankCase, told: RankPicture) -> bool:
    """Do more ranks stand outside of calls than wait in one, and nothing tells an end or a silence? Those that wait are ahead of
    the others: of a run at work that is one moment, and where the others compute, several."""
    if case.gave_up or case.ended or case.raised or any(one.silent_since for one in case.stacks.values()):
        return False
    one_look = shown_by_looks(case.all_stacks) == "place"
    waiting = {rank for o in told.odd for rank in o.waiting}
    return len(told.odd) > len(waiting) > 0 and all(o.kind == "computes" or (one_look and o.by_stacks) for o in told.odd)


def _at_work(told: RankPicture) -> RankPicture:
    """The picture of a run that was looked at while it worked: who waited in one look went on before another one."""
    rows = tuple(replace(row, state="outside") if row.state == "elsewhere" else row for row in told.rows)
    return replace(told, rows=rows, edges=(), odd=())


MOMENTARY = ("computes", "outside", "lock", "hook")  # kinds of a rank that may go on a moment later


def only_awaited(told: RankPicture, any_kind: bool) -> RankPicture:
    """The picture of a run that nothing shows to hang: ranks that may go on are only waited for at this moment. `any_kind`: the
    run is known to have worked then; else only those that compute may go on."""
    if not all(odd.kind in MOMENTARY and (any_kind or odd.kind == "computes" or odd.doing.startswith(WORKS)) for odd in told.odd):
        return told
    rows = tuple(replace(row, state="outside") if row.state == "elsewhere" else row for row in told.rows)
    return replace(told, rows=rows, odd=(), awaited=told.odd)


def _of_dumps(case: RankCase, by_logs: bool) -> RankPicture:
    found, late = waits(case), latest_rank(case)
    waited = _waited_s(case)
    if different := first_difference(case):
        odd = with_difference(case, different)
    elif case.missing and len(case.stacks) == case.world and (told := picture_of_stacks(case)) and told.odd:
        odd = told.odd  # of ranks without a dump only their stacks tell whether they wait
    elif _is_hang(case, found, waited):
        odd = of_other_size(case) or _odd(case, found)
    else:
        odd = (late_rank(case, late),) if late else ()
    odd = odd or of_told_call(case) or _outside_alone(case)
    if not odd and case.missing and (seen := late_in_looks(case.all_stacks, case.processes, case.went_on)):
        odd = seen.odd  # dumps of some ranks do not show which one came late
    if not odd and by_logs and (case.gave_up or case.ended) and (told := picture_of_ends(case)):
        odd = told.odd  # they ended after the dumps were made
    if late and any(o.rank == late.rank for o in odd):  # of the others' dumps the moment may have been an earlier one
        odd = tuple(o for o in odd if o.rank == late.rank or o.kind != "elsewhere")
    odd = tuple(replace(o, late_s=late.late_s, since=late.since) if late and o.rank == late.rank else o for o in odd)
    edges = tuple(sorted({(e.rank, e.other) for e in found.edges}))
    rows = tuple(_row(case, r, found) for r in range(case.world))
    return RankPicture(case.world, rows, edges, odd, case.missing, waited, last_calls(case, odd), matrix(case))


def _is_hang(case: RankCase, found: Waits, waited_s: float) -> bool:
    """Does a rank wait for one that ended, did one give up, or does it wait for longer than is ordinary in this run?"""
    roots = found.roots()
    if any(rank in case.ended for rank in roots):
        return True
    if roots and case.outdated.issuperset(roots):
        return False
    if any(rank in case.dumps for rank in case.gave_up) and not case.stopped:  # who stops a run takes the others from each rank
        return True
    pending = (c.pending for dump in case.dumps.values() for group in dump.groups for c in group.calls)
    if not found.edges and not any(pending):
        return False
    return waited_s < 0 or waited_s > max(MIN_WAIT_S, MIN_TIMES_GAP * _longest_gap_s(case))


def _outside_alone(case: RankCase) -> tuple[OddRank, ...]:
    """The ranks whose stacks stand outside of collectives while those of others stand in one, long after the last call in any
    dump, and before the dumps were written: gloo records no call between two ranks."""
    moments = ((case.written.get(one.source, 0.0) for one in given) for given in (case.stacks.values(), case.dumps.values()))
    waited = min(max(moment, default=0.0) for moment in moments) - max(dump.last_ns for dump in case.dumps.values()) / 1e9
    least = max(MIN_WAIT_S, MIN_TIMES_GAP * _longest_gap_s(case))
    if not least <= waited < MAX_AFTER_S or not case.stacks.keys() >= case.dumps.keys():
        return ()
    told = picture_of_stacks(case)
    return told.odd if told and not _went_on(case, told) and not _most_work(case, told) else ()


def _longest_gap_s(case: RankCase) -> float:
    """The longest time between two calls of one group, without the first ones, in which programs start."""
    columns = (group.created_ns[1:] for calls in case.groups.values() for group in calls.values())
    return max((max(map(sub, column[1:], column), default=0) for column in columns), default=0) / 1e9


def _waited_s(case: RankCase) -> float:
    """For how long the ranks waited when the dumps were written; negative where the files' times do not tell."""
    since = [place[1].created_ns / 1e9 for rank in case.dumps if (place := case.waits_in(rank)) and place[1].created_ns]
    times = [case.written[d.source] for d in case.dumps.values() if d.source in case.written]
    waited = max(times) - min(since) if times and since else -1.0
    return waited if 0 <= waited < MAX_AFTER_S else -1.0


def _odd(case: RankCase, found: Waits) -> tuple[OddRank, ...]:
    if circular := odd_in_circle(case, found):
        return tuple(in_other_order(case, found, rank, name, call) for rank, (name, call) in sorted(circular.items()))
    if found.behind:
        return tuple(behind(case, found, rank) for rank in sorted(found.behind))
    if roots := found.roots():
        if left := _left_for_call(case, found, roots):
            return tuple(left_unrecorded(case, found, rank) for rank in left)
        return tuple(waited_for(case, found, rank) for rank in _told_first(case, roots))
    return on_device(case)


def _left_for_call(case: RankCase, found: Waits, roots: list[int]) -> list[int]:
    """The ranks that wait for others, where those are more and wait themselves, in a call that no dump has: they left it out."""
    waiting = sorted({edge.rank for edge in found.edges})
    known = {case.line_of(edge.rank, edge.call) for edge in found.edges} | {place_of(case, rank) for rank in roots}
    gave_up = [rank for rank in roots if (end := case.gave_up.get(rank)) and end.frame and end.frame not in known]
    is_shared = all(rank in gave_up or case.in_other_collective(rank) for rank in roots)
    return waiting if is_shared and len(waiting) < len(roots) and not case.missing else []


def _told_first(case: RankCase, roots: list[int]) -> list[int]:
    """The ranks that are waited for: those of which a log tells an end alone, if there are any; else those with a dump or a stack
    first, without those whose stack stands in a call that no dump has, where others do not. A rank without a dump may have
    been ended because another one had failed."""
    ended = [rank for rank in roots if rank in case.ended]
    unseen = {rank for rank, thread in case.threads.items() if rank not in case.dumps and waits_in_call(thread)}
    apart = [rank for rank in roots if rank not in unseen and not case.in_other_collective(rank)]
    told = ended or sorted(apart or roots, key=lambda rank: (rank not in case.dumps and rank not in case.stacks, rank))
    return told[:MAX_ODD]


def _row(case: RankCase, rank: int, found: Waits) -> RankRow:
    process, place = case.process(rank), place_of(case, rank)
    if rank not in case.dumps:
        return RankRow(rank, "silent", place=place, pid=process.pid, host=process.host)
    if waiting := case.waits_in(rank):
        name, call = waiting
        title, own = case.groups[name][rank].title, case.own_frame(call.frames)
        return RankRow(rank, "behind" if rank in found.behind else "waits", title, call, own, process.pid, process.host)
    last = case.last_call(rank)
    title = next((g.title for g in case.dumps[rank].groups if last in g.calls), "")
    return RankRow(rank, "elsewhere" if found.waited_for(rank) else "done", title, last, place, process.pid, process.host)

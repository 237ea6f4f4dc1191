"""The picture of the ranks from their stacks alone, where no rank left a dump: who stands in a collective call, and who does not.

rank 0: all_reduce < train (train.py:14)     rank 1: the same     rank 2: load_shard (train.py:7)
    -> 0 and 1 wait in all_reduce at train.py:14, and rank 2 keeps them waiting: it loads data at train.py:7

Stacks show one moment, and no numbers or groups of calls. Where nobody stands in a call, or all in the same one, no rank is odd.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise, takewhile

from msgspec import Struct
from msgspec.structs import replace

from forensics.capture.stacks import STOPPED_CALL
from forensics.model.dumps import Call, Frame
from forensics.model.ranks import Kind, OddRank, ProofPlace, RankPicture, RankProcess, RankRow, State
from forensics.model.stacks import ProcessStacks
from forensics.ranks.case import CLOCKS_S, MAX_ODD, MIN_LOOKS, RankCase
from forensics.ranks.doing import CALLS, OUTSIDE_WAIT, STOPPED_CALLS, called_at, doing, line_proofs, lock_keeper
from forensics.ranks.ended import ENDED_SILENT, Ended
from forensics.ranks.kinds import BARRIER, UNNAMED, Apart, Loop, told_apart
from forensics.ranks.looks import stood_elsewhere, with_looks
from forensics.ranks.observation import at
from forensics.ranks.pairs import PAIR_CALLS, circle_of, left_by_peer, peer_of
from forensics.ranks.sizes import of_other_size, of_told_call
from forensics.ranks.threads import SPAWN_FILE, UNNAMED_CALL, asking_for, fork_of, parting, waits_in_call

LATE_KINDS = ("computes", "outside", "lock", "hook")  # of a rank for which others wait in a run that goes on
ONE_MOMENT = "by their stacks, which show one moment and do not number the calls"
SEVERAL_LOOKS = "by their stacks in {} looks, which do not number the calls"
OTHER_MOMENT = "by their stacks, which were taken at another moment than the time-outs in the log"
_Lines = tuple[Frame | None, Frame | None, tuple[Frame, Frame] | None]  # of a rank, of the others, and where their ways part
BY_LOGS = "by the logs, which say how ranks ended"
TORCH_FOLDER = "/torch/"  # of PyTorch's own files
SHARED_WAIT = "one call"  # of which no stack tells the name
UNCLEAR_WAITS = (OUTSIDE_WAIT, CALLS["futex"])  # also in a hook, where a program waits for the gradients of others
OF_MODEL = ("backward", "forward")  # calls that make the collective ones; any other is itself one, as in a loop over parameters
CROSSED = "it comes to the call in which others wait from another line, before the call in which one waits for it"
QUIET = "no log says what it does, while the logs of all other ranks say that they waited and gave up"
LEFT_PAIR = "it left out its part of the {their} in which rank {other} waits for it, and is in {own}"
IN_CIRCLE = "it waits in {own} for rank {other}, which waits in {their}, in a circle: one of these left a call out"
MIN_WAITED = 2  # ranks that gave up: of two ranks, the other one may only have been ended before it did
QUIET_END = "logs name it, no stack of it was taken, and no log tells how it ended: it most likely ended with exit status 0"
NO_STACK = "no stack of it was taken: it ended, or could not be looked at"


class _Stand(Struct, frozen=True):
    """Where a rank stands. `call`: the collective call, empty outside of any; `kind`, `text`: what it does, outside of any.
    `is_inner`: `frame` is the innermost one, so it waits in native code. `path`: of a call, all frames outside of PyTorch,
    outermost first, with those that wait for the thread that makes the call; `own`: those of the program, in the same order.
    `source`: the stacks, which tell what was seen of the program's source. `group`: how that names the group of the call, if the
    log of its end shows the line. `peer`: of a call between two ranks the other one, if it is known."""

    call: str
    frame: Frame | None
    proofs: tuple[ProofPlace, ...]
    kind: Kind = "outside"
    text: str = ""
    is_inner: bool = False
    path: tuple[Frame, ...] = ()
    own: tuple[Frame, ...] = ()
    source: ProcessStacks | None = None
    group: str = ""
    peer: int | None = None

    @property
    def place(self) -> tuple[str, ...]:
        """The call and the lines of the program; ranks that wait for each other mostly have the same."""
        return self.call, *(f"{frame.file}:{frame.line}" for frame in self.own)

    @property
    def loops(self) -> Mapping[str, tuple[tuple[int, int], ...]]:
        """The first and last lines of the loops around each place."""
        return self.source.loops if self.source else {}

    def same_calls(self, frame: Frame) -> tuple[int, ...]:
        """The other lines at which the function of a frame makes the same call."""
        return self.source.same_calls.get(f"{frame.file}:{frame.line}", ()) if self.source else ()

    @property
    def calls(self) -> tuple[Frame, ...]:
        """The frames of the program, each at the first line at which its function makes the same call."""
        return tuple(replace(f, line=min(f.line, *self.same_calls(f))) if self.same_calls(f) else f for f in self.own)


def picture_of_stacks(case: RankCase) -> RankPicture | None:
    """The picture; None where fewer than two ranks have a stack."""
    stands = {rank: one for rank in sorted(case.stacks) if (one := _stand(case, rank))}
    if len(stands) < 2:
        return None
    missing = tuple(rank for rank in range(case.world) if rank not in stands)
    stands = _with_shared_wait(case, stands)
    waiting = {rank: one for rank, one in stands.items() if one.call}
    stale = _is_other_moment(case, waiting, stands.keys() - waiting.keys())
    odd = () if stale or not waiting else _left_pair(case, stands, missing)
    if waiting and not stale and not odd:
        is_pipeline = len(waiting) == len(stands) and all(one.call in PAIR_CALLS for one in waiting.values())
        odd = _unseen(case, stands, missing) if is_pipeline and not case.ended else _odd(case, stands, waiting, missing)
    odd = odd[:MAX_ODD]
    silent = max((one.silent_since for one in case.stacks.values() if one.silent_since), default=None)
    odd = tuple(replace(one, late_waits=_late_waits(case, one), silent_since=silent) for one in odd)
    rows = tuple(_row(case, rank, stands.get(rank), bool(odd)) for rank in range(case.world))
    edges = tuple((rank, one.rank) for rank in waiting for one in odd if one.rank not in waiting)
    return RankPicture(case.world, rows, edges, odd, missing, basis=OTHER_MOMENT if stale else _shown_by(case))


def _shown_by(case: RankCase) -> str:
    """On what the picture rests: one look at the stacks, or several."""
    looks = max(Counter((one.host, one.pid) for one in case.all_stacks if one.pid is not None).values(), default=1)
    return SEVERAL_LOOKS.format(looks) if looks > 1 else ONE_MOMENT


def late_in_looks(
    stacks: Iterable[ProcessStacks], processes: Mapping[int, RankProcess], went_on: bool = False
) -> RankPicture | None:
    """The picture of a run that went on, or that somebody stopped: the one rank for which the others waited in each of
    several looks at them, and not in a barrier, which is there to wait for the work of one. It is late if it waits there,
    came by another line to what it does, or a log shows that the run `went_on`. One that computes in one function may never
    leave it, and one that waits in one place through a single silence of the job did not. None where there is no such rank."""
    cases = [RankCase((), look, processes=processes) for look in _looks(stacks)]
    most = max((len(case.stacks) for case in cases), default=0)
    cases = [case for case in cases if len(case.stacks) == most]  # a look at some of them tells nothing of the others
    looks = [
        (case, seen) for case in cases if (seen := picture_of_stacks(case)) and any(row.state == "waits" for row in seen.rows)
    ]
    odd = [seen.odd[0] for _, seen in looks if len(seen.odd) == 1 and seen.odd[0].kind in LATE_KINDS]
    if len(looks) < MIN_LOOKS or len(odd) < len(looks) or len({one.rank for one in odd}) > 1:
        return None
    if any(BARRIER in one.call for one in odd):
        return None
    ways = {tuple(case.own_frames(case.threads[odd[0].rank].frames)[1:]) for case, _ in looks}
    at_most = _usual_look([case.own_frames(case.threads[odd[0].rank].frames) for case, _ in looks])
    when = "in the last one" if at_most == len(looks) - 1 else "in most of them"
    told = replace(
        odd[at_most], doing=f"in each of {len(looks)} looks the other ranks waited for it; {when} {odd[at_most].doing}"
    )
    stays = told.kind == "computes" or _in_one_silence([case.stacks[odd[0].rank] for case, _ in looks])
    late = told if stays and len(ways) == 1 and not went_on else replace(told, kind="late", call="")
    return replace(looks[-1][1], odd=(late,), basis=f"by their stacks at {len(looks)} moments")


def _usual_look(ways: Sequence[Sequence[Frame]]) -> int:
    """The number of the last look at a rank that shows it where most looks do, seen from the outermost frame; the last one where
    no place is that of most."""
    for frames in zip(*(way[::-1] for way in ways), strict=False):
        usual, count = Counter(frames).most_common(1)[0]
        if count < len(frames):
            return max(n for n, frame in enumerate(frames) if frame == usual) if 2 * count > len(frames) else len(ways) - 1
    return len(ways) - 1


def _in_one_silence(looks: Sequence[ProcessStacks]) -> bool:
    """Were all these looks taken since the job was silent?"""
    since = max((one.silent_since for one in looks if one.silent_since), default=None)
    return since is not None and all(one.taken is not None and one.taken >= since for one in looks)


def _looks(stacks: Iterable[ProcessStacks]) -> list[list[ProcessStacks]]:
    """The stacks of each look; none where there is one look and nothing tells its moment."""
    given = with_looks(stacks)
    if moments := sorted({one.taken for one in given if one.taken is not None}):
        return [[one for one in given if one.taken == moment] for moment in moments]
    looks = [[replace(one, look=0) for one in given if one.look == number] for number in sorted({one.look for one in given})]
    return looks if len(looks) > 1 else []


def _late_waits(case: RankCase, odd: OddRank) -> tuple[float, ...]:
    """How long the silences of the job before this one were at least, s, in which the others waited for a rank, too: in between
    the job went on."""
    now = case.stacks[odd.rank].silent_since if odd.rank in case.stacks and odd.kind in LATE_KINDS else None
    before = {
        one.silent_since: one.taken for one in case.all_stacks if now and one.silent_since and one.silent_since < now - CLOCKS_S
    }
    begun = [since for last, since in pairwise((0.0, *sorted(before))) if since - last > CLOCKS_S]
    looks = ((since, [one for one in case.all_stacks if one.taken == before[since]]) for since in begun)
    seen = [(since, picture_of_stacks(RankCase((), look, processes=case.processes))) for since, look in looks]
    late = (since for since, one in seen if one and [o.rank for o in one.odd] == [odd.rank] and one.odd[0].kind in LATE_KINDS)
    return tuple((before[since] or since) - since for since in late)


def picture_of_ends(case: RankCase) -> RankPicture | None:
    """The ranks that ended by themselves while others gave up waiting, where nothing but logs tells of them; None where there is
    no such rank."""
    waiting = tuple(sorted(case.gave_up.keys() - case.ended.keys()))
    ended = case.ended or _quiet(case)
    if not ended and not case.calls:
        return None
    there = next((end for _, end in sorted(case.gave_up.items()) if end.frame), None)
    theirs = {"others": there.frame, "call": there.call} if there else {}
    left = (
        (rank, end, {"place": end.frame, "proofs": (end.proof,), "cause": end.cause, **theirs})
        for rank, end in sorted(ended.items())
    )
    odd = (
        of_told_call(case)
        or of_other_size(case)
        or tuple(case.odd(r, end.kind, end.text, waiting=waiting, **more) for r, end, more in left)
    )
    rows = []
    for rank in range(max([case.world, *(r + 1 for r in waiting)])):
        process, end = case.process(rank), case.ended.get(rank) or case.gave_up.get(rank)
        shown = end.text if end else "no log mentions it"
        rows.append(RankRow(rank, "silent", "", None, end.frame if end else None, process.pid, process.host, shown))
    return RankPicture(len(rows), tuple(rows), (), odd[:MAX_ODD], tuple(range(len(rows))), basis=BY_LOGS)


def _quiet(case: RankCase) -> dict[int, Ended]:
    """The one rank of which no log tells that it waited, where all others tell it, or all ranks of one log, as of one node. If
    those lost their connection to it, it ended, and most likely was the one process that a log calls ended and no rank is."""
    quiet = sorted(set(range(case.world)) - case.gave_up.keys() - case.stopped)
    logs = {case.said[rank].source for rank in quiet if rank in case.said} - {end.proof.source for end in case.gave_up.values()}
    is_node = len(logs) == 1 and all(rank in case.said for rank in quiet)
    if len(case.gave_up) < MIN_WAITED or not (len(quiet) == 1 or is_node):
        return {}
    proof, text = case.gave_up[min(case.gave_up)].proof, ENDED_SILENT if case.is_lost else QUIET
    if len(quiet) == 1 and len(case.others_ended) == 1 and case.is_lost:
        (pid, event), *_ = case.others_ended.items()
        first = event.proofs[0]
        proof, text = (
            ProofPlace(first.source, first.line, first.text),
            f"{ENDED_SILENT}; it most likely was pid {pid}, of which a log tells",
        )
    kind: Kind = "left" if case.is_lost else "elsewhere"
    return {rank: Ended(text, None, case.said[rank] if is_node else proof, "", kind=kind) for rank in quiet}


def _stand(case: RankCase, rank: int) -> _Stand | None:
    if not (found := case.at_work(rank)):
        return None
    thread, stacks = found
    own = case.own_frame(thread.frames)
    is_at_wait = own is not None and own is thread.frames[thread.innermost] and own.place in case.places_of_waits
    if (waits_in_call(thread) or is_at_wait) and stacks.kernel not in STOPPED_CALLS:
        asking = asking_for(stacks, thread)
        call = UNNAMED_CALL if is_at_wait else called_at(thread, own) or thread.frames[thread.innermost].function
        path = tuple(takewhile(_is_outside, (*reversed(asking), *reversed(thread.frames))))
        mine = (*reversed(case.own_frames(asking)), *reversed(case.own_frames(thread.frames)))
        end = case.gave_up.get(rank)
        group = end.group if end and end.frame and any(f.place == end.frame.place for f in mine) else ""
        return _Stand(
            call,
            own,
            line_proofs(thread, stacks.source, own),
            path=path,
            own=mine,
            source=stacks,
            group=group,
            peer=peer_of(stacks, thread),
        )
    done = doing(case, rank)
    shown = (done.frame,) if done and done.frame else ()
    is_inner = own is thread.frames[thread.innermost]
    return _Stand("", done.frame, done.proofs, done.kind, done.told, is_inner=is_inner, own=shown) if done else None


def _is_outside(frame: Frame) -> bool:
    """Is it a frame outside of PyTorch, or of the function in which it starts a process of the program?"""
    return TORCH_FOLDER not in frame.file or frame.file.endswith(SPAWN_FILE)


def _with_shared_wait(case: RankCase, stands: dict[int, _Stand]) -> dict[int, _Stand]:
    """Where nobody stands in a call that has a name: do most of all ranks wait in native code at one line, and not all, as long
    as they were looked at? Then they wait for the others, as where a program needs the result of a call that it made before, or
    a value from a store."""
    if any(one.call for one in stands.values()):
        return stands
    unclear = {rank: one for rank, one in stands.items() if one.is_inner and one.text.startswith(UNCLEAR_WAITS)}
    places = {rank: one.place for rank, one in unclear.items() if not stood_elsewhere(case.all_stacks, case.stacks[rank])}
    place, count = next(iter(Counter(places.values()).most_common(1)), ((), 0))
    apart = case.world - sum(one.place == place for one in stands.values())  # whatever they do there, they stand at that line
    if not case.world / 2 < count or not apart:
        return stands
    return {rank: replace(one, call=SHARED_WAIT) if places.get(rank) == place else one for rank, one in stands.items()}


def _is_other_moment(case: RankCase, waiting: Mapping[int, _Stand], outside: AbstractSet[int]) -> bool:
    """Do the ranks that gave up tell lines at which no rank stands in its stack, did one raise an exception of its own that
    waits there, or did one end that stands outside with others, as at the start?"""
    if any(end.frame and rank in waiting for rank, end in case.ended.items()):
        return True
    if not outside.isdisjoint(case.ended) and outside - case.ended.keys():
        return True
    told = case.places_of_waits
    return bool(told) and told.isdisjoint(frame.place for one in waiting.values() for frame in one.own)


def _odd(
    case: RankCase, stands: Mapping[int, _Stand], waiting: Mapping[int, _Stand], missing: Iterable[int]
) -> tuple[OddRank, ...]:
    """The ranks outside of any call; else those that ended, or stand in another call, or have no stack."""
    parted = _parted(waiting)
    parted = _parted_in_call(waiting, parted) or parted
    count = Counter(one.place for rank, one in waiting.items() if rank not in parted)
    usual = max(waiting.items(), key=lambda item: (count[item[1].place], BARRIER in item[1].call, -item[0]))[1]

    def made(rank: int, kind: Kind, text: str, lines: _Lines, proofs: tuple[ProofPlace, ...], cause: str = "") -> OddRank:
        same = kind in ("other_call", "barrier")  # some of the ranks that wait elsewhere may not wait for it
        others = tuple(r for r, one in waiting.items() if r != rank and (not same or one.place == usual.place))
        shown = (*proofs, *usual.proofs[:1])
        place, their, fork = lines
        told = case.odd(rank, kind, text, call=usual.call, place=place, others=their, waiting=others, proofs=shown)
        return replace(told, cause=cause, by_stacks=True, fork=fork)

    outside = [(rank, one) for rank, one in stands.items() if not one.call]
    # a log that tells the line of an exception tells more than a stack that was taken when its thread had ended
    raised = [(rank, end) for rank, _ in outside if (end := case.ended.get(rank)) and end.frame]
    if outside and not raised:
        # beside a rank that does something else, a wait of no name at a line of the program is one for a call made before
        outside = [(rank, one) for rank, one in outside if not (one.is_inner and one.text.startswith(UNCLEAR_WAITS))] or outside
        return tuple(made(rank, one.kind, one.text, (one.frame, usual.frame, None), one.proofs) for rank, one in outside)
    if ended := raised or [(rank, case.ended[rank]) for rank in missing if rank in case.ended]:
        return tuple(
            made(rank, end.kind, end.text, (end.frame, usual.frame, None), (end.proof,), end.cause) for rank, end in ended
        )
    other = parted or {rank: _difference(one, usual) for rank, one in waiting.items() if one.place != usual.place}
    if gone := () if other else tuple(made(rank, *_unseen_rank(case, rank, usual.frame)) for rank in missing):
        return gone
    keepers = {rank: d for rank in waiting if (d := lock_keeper(case, rank))}
    if not other or len(keepers) == 1:
        return tuple(made(rank, d.kind, d.text, (d.frame, usual.frame, None), d.proofs) for rank, d in keepers.items())
    if crossed := _crossed(waiting):
        return tuple(made(r, *told_apart(seen, CROSSED), lines, waiting[r].proofs) for r, (seen, lines) in crossed.items())
    kinds = {r: told_apart(_evidence(waiting[r], usual), text) for r, text in other.items()}
    # others that stand at the line of a rank with the other order only wait for it, if that is no helper of all
    crossing = {waiting[r].frame for r, (kind, _) in kinds.items() if kind == "other_order"} - {usual.frame}
    kinds = {r: told for r, told in kinds.items() if told[0] == "other_order" or waiting[r].frame not in crossing}
    return tuple(made(r, kind, text, _apart(waiting[r], usual), waiting[r].proofs) for r, (kind, text) in kinds.items())


def _unseen_rank(case: RankCase, rank: int, others: Frame | None) -> tuple[Kind, str, _Lines, tuple[ProofPlace, ...]]:
    """A rank without a stack. One that lines of logs name, and at whose process nobody looked, has most likely ended well: a
    launcher tells of another end, and stops all others then."""
    if held := case.held.get(rank):
        return "outside", STOPPED_CALLS[STOPPED_CALL], (None, others, None), held
    said = None if case.process(rank).pid else case.said.get(rank)
    if said is None:
        return "no_dump", NO_STACK, (None, others, None), ()
    return "ended_well", QUIET_END, (None, others, None), (said,)


def _left_pair(case: RankCase, stands: Mapping[int, _Stand], missing: Iterable[int]) -> tuple[OddRank, ...]:
    """Where all stand in calls: the ranks that are in another one than that between two ranks in which others wait for them, or
    have no stack."""
    pairs = {rank: one.peer for rank, one in stands.items() if one.peer is not None}
    if case.ended or not all(one.call for one in stands.values()):
        return ()
    if left := left_by_peer(pairs, {*stands, *missing} - pairs.keys()):
        return tuple(_of_pair(case, rank, first, stands, LEFT_PAIR) for rank, first in left.items())
    return tuple(_of_pair(case, rank, peer, stands, IN_CIRCLE) for rank, peer in circle_of(pairs).items())


def _unseen(case: RankCase, stands: Mapping[int, _Stand], missing: Iterable[int]) -> tuple[OddRank, ...]:
    """Where all wait for one other rank each, as in a pipeline, whose ranks stand at different lines anyway: those without a
    stack, unless they wrote a dump, as a rank does that works."""
    return tuple(_of_pair(case, rank, min(stands), stands, "") for rank in missing if rank not in case.wrote)


def _of_pair(case: RankCase, rank: int, other: int, waiting: Mapping[int, _Stand], said: str) -> OddRank:
    """A rank that waits in a call while `other` waits in one between two ranks. `said`: how these two stand to each other."""
    own, their = waiting.get(rank), waiting[other]
    text = said.format(own=own.call, their=their.call, other=other) if own else NO_STACK
    kind: Kind = "left_out" if own else "no_dump"
    proofs = (*(own.proofs if own else ()), *their.proofs[:1])
    more = {"call": their.call, "place": own and own.frame, "others": their.frame, "proofs": proofs}
    others = tuple(r for r in waiting if r != rank)
    return replace(case.odd(rank, kind, text, waiting=others, **more), by_stacks=True)


def _crossed(waiting: Mapping[int, _Stand]) -> dict[int, tuple[Apart, _Lines]]:
    """The ranks that came to the call of half of the ranks or more by another line of theirs, while a rank waits in a call of
    another line, each with how these two differ: it made the two calls, which are of two groups, in the other order. The
    innermost lines that all ranks have, those of a helper, tell no call."""
    (usual, count), *_ = Counter(one.own for one in waiting.values()).most_common()
    rows = [one.calls[::-1] for one in waiting.values()]
    shared = sum(1 for _ in takewhile(lambda frames: len(set(frames)) == 1, zip(*rows, strict=False)))
    inner = {rank: next(iter(row[shared:]), None) for rank, row in zip(waiting, rows, strict=True)}
    here = next(inner[rank] for rank, one in waiting.items() if one.own == usual)
    elsewhere = [one for rank, one in waiting.items() if inner[rank] != here and BARRIER not in one.call]
    crossed = {rank: one for rank, one in waiting.items() if one.own != usual and inner[rank] == here}
    if not elsewhere or 2 * count < len(waiting):
        return {}
    first = elsewhere[0]
    return {rank: (Apart(one.call, first.call, two_groups=True), _apart(one, first)) for rank, one in crossed.items()}


def _evidence(one: _Stand, usual: _Stand) -> Apart:
    """How a rank differs that waits in another call, by the first line of the program at which it is not where the others are."""
    at_fork, mine, theirs = parting(one.own, usual.own) or (0, None, None)
    two_groups = bool(one.group and usual.group) and one.group != usual.group
    if not mine or not theirs or (mine.file, mine.function) != (theirs.file, theirs.function):
        loop: Loop = "left" if _is_of_model(usual) and not _is_of_model(one) and one.call not in UNNAMED else ""
        return Apart(one.call, usual.call, loop=loop, two_groups=two_groups, is_behind=not mine or not theirs)
    ends_block = any(a == mine and _is_exit(b) for a, b in pairwise(one.path))
    is_behind = mine.line > theirs.line or ends_block
    if is_behind:
        is_read = bool(usual.loops) or BARRIER not in usual.call  # a program has few barriers, and seldom one in a loop
        loop = "left" if is_read and _is_left_loop(usual, one, at_fork, ends_block) else ""
    else:
        is_read = bool(one.loops) or BARRIER in usual.call
        loop = "still_in" if is_read and _is_left_loop(one, usual, at_fork) else ""
    is_one = one.call == usual.call and one.call not in UNNAMED
    both_make_both = bool(one.same_calls(mine)) and (is_one or bool(usual.same_calls(theirs)))
    return Apart(one.call, usual.call, loop=loop, two_groups=two_groups or both_make_both, is_behind=is_behind)


def loop_apart(case: RankCase, rank: int, call: Call, other: int, theirs: Call) -> Loop:
    """Has `rank` left the loop in which the other one is, or is it in one that that left, by the frames of their calls in dumps,
    or by their stacks?"""
    one, usual = _stand_at(case, rank, call), _stand_at(case, other, theirs)
    if one is None or usual is None:
        one, usual = _stand(case, rank), _stand(case, other)
    return _evidence(one, usual).loop if one and usual and one.own and usual.own else ""


def _stand_at(case: RankCase, rank: int, call: Call) -> _Stand | None:
    """Where a rank stands by the frames of its call; None where its dump has none of the program."""
    own = case.own_frames(call.frames)
    path = tuple(frame for frame in reversed(call.frames) if _is_outside(frame))
    return _Stand(call.op, own[0], (), path=path, own=tuple(own[::-1]), source=case.stacks.get(rank)) if own else None


def _is_exit(frame: Frame) -> bool:
    """Is it the function that is called at the end of a block of `with`, at whose first line the caller stands then?"""
    return frame.function.rpartition(".")[2] in ("__exit__", "__aexit__")


def _is_of_model(one: _Stand) -> bool:
    """Does a rank wait in the model, whose calls a loop makes again and again?"""
    return one.call.rpartition(".")[2] in OF_MODEL


def _is_left_loop(usual: _Stand, one: _Stand, at_fork: int, ends_block: bool = False) -> bool:
    """Are the others in a loop that a rank has left that stands at another line of their frame number `at_fork`? One that ends in
    front of that line, or one of a function that they call there, if it calls more than the collective call itself. `ends_block`:
    the rank has left a block of `with` that begins there, and all that is in it. Where no source was seen, a function that calls
    the model, or another one that makes the call, is taken for one with a loop."""
    line = one.own[at_fork].line
    theirs, *inner = (usual.loops.get(f"{f.file}:{f.line}", ()) for f in usual.own[at_fork:])
    within = inner if _is_of_model(usual) else inner[:-1]
    if not usual.loops:
        return bool(within) and usual.own[-1] != one.own[-1]  # and not through one helper
    return any(last < line or (ends_block and first > line) for first, last in theirs) or any(within)


def _parted(waiting: Mapping[int, _Stand]) -> dict[int, str]:
    """The ranks whose stacks part first from those of more than half of the ranks, seen from the outermost frame, as behind a
    loop or in the library that runs it, and how they differ."""
    for frames in zip(*(one.path for one in waiting.values()), strict=False):
        (usual, count), *others = Counter(frames).most_common()
        if others:
            placed = dict(zip(waiting, frames, strict=True)) if 2 * count > len(frames) else {}
            one = next((waiting[rank] for rank, frame in placed.items() if frame == usual), None)
            return {r: _difference(waiting[r], one, frame, usual) for r, frame in placed.items() if one and frame != usual}
    return {}


def _parted_in_call(waiting: Mapping[int, _Stand], parted: Mapping[int, str]) -> dict[int, str]:
    """The ranks that part from most of those which are together else, in one function and in calls of two operations: these are
    of one group, and do not fit. Ranks that stand elsewhere (`parted`) may be in no such group, and wait for them."""
    together = {rank: one for rank, one in waiting.items() if rank not in parted}
    again = _parted(together) if parted else {}
    usual = next((one for rank, one in together.items() if rank not in again), None)
    forks = {rank: parting(together[rank].own, usual.own) for rank in again} if usual else {}
    in_one = all(fork and fork[1].function == fork[2].function for fork in forks.values())
    return again if usual and in_one and all(together[rank].call != usual.call for rank in again) else {}


def _apart(one: _Stand, usual: _Stand) -> _Lines:
    """The lines at which two ranks wait; where they come to one line by different ones, those at which they part."""
    parted = parting(one.own, usual.own) if one.frame == usual.frame else None
    return (*parted[1:], None) if parted else (one.frame, usual.frame, fork_of(one.own, usual.own))


def _difference(one: _Stand, usual: _Stand, frame: Frame | None = None, other: Frame | None = None) -> str:
    if one.place == usual.place:
        return f"it is{at(frame)}, where others are{at(other)}"
    if one.call == usual.call:
        return f"it waits in {one.call} at another line than others"
    return f"it waits in {one.call}, where others wait in {usual.call}"


def _row(case: RankCase, rank: int, one: _Stand | None, is_hang: bool) -> RankRow:
    process = case.process(rank)
    if one is None:
        return RankRow(rank, "silent", pid=process.pid, host=process.host, shown="no stack")
    state: State = "waits" if one.call else "elsewhere" if is_hang else "outside"
    shown = f"waits in {one.call}" if one.call else one.text
    return RankRow(rank, state, "", None, one.frame, process.pid, process.host, shown)

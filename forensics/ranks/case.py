"""The evidence of a case by rank: its dumps and stacks, and what belongs to a group."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any

from msgspec.structs import asdict, replace

from forensics.capture.rank_dumps import TASK_PREFIX
from forensics.capture.stacks import STOPPED_CALL
from forensics.model.dumps import Call, Dump, Frame, GroupCalls
from forensics.model.ranks import Kind, OddRank, ProofPlace, RankProcess
from forensics.model.stacks import ProcessStacks, ThreadStack
from forensics.ranks.ended import Ended, Ends, rank_of, with_stacks
from forensics.ranks.looks import with_looks
from forensics.ranks.moments import outdated
from forensics.ranks.threads import (
    asking_for,
    at_work,
    begun_at,
    collective_name,
    fork_of,
    in_collective,
    is_ranks_own,
    loads_for_another,
    of_one_moment,
    parting,
    program_frames,
    waits_for_loader,
    waits_in_call,
)
from forensics.readers.python.library_files import installed_package, is_library_file, is_others_code

MAX_ODD = 64  # ranks of which it is told how they keep the others waiting; where there are more, no single one is to blame
MIN_LOOKS = 2  # in one of them a thread may just have its turn
CLOCKS_S = 1.0  # by which the time of a file may be earlier than that of a call
NOT_LISTED = "it ended well (exit status 0) before the others: the launcher lists all of them as failed"
WHOLE_WORLD = ("0", "default_pg")  # the name and the description of the group of all ranks


class RankCase:
    """The dumps and stacks of the ranks of one job. `ends`: how ranks ended, and `processes`: those of the ranks,
    as logs tell them. `written`: when the file of each dump and of each stack was written. A stack that is older than the wait
    of the others tells nothing of it, and is left out."""

    def __init__(
        self,
        dumps: Iterable[Dump],
        stacks: Iterable[ProcessStacks] = (),
        ends: Ends = Ends(),  # noqa: B008
        processes: Mapping[int, RankProcess] = MappingProxyType({}),
        written: Mapping[str, datetime] = MappingProxyType({}),
    ) -> None:
        self.written = {source: moment.timestamp() for source, moment in written.items()}
        self.dumps = self._without_outlived(newest(dumps), ends.own)
        self.wrote = frozenset(self.dumps)
        self.processes = dict(processes)
        self.stacks: dict[int, ProcessStacks] = {}
        self.all_stacks = with_looks(stacks)
        self.ended, self.gave_up, self.calls, self.raised = ends.own, ends.gave_up, ends.calls, ends.raised
        self.handled, self.stopped, self.held, self.sent = ends.handled, ends.stopped, ends.held, ends.sent
        self.others_ended, self.is_lost, self.last_step = ends.others, ends.is_lost, ends.last_step
        given = of_one_moment(self.all_stacks, self.places_of_waits, len(self.gave_up))
        if len(given) > 1 and not any(dump.last_ns for dump in self.dumps.values()):
            self.dumps = {}  # no rank made a call, and the stacks tell where they stand
        for one in given:
            rank = one.rank if one.rank is not None else rank_of(self.processes, one.pid, one.host)
            if rank is None or (rank in ends.own and ends.own[rank].kind == "ended_well"):  # a helper may be left of it
                continue
            if is_ranks_own(one, self.stacks.get(rank)):
                if self._is_of_the_wait(one, rank):
                    self.stacks[rank] = replace(one, kernel=STOPPED_CALL) if rank in ends.held else one
                self.processes[rank] = with_stacks(self.process(rank), one)
        self.said = self._said_by_all(ends.said)
        self.ended = {**self._unlisted(ends.listed), **self.ended}
        self._loaders = [one for one in given if one.main and loads_for_another(one.main)]

    @cached_property
    def went_on(self) -> bool:
        """Does a log tell of a step of the run after the first look at its stacks?"""
        moments = (one.taken or self.written.get(one.source) for one in self.all_stacks)
        first = min((moment for moment in moments if moment), default=None)
        return first is not None and self.last_step > first + CLOCKS_S

    def _said_by_all(self, said: Mapping[int, ProofPlace]) -> dict[int, ProofPlace]:
        """The last lines of all ranks in logs; none if these do not name each one that is known, or leave a number out. A log may
        also speak of the rank of something else."""
        known = {*self.dumps, *self.stacks, *self.processes}
        return dict(said) if known and known <= said.keys() and said.keys() == set(range(len(said))) else {}

    def _unlisted(self, listed: Mapping[int, ProofPlace]) -> dict[int, Ended]:
        """The one rank that the launcher's list of all ranks that failed does not have, and of which there is no stack."""
        quiet = set(range(self.world)) - listed.keys()
        is_told = len(quiet) == 1 and bool(listed) and not quiet & self.stacks.keys()
        return {rank: Ended(NOT_LISTED, None, listed[min(listed)], "", kind="ended_well") for rank in quiet if is_told}

    @cached_property
    def world(self) -> int:
        """How many ranks there are: the highest number that anything names, and one."""
        groups = {(g.members, g.size) for dump in self.dumps.values() for g in dump.groups}  # most ranks tell the same
        named = [max(members, default=size - 1) for members, size in groups]
        return max([*named, *self.dumps, *self.stacks, *self.processes, *self.ended, *self.gave_up, *self.said], default=-1) + 1

    def _without_outlived(self, dumps: Mapping[int, Dump], ended: Collection[int]) -> dict[int, Dump]:
        """The dumps but those of ranks that ended after them: other ranks called something later."""
        latest_s = max((dump.last_ns for dump in dumps.values()), default=0) / 1e9
        old = {rank for rank in dumps if rank in ended and self.written.get(dumps[rank].source, latest_s) + CLOCKS_S < latest_s}
        return {rank: dump for rank, dump in dumps.items() if rank not in old}

    def _is_of_the_wait(self, stacks: ProcessStacks, rank: int) -> bool:
        """Were the stacks taken after the last call of the rank, or of one without a dump, after that of all others, and not
        before those that are known of the same process? Those that show the tasks of its event loop go before."""
        known, written = self.stacks.get(rank), self.written.get(stacks.source)
        if known is not None and known.pid == stacks.pid:
            shows_tasks = [any(t.name.startswith(TASK_PREFIX) for t in one.threads) for one in (known, stacks)]
            if shows_tasks == [True, False] or ((written or 0.0) < self.written.get(known.source, 0.0) and not shows_tasks[1]):
                return False
        last = [self.dumps[rank].last_ns] if rank in self.dumps else [dump.last_ns for dump in self.dumps.values()]
        taken = stacks.taken or written
        return taken is None or taken + CLOCKS_S > max(last, default=0) / 1e9

    @cached_property
    def threads(self) -> dict[int, ThreadStack]:
        """The thread of each rank that is at work."""
        calling = (t for one in self.stacks.values() for t in one.threads if t is not one.main and in_collective(t))
        callers = {begun for t in calling if (begun := begun_at(t))}
        inner = Counter(
            f for one in self.stacks.values() for f in {self.own_frame(t.frames) for t in one.threads if t is not one.main}
        )
        ordinary = {frame for frame, ranks in inner.items() if frame and ranks > 1}
        return {rank: thread for rank, one in self.stacks.items() if (thread := at_work(one, callers, ordinary))}

    @cached_property
    def places_of_waits(self) -> frozenset[str]:
        """The lines of the program at which ranks gave up waiting, as logs tell them. A stack has no frame of PyTorch where a
        program waits for a call that it made before."""
        return frozenset(e.frame.place for e in self.gave_up.values() if e.frame and not is_others_code(e.frame.file))

    def at_work(self, rank: int) -> tuple[ThreadStack, ProcessStacks] | None:
        """The thread of a rank that is at work, and the stacks with it; while it waits for its data loader, that of a worker that
        runs code of the program. None without a stack."""
        stacks, thread = self.stacks.get(rank), self.threads.get(rank)
        if not stacks or not thread:
            return None
        workers = (one for one in self._loaders if one.rank == rank or (one.child and one.child[1] == stacks.pid))
        worker = next(workers, None) if waits_for_loader(thread) else None
        return (worker.main, worker) if worker and worker.main else (thread, stacks)

    def process(self, rank: int) -> RankProcess:
        """The process of a rank."""
        return self.processes.get(rank, RankProcess())

    def odd(self, rank: int, kind: Kind, text: str, **more: Any) -> OddRank:
        """A rank that keeps others waiting, with its process."""
        return OddRank(rank, kind, text, **asdict(self.process(rank)), **more)

    @cached_property
    def missing(self) -> tuple[int, ...]:
        """The ranks without a dump."""
        return tuple(rank for rank in range(self.world) if rank not in self.dumps)

    @cached_property
    def groups(self) -> dict[str, dict[int, GroupCalls]]:
        """The calls of each group, by rank."""
        found: dict[str, dict[int, GroupCalls]] = {}
        for rank, dump in self.dumps.items():
            for group in dump.groups:
                found.setdefault(group.name, {})[rank] = group
        return found

    @cached_property
    def outdated(self) -> frozenset[int]:
        """The ranks whose dumps are of an earlier moment than those of others: they do not tell where these ranks stood then."""
        return frozenset(chain.from_iterable(outdated(calls) for calls in self.groups.values()))

    @cached_property
    def members(self) -> dict[str, tuple[int, ...]]:
        """The ranks of each group. Where no dump tells them: all ranks for the group of all, else those that made calls in it,
        and those without a dump, which may be members."""
        return {name: self._members(calls) for name, calls in self.groups.items()}

    def _members(self, calls: Mapping[int, GroupCalls]) -> tuple[int, ...]:
        told = set[int]().union(*{group.members for group in calls.values()})
        first = next(iter(calls.values()))
        if not told and (first.name, first.description) == WHOLE_WORLD:
            return tuple(range(self.world))
        return tuple(sorted(told or {*calls, *self.missing}))

    @cached_property
    def stuck(self) -> dict[str, dict[int, Call]]:
        """The call of each group in which a rank waits or waited to no end, by rank."""
        return {name: {r: c for r in calls if (c := self._stuck(name, r))} for name, calls in self.groups.items()}

    def _stuck(self, name: str, rank: int) -> Call | None:
        """The first unfinished call of the whole group. A call that failed counts as finished for gloo: it is the last one, and
        another rank of the group has not come to it."""
        calls = [c for c in self.groups[name][rank].calls if not c.between_two]
        pending = next((c for c in calls if c.pending), None)
        if pending is not None or not calls:
            return pending
        lacking = calls[-1].seq - 1 in self._reached[name] and self._may_have_failed(rank, calls[-1])
        given_up = calls[-1] is self._last_calls[rank] and not self._gone.isdisjoint(self.members[name])
        return calls[-1] if lacking or given_up else None

    def _may_have_failed(self, rank: int, call: Call) -> bool:
        """May a finished call have failed? Not where its dump was written sooner than it is given up, the stack of the rank
        stands outside of any call then, no log tells that it gave up, and no rank is gone."""
        written, thread = self.written.get(self.dumps[rank].source), self.threads.get(rank)
        is_early = written is not None and written + CLOCKS_S < call.created_ns / 1e9 + call.timeout_s
        goes_on = is_early and thread is not None and not waits_in_call(thread)
        return not goes_on or rank in self.gave_up or bool(self.missing) or bool(self.ended)

    @cached_property
    def _reached(self) -> dict[str, set[int]]:
        """The numbers of the last calls of the ranks of each group; 0 of a rank that made none."""
        return {
            name: {calls[m].enqueued if m in calls else 0 for m in self.members[name] if m in self.dumps}
            for name, calls in self.groups.items()
        }

    @cached_property
    def _gone(self) -> frozenset[int]:
        """The ranks without a dump that ended, or whose stack shows that they were somewhere else. Where a rank with a dump gave
        up waiting, it is all ranks without one."""
        if not self.gave_up.keys().isdisjoint(self.dumps):
            return frozenset(self.missing)
        elsewhere = {rank for rank, thread in self.threads.items() if not waits_in_call(thread)}
        return frozenset(rank for rank in self.missing if rank in self.ended or rank in elsewhere)

    def waits_in(self, rank: int) -> tuple[str, Call] | None:
        """The group and the call in which a rank waits: the earliest one."""
        found = [(name, calls[rank]) for name, calls in self.stuck.items() if rank in calls]
        return min(found, key=lambda place: place[1].created_ns, default=None)

    def last_call(self, rank: int) -> Call | None:
        """The last call of a rank, in any group."""
        return self._last_calls.get(rank)

    @cached_property
    def _last_calls(self) -> dict[int, Call]:
        calls = {rank: [c for g in dump.groups for c in g.calls] for rank, dump in self.dumps.items()}
        return {rank: max(own, key=lambda c: c.created_ns) for rank, own in calls.items() if own}

    @cached_property
    def own_files(self) -> tuple[str, ...]:
        """The files of the program, as far as calls in dumps show them."""
        return tuple(sorted(file for file in self._files if not is_library_file(file)))

    @cached_property
    def _files(self) -> frozenset[str]:
        return frozenset(f.file for d in self.dumps.values() for g in d.groups for c in g.calls[-3:] for f in c.frames)

    @cached_property
    def _own_packages(self) -> set[str]:
        """The folders of the program's files, by name, but for names of packages that it calls."""
        return {name for own in self.own_files for name in own.split("/")[1:-1]} - set(map(installed_package, self._files))

    def own_frame(self, frames: Sequence[Frame]) -> Frame | None:
        """The innermost frame of the program itself."""
        return next(iter(self.own_frames(frames)), None)

    def line_of(self, rank: int, call: Call) -> Frame | None:
        """The line of the program at which a rank made a call."""
        return next(iter(self._lines_to(rank, call)), None)

    def lines_of(self, rank: int, call: Call, other: int, theirs: Call) -> tuple[Frame | None, Frame | None]:
        """The lines of the calls of two ranks; where both are that of a helper, those at which they part that called it."""
        lines = self.line_of(rank, call), self.line_of(other, theirs)
        own, their = self._lines_to(rank, call)[::-1], self._lines_to(other, theirs)[::-1]
        parted = parting(own, their) if lines[0] == lines[1] else None
        return parted[1:] if parted else lines

    def fork_of(self, rank: int, call: Call, other: int, theirs: Call) -> tuple[Frame, Frame] | None:
        """The lines of one function from which two ranks came to their calls."""
        return fork_of(self._lines_to(rank, call)[::-1], self._lines_to(other, theirs)[::-1])

    def _lines_to(self, rank: int, call: Call) -> list[Frame]:
        """The frames of the program that made a call, innermost first; of the last one, the stack of the rank or the log of its
        end tells them, too."""
        told, thread, end = self.own_frames(call.frames), self.threads.get(rank), self.gave_up.get(rank)
        if told or call is not self.last_call(rank):
            return told
        if thread is not None and waits_in_call(thread):
            return self.own_frames((*thread.frames, *asking_for(self.stacks[rank], thread)))
        return [end.frame] if end and end.frame else []

    def own_frames(self, frames: Sequence[Frame]) -> list[Frame]:
        """The frames of the program itself, innermost first."""
        return program_frames(frames, self.own_files, self._own_packages)

    def in_other_collective(self, rank: int) -> ThreadStack | None:
        """The thread of a rank that stands in a collective call of a kind that no dump has: PyTorch does not record all."""
        thread = self.threads.get(rank) if rank in self.dumps else None
        if thread is None or not in_collective(thread) or self.waits_in(rank) is not None:
            return None
        return None if collective_name(thread).startswith(self._operations) else thread

    @cached_property
    def _operations(self) -> tuple[str, ...]:
        """The kinds of calls in all dumps: `all_gather` for `all_gather_into_tensor`, too."""
        calls = (c for dump in self.dumps.values() for group in dump.groups for c in group.calls)
        return tuple({c.op.partition(" ")[0] for c in calls if c.op})


def newest(dumps: Iterable[Dump]) -> dict[int, Dump]:
    """The dump of each rank in the last attempt that made a call; of several the one that recorded the latest call, and of those
    the one with more of it."""
    given = list(dumps)
    attempt = max((dump.attempt for dump in given if dump.last_ns), default=0)
    found: dict[int, Dump] = {}
    for dump in (dump for dump in given if dump.attempt == attempt):
        known = found.get(dump.rank) if dump.rank is not None else None
        if dump.rank is not None and (not known or (dump.last_ns, len(str(dump.text))) > (known.last_ns, len(str(known.text)))):
            found[dump.rank] = dump
    return dict(sorted(found.items()))

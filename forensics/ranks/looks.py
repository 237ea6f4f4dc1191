"""Do the stacks of a run show that it hung, or only where it stood?

03:00 all ranks in backward (train.py:23)                                 -> where they stood: people look at a slow run, too
03:00 rank 3 in synthesize, 03:05 in main; the others stood still         -> it moved
03:00 and 03:05 each process in the same frames                           -> a hang, as far as looks show one

A look is at all processes once. Whoever looks at one process after the other takes some seconds for it.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec.structs import replace

from forensics.model.dumps import Frame
from forensics.model.stacks import ProcessStacks
from forensics.ranks.threads import at_work, waits_in_call


def shown_by_looks(stacks: Iterable[ProcessStacks]) -> Literal["place", "progress", "hang"]:
    """A look that was taken since the run was silent shows a hang, and so do several looks at processes that each stand in one
    place, if one of them waits. A run of which one process moves goes on: the others may wait for that one at each step."""
    given = list(stacks)
    again = [frames for frames in _by_process(given).values() if len(frames) > 1]
    if any(one.silent_since for one in given):
        return "hang"
    if again and all(len(set(frames)) == 1 for frames in again):
        return "hang" if any(_waits(one) for one in given) else "place"
    return "progress" if again else "place"


def later_looks(stacks: Iterable[ProcessStacks], first: ProcessStacks) -> list[ProcessStacks]:
    """The later looks at the process of `first`."""
    return [one for one in _looks_at(stacks, first) if _moment(one) > _moment(first)]


def stood_elsewhere(stacks: Iterable[ProcessStacks], one: ProcessStacks) -> bool:
    """Did the process stand at another place in each other look at it? Not where there is none."""
    others = [other for other in _looks_at(stacks, one) if other is not one and _moment(other) != _moment(one)]
    return bool(others) and all(place_at_work(other) != place_at_work(one) for other in others)


def _looks_at(stacks: Iterable[ProcessStacks], one: ProcessStacks) -> list[ProcessStacks]:
    return [other for other in stacks if other.pid == one.pid is not None and other.host == one.host]


def _moment(stacks: ProcessStacks) -> float:
    return stacks.look if stacks.taken is None else stacks.taken


Place = tuple[tuple[Frame, ...], int]  # the frames of Python, and a check sum of their variables


def place_at_work(stacks: ProcessStacks) -> Place:
    """Where the thread at work stands: one look may have been taken with native code, and another one without. A thread that
    waits in a call changes no variable."""
    thread = at_work(stacks)
    if thread is None:
        return (), 0
    of_python = tuple(frame for frame in thread.frames if frame.file.endswith(".py"))
    return of_python or thread.frames, thread.variables if waits_in_call(thread) else 0


def _by_process(stacks: Iterable[ProcessStacks]) -> dict[tuple[str, int | None, int | None], list[Place]]:
    """Where the thread at work of each process stood in each look at it: by host, rank where there is no pid, and pid."""
    looks: dict[tuple[str, int | None, int | None], list[Place]] = {}
    for one in stacks:
        if (one.pid is not None or one.rank is not None) and at_work(one):
            looks.setdefault((one.host, one.rank if one.pid is None else None, one.pid), []).append(place_at_work(one))
    return looks


def _numbered(given: Sequence[ProcessStacks]) -> list[ProcessStacks]:
    """Stacks with the number of their look: the first ones of all processes, the second ones, and so on, in the order of their
    sources, where there are as many of each."""
    own: dict[tuple[str, int | None, int | None], list[int]] = {}
    for i, one in enumerate(given):
        if one.pid is not None or one.rank is not None:
            own.setdefault((one.host, one.pid, one.rank if one.pid is None else None), []).append(i)
    if len({len(places) for places in own.values()}) != 1:
        return list(given)
    look = {i: number for places in own.values() for number, i in enumerate(places)}
    return [replace(one, look=look.get(i, 0)) for i, one in enumerate(given)]


def _waits(stacks: ProcessStacks) -> bool:
    """Does a process wait, and not compute? Where all of them compute, it may take long."""
    thread = at_work(stacks)
    return thread is not None and not thread.state.startswith("active")


MAX_LOOK_GAP_S = 60.0  # chosen by hand: from one process to the next one, by a person who types a command for each


def with_looks(stacks: Iterable[ProcessStacks]) -> tuple[ProcessStacks, ...]:
    """Stacks with the moment of their look: a look ends where a process is looked at again, or after a pause. Where nothing tells
    the moments, with its number."""
    given = list(stacks)
    if all(one.taken is None for one in given):
        return tuple(_numbered(given))
    timed = sorted((i for i, one in enumerate(given) if one.taken is not None), key=lambda i: given[i].taken or 0.0)
    looks: list[list[int]] = []
    for i in timed:
        last = looks[-1] if looks else []
        seen = {(given[n].host, given[n].pid) for n in last}
        again = (given[i].host, given[i].pid) in seen or not given[i].pid
        if not last or again or (given[i].taken or 0.0) - (given[last[-1]].taken or 0.0) > MAX_LOOK_GAP_S:
            looks.append([])
        looks[-1].append(i)
    moment = {i: given[look[-1]].taken for look in looks for i in look}
    return tuple(replace(one, taken=moment[i]) if i in moment else one for i, one in enumerate(given))

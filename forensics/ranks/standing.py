"""Where the processes of a running job stand now: those that stand at one place are told once.

ranks 0 to 62 in all_reduce, called at train (train.py:212); rank 63 in load_shard (data.py:88), read of /mnt/lustre/x
    -> 63 ranks that wait in a collective call, and one that waits for a file
"""

from collections.abc import Iterable, Iterator, Sequence

from forensics.model import Line
from forensics.model.dumps import Frame
from forensics.model.stacks import LiveHost, LiveProcess, Standing, ThreadStack
from forensics.ranks.doing import CALLS, LAUNCHER_WAIT, called_at, doing_of, wait_text
from forensics.ranks.threads import at_work
from forensics.ranks.words import numbers
from forensics.readers.python.library_files import is_others_code
from forensics.readers.python.process_stacks import read_stacks

IN_COLLECTIVE = "it waits in a collective call"
PROCESS_STATES = {
    "R": "it computes",
    "S": "it waits",
    "D": "it waits for a device or a file, uninterruptibly",
    "T": "it is stopped",
}


def standings(hosts: Iterable[LiveHost]) -> tuple[Standing, ...]:
    """Where all processes stand, the ranks first, then those that a rank started, then all others; of each the most first."""
    found: dict[tuple[str, ...], list[tuple[LiveHost, LiveProcess, Standing]]] = {}
    for host in hosts:
        at_all = {one.pid: _standing(one) for one in host.processes}
        ranks = {one.pid: one.rank for one in host.processes if at_all[one.pid].doing != LAUNCHER_WAIT}
        for one in host.processes:
            at, rank = at_all[one.pid], ranks.get(one.pid)
            role = "" if rank is None else "helper" if ranks.get(one.ppid) == rank else "rank"
            place = f"{at.place.file}:{at.place.line}" if at.place else ""
            found.setdefault((role, at.doing, at.called, place, at.kernel), []).append((host, one, at))
    order = sorted(found.items(), key=lambda item: (("rank", "helper", "").index(item[0][0]), -len(item[1])))
    return tuple(_folded(key[0], members) for key, members in order)


def _folded(role: str, members: Sequence[tuple[LiveHost, LiveProcess, Standing]]) -> Standing:
    first = members[0][2]
    ranks = tuple(sorted({one.rank for _, one, _ in members if one.rank is not None}))
    pids = tuple(one.pid for _, one, _ in members)
    told = f"rank{'s' * (len(ranks) != 1)} {numbers(ranks)}"
    names = ", ".join(dict.fromkeys(one.comm for _, one, _ in members))
    helpers = f"{len(pids)} process{'es' * (len(pids) != 1)} of {told}"
    who = {"rank": told, "helper": helpers}.get(role, f"pid {numbers(pids)} ({names})")
    hosts = tuple(dict.fromkeys(host.host for host, _, _ in members))
    return Standing(who, ranks, pids, hosts, first.doing, first.called, first.place, first.kernel, first.frames)


def _standing(one: LiveProcess) -> Standing:
    kernel = f"{one.call or one.wchan}{' of ' + one.file if one.file else ''}"
    stacks = read_stacks([Line(n, text) for n, text in enumerate(one.text.splitlines(), 1)], str(one.pid)) if one.text else ()
    thread = at_work(stacks[0]) if stacks else None
    if thread is None:
        waits = CALLS.get(one.call, PROCESS_STATES["S"]) if one.state == "S" else PROCESS_STATES.get(one.state, one.state)
        return Standing("", (), (), (), waits, kernel=kernel)
    own = next((f for f in thread.frames if _is_own(f)), None)
    done = doing_of(thread, "", own)
    place = own or (done.frame if done else thread.frames[0])
    doing = IN_COLLECTIVE if done is None else done.text if done.kind != "outside" else wait_text(one.call, done.text)
    return Standing("", (), (), (), doing, called_at(thread, own), place, kernel, tuple(_shown(thread)))


def _is_own(frame: Frame) -> bool:
    return bool(frame.line) and not is_others_code(frame.file)


def _shown(thread: ThreadStack) -> Iterator[str]:
    """The frames, innermost first: those of the program, then those of libraries."""
    own = [f for f in thread.frames if _is_own(f)]
    yield from (f"{f.function} ({f.file}:{f.line})" for f in (*own, *(f for f in thread.frames if f not in own)))

"""Calls between two ranks: with whom a rank exchanges something, by its stack, and who left its part out.

rank 0: recv of 3    rank 3: recv of 2    ranks 1, 2: all_reduce      -> 0 waits for 3, and 3 for 2, which went on to another call
rank 0: recv of 1    rank 1: recv of 2    rank 2: recv of 1            -> 1 and 2 wait for each other: one of them left a call out
"""

from collections.abc import Iterable, Mapping

from forensics.model.stacks import ProcessStacks, ThreadStack
from forensics.readers.python.process_stacks import CALLS_FILE

PAIR_CALLS = ("send", "recv")  # the innermost functions of PyTorch that wait for one other rank


def peer_of(stacks: ProcessStacks, thread: ThreadStack) -> int | None:
    """The rank for which a thread waits in a call between two; None in any other call, and where nothing tells it."""
    calls = (f for f in thread.frames if f.file.endswith(CALLS_FILE) and f.function in PAIR_CALLS)
    return next((stacks.peers.get(f"{f.file}:{f.line}") for f in calls), None)


def left_by_peer(peers: Mapping[int, int], elsewhere: Iterable[int]) -> dict[int, int]:
    """The ranks of `elsewhere`, that wait in no such call, each with the first rank that waits for it in one. `peers`: for whom
    each of the others waits."""
    first = {peer: rank for rank, peer in sorted(peers.items(), reverse=True)}
    return {rank: first[rank] for rank in sorted(elsewhere) if rank in first}


def circle_of(peers: Mapping[int, int]) -> dict[int, int]:
    """The ranks that wait for each other in a circle of such calls, each with the one for which it waits."""
    for start in sorted(peers):
        path = [start]
        while (after := peers.get(path[-1])) is not None and after not in path:
            path.append(after)
        if after is not None:
            return {rank: peers[rank] for rank in sorted(path[path.index(after) :])}
    return {}

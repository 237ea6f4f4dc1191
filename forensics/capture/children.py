"""Number the processes that Python's multiprocessing started, in the order of their start: in many programs they are the ranks.

4711 python train.py, 4713 python ... --multiprocessing-fork, 4714 the same     -> 4713: child 0 of 4711, 4714: child 1 of 4711
"""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

STARTED_AFRESH = "--multiprocessing-fork"  # in the command of a child that does not go on in a copy of its parent


def child_numbers(processes: Iterable[tuple[int, int, str]]) -> dict[int, tuple[int, int]]:
    """By pid: its number among its siblings, and the pid of the parent. `processes`: pid, parent and command of each, in the
    order of their start, those that ended, too."""
    known = list(processes)
    commands = {pid: command for pid, _, command in known}
    count, found = Counter[int](), dict[int, tuple[int, int]]()
    for pid, parent, command in known:
        if STARTED_AFRESH in command or (command and command == commands.get(parent)):
            found[pid] = count[parent], parent
            count[parent] += 1
    return found


def child_text(numbered: tuple[int, int] | None) -> str:
    """`, child 1 of pid 4711`; empty for a process without a number."""
    return f", child {numbered[0]} of pid {numbered[1]}" if numbered else ""

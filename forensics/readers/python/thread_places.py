"""Where each thread of a process stood in the program's own code when the stacks of the process were taken.

Thread 9361 (idle): "MainThread"             -> ThreadPlace(pid 9361, thread "MainThread", train.py:6 in save_checkpoint)
    save_checkpoint (/run/train.py:6)
Thread 9370 (idle): "prefetch"               -> ThreadPlace(pid 9361, thread "prefetch", train.py:10 in prefetch)
    prefetch (/run/train.py:10)
"""

from collections.abc import Iterable

from forensics.model import Scan
from forensics.model.stacks import ProcessStacks, ThreadPlace, ThreadStack
from forensics.readers.python.library_files import is_others_code
from forensics.readers.python.process_stacks import process_stacks

TOOL = "py-spy"  # a dump of faulthandler stands in the log of what printed it, and is read there


def thread_places(scans: Iterable[Scan]) -> tuple[ThreadPlace, ...]:
    """The places of all threads that run code of the program, the main thread of each process first; of ranks none, which are
    compared with each other. Of a process that was looked at again, as at its stall and at its end, the last look counts."""
    taken = [one for scan in scans for one in process_stacks(scan) if one.tool == TOOL and one.pid is not None]
    if any(one.rank is not None for one in taken):
        return ()
    last = {one.pid: one for one in taken if one.threads}
    ordered = ((one, thread) for one in last.values() for thread in sorted(one.threads, key=lambda t: t is not one.main))
    return tuple(place for one, thread in ordered if (place := _place(one, thread)))


def _place(one: ProcessStacks, thread: ThreadStack) -> ThreadPlace | None:
    both = zip(thread.frames, thread.lines, strict=True)
    found = next(((f, n) for f, n in both if f.line and not is_others_code(f.file)), None)
    if found is None or one.pid is None:
        return None
    frame, line = found
    return ThreadPlace(one.source, line.number, line.text.strip(), one.pid, thread.name, frame)

"""Ctrl-C on a waiting program: the wait, the program's line that began it, and the name of the lock where a line shows it.

      File "/home/u/train.py", line 18, in update
        with b_lock:                                      -> waited for b_lock at train.py:18
    KeyboardInterrupt

A main thread that waits for its workers is normal, so a single wait is only a hint. Stronger evidence is a lock taken in the
program's own line, or several processes that all waited when Ctrl-C was pressed. The names of the frames are from CPython's
Lib/threading.py, queue.py, selectors.py, multiprocessing and concurrent/futures.
"""

from msgspec.structs import replace

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Trigger, Value, Weight
from forensics.readers.base import Record, parse_lines
from forensics.readers.python.frames import Frame, file_frame
from forensics.readers.python.library_files import is_library_file
from forensics.readers.python.quoted_source import TRACEBACK_HEAD

TRIGGER = Trigger("interrupted_wait", ("KeyboardInterrupt",), before=60)
PATTERNS = patterns_of("interrupted wait")
WAITING_FUNCTIONS: dict[str, tuple[str, ...]] = {  # by the end of the file's path; none named: each of the file
    "threading.py": ("wait", "acquire", "join", "_wait_for_tstate_lock", "__enter__"),
    "queue.py": ("get", "put"),
    "selectors.py": ("select",),
    "concurrent/futures/_base.py": ("result", "wait"),
    **{f"multiprocessing/{name}.py": () for name in ("connection", "popen_fork", "synchronize", "pool", "queues")},
}
WAIT_INTERRUPTED = "waited"
OUTCOMES = (WAIT_INTERRUPTED,)
MIN_WAITING_PROCESSES = 2  # a single process may wait for work; if several wait and none computes, the job hangs


def read(region: Region) -> Record | None:
    """The wait that the Ctrl-C on this region's line ended. The record has no outcome if the program was computing. None if
    there is no traceback above the line."""
    *above, end = parse_lines([*region.lines_before(), region.line])
    if not PATTERNS.interrupt.match(end.message.strip()):
        return None
    start = next((i for i in range(len(above) - 1, -1, -1) if TRACEBACK_HEAD in above[i].message), None)
    rows = [r for r in above[start or 0 :] if r.message.strip()]
    found = [file_frame(r.message) for r in rows]
    frames = [i for i, frame in enumerate(found) if frame]
    if start is None or not frames:
        return None
    own = [i for i in frames if (frame := found[i]) and not is_library_file(frame.file)]
    innermost = found[frames[-1]]
    code = rows[frames[-1] + 1].message.strip() if frames[-1] + 1 < len(rows) else ""
    lock = PATTERNS.lock_statement.search(code) if own and own[-1] == frames[-1] else None
    first = above[start].line.number
    if lock is None and not _waits(innermost):
        return Record("interrupted_wait", first, region.number, None, "hint", (end.line,))
    fields: dict[str, Value] = {"interrupt": "KeyboardInterrupt"}
    quote = [end.line]
    if own and (frame := found[own[-1]]):
        fields |= {"python_file": frame.file, "python_line": frame.line or 0}
        fields["python_function"] = frame.function.strip() or "<module>"
        quote.insert(0, rows[own[-1]].line)
    if lock:
        fields["awaited_lock"] = str(lock["held"] or lock["taken"])
    weight: Weight = "strong" if lock else "hint"
    return Record("interrupted_wait", first, region.number, WAIT_INTERRUPTED, weight, tuple(quote), fields)


def _waits(frame: Frame | None) -> bool:
    """Is it a function that waits for another thread or process?"""
    file = frame.file.replace("\\", "/") if frame else ""
    known = next((functions for end, functions in WAITING_FUNCTIONS.items() if file.endswith(end)), None)
    return frame is not None and known is not None and (not known or frame.function.strip() in known)


def join(records: list[Record]) -> list[Record]:
    """The waits among the interrupted processes. If several waited and none was computing, the weight is higher."""
    waits = [r for r in records if r.outcome]
    if len(waits) < max(MIN_WAITING_PROCESSES, len(records)):
        return waits
    return [replace(r, weight="strong") for r in waits]

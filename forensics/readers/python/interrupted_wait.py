"""Ctrl-C on a waiting program: the wait, the program's line that began it, and the name of the lock where a line shows it.

      File "/home/u/train.py", line 18, in update
        with b_lock:                                      -> waited for b_lock at train.py:18
    KeyboardInterrupt

A main thread that waits for its workers is normal, so a single wait is only a hint. Stronger evidence is a lock taken in the
program's own line, or several processes that all waited when Ctrl-C was pressed. The names of the frames are from CPython's
Lib/threading.py, queue.py, selectors.py, multiprocessing and concurrent/futures.
"""

from msgspec.structs import replace

from forensics.core import lazy
from forensics.model import Line, Region, Trigger, Value, Weight
from forensics.readers.base import Record, parse_lines
from forensics.readers.python.exception_message import TRACEBACK_HEAD
from forensics.readers.python.library_files import is_library_file
from forensics.readers.python.traceback import FRAME_PATTERN

TRIGGER = Trigger("interrupted_wait", ("KeyboardInterrupt",), before=60)
INTERRUPT_PATTERN = lazy.regex(r"^KeyboardInterrupt\b:?\s*$")
LOCK_STATEMENT_PATTERN = lazy.regex(
    r"^(?:async )?with (?P<held>[\w.\[\]]{0,60}?(?i:lock|mutex|sem\w{0,8}|cond\w{0,8})[\w.\[\]]{0,40})(?:, .{1,80})?:|"
    r"(?P<taken>[\w.\[\]]{1,80}(?i:lock|mutex|sem|cond)\w{0,20})\.(?:acquire|wait)\("
)
WAITING_FRAME_PATTERN = lazy.regex(
    r"(?:threading\.py\", line \d+, in (?:wait|acquire|join|_wait_for_tstate_lock|__enter__)|"
    r"queue\.py\", line \d+, in (?:get|put)|selectors\.py\", line \d+, in select|"
    r"multiprocessing/(?:connection|popen_fork|synchronize|pool|queues)\.py\", line \d+, in \w+|"
    r"concurrent/futures/_base\.py\", line \d+, in (?:result|wait))"
)
WAIT_INTERRUPTED = "waited"
OUTCOMES = (WAIT_INTERRUPTED,)
MIN_WAITING_PROCESSES = 2  # a single process may wait for work; if several wait and none computes, the job hangs


def read(region: Region) -> Record | None:
    """The wait that the Ctrl-C on this region's line ended. The record has no outcome if the program was computing. None if
    there is no traceback above the line."""
    *above, end = parse_lines([*region.lines_before(), Line(region.number, region.text)])
    if not INTERRUPT_PATTERN.match(end.message.strip()):
        return None
    start = next((i for i in range(len(above) - 1, -1, -1) if TRACEBACK_HEAD in above[i].message), None)
    rows = [r for r in above[start or 0 :] if r.message.strip()]
    frames = [i for i, r in enumerate(rows) if FRAME_PATTERN.search(r.message)]
    if start is None or not frames:
        return None
    own = [i for i in frames if (m := FRAME_PATTERN.search(rows[i].message)) and not is_library_file(m["file"])]
    innermost = rows[frames[-1]].message
    code = rows[frames[-1] + 1].message.strip() if frames[-1] + 1 < len(rows) else ""
    lock = LOCK_STATEMENT_PATTERN.search(code) if own and own[-1] == frames[-1] else None
    first = above[start].line.number
    if lock is None and not WAITING_FRAME_PATTERN.search(innermost.replace("\\", "/")):
        return Record("interrupted_wait", first, region.number, None, "hint", (end.line,))
    fields: dict[str, Value] = {"interrupt": "KeyboardInterrupt"}
    quote = [end.line]
    if own and (found := FRAME_PATTERN.search(rows[own[-1]].message)):
        fields |= {"python_file": found["file"], "python_line": int(found["line_no"][:9])}
        fields["python_function"] = (found["function"] or "<module>").strip()
        quote.insert(0, rows[own[-1]].line)
    if lock:
        fields["awaited_lock"] = str(lock["held"] or lock["taken"])
    weight: Weight = "strong" if lock else "hint"
    return Record("interrupted_wait", first, region.number, WAIT_INTERRUPTED, weight, tuple(quote), fields)


def join(records: list[Record]) -> list[Record]:
    """The waits among the interrupted processes. If several waited and none was computing, the weight is higher."""
    waits = [r for r in records if r.outcome]
    if len(waits) < max(MIN_WAITING_PROCESSES, len(records)):
        return waits
    return [replace(r, weight="strong") for r in waits]

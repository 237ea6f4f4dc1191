"""Reads Python's dump of its threads at a fatal signal or in a hanging run: the innermost frame of the user's code.

    Fatal Python error: Segmentation fault

    Current thread 0x00007f3e2b7fe640 (most recent call first):
      File "/opt/venv/lib/python3.11/site-packages/cv2/__init__.py", line 12 in resize
      File "/home/u/train.py", line 88 in load
      ...

CPython's Modules/faulthandler.c and Python/pylifecycle.c write it. No comma stands before "in", the innermost frame comes
first, and the main thread comes last. faulthandler.dump_traceback_later writes `Timeout (0:10:00)!` after that time (hours,
minutes, seconds). `Thread 4711 (idle): "MainThread"` is from `py-spy dump`, which a person runs on a program that hangs.
"""

import re
import sys
from itertools import takewhile

from forensics.data_files.named_parts import patterns_of
from forensics.database import signal_outcome
from forensics.model import Line, Region, Trigger, Value, Weight
from forensics.readers.base import ParsedLine, Record, parse_lines
from forensics.readers.python.frames import Frame, dump_frame, spy_frame
from forensics.readers.python.library_files import is_library_file, is_others_code

COLLECTIVES_FILE = "torch/distributed/distributed_c10d.py"
TRIGGER = Trigger("faulthandler", of="faulthandler", before=8, after=220)
PATTERNS = patterns_of("faulthandler")
STALLED, ACCESS_VIOLATION, STACK_OVERFLOW = "stalled", "access_violation", "stack_overflow"
BY_WHAT: tuple[tuple[str, str, Weight, int], ...] = (
    ("Segmentation fault", signal_outcome(11), "proof", 11),
    ("access violation", ACCESS_VIOLATION, "proof", 0),
    ("stack overflow", STACK_OVERFLOW, "strong", 0),
    ("Bus error", signal_outcome(7), "strong", 7),
    ("Aborted", signal_outcome(6), "strong", 6),
    ("Floating", signal_outcome(8), "strong", 8),
    ("Illegal instruction", signal_outcome(4), "proof", 4),
)
VARIABLE_INDENT = " " * 8  # of what py-spy shows with --locals below a frame
OUTCOMES = (STALLED, *(outcome for _, outcome, _, _ in BY_WHAT))


def read(region: Region) -> Record | None:
    """The dump that starts on the region's line (for py-spy, the main thread of the dump). None if no such dump starts there."""
    spy = PATTERNS.py_spy_thread.search(region.text)
    if spy:
        return _spy(region, spy["doing"])
    head, *rows = parse_lines([region.line, *region.lines_after()])
    found = PATTERNS.dump_head.search(head.message)
    if found is None:
        return None
    outcome, weight, fields = _decide(found)
    frames, last = _thread(rows, waiting=found["after"] is not None, aborted=outcome == signal_outcome(6))
    own = _own(frames)
    quote = [head.line]
    fields |= _only_extension(rows)
    if own:
        fields |= _frame(own[1])
        quote.append(own[0])
        if call := _collective_call(frames, own[0]):
            fields["python_call"] = call
    last = last or region.number
    if outcome is None:
        return Record("faulthandler", region.number, last, None, "hint", tuple(quote), fields, lends=True) if own else None
    return Record("faulthandler", region.number, last, outcome, weight, tuple(quote), fields)


def _only_extension(rows: list[ParsedLine]) -> dict[str, Value]:
    """The one native module that was loaded beside Python's own; nothing if there were several. A package such as numpy loads a
    dozen, and beside those a library that ctypes calls stands in no list."""
    named = next((found["names"] for row in rows if (found := PATTERNS.extension_modules.search(row.message))), "")
    return {"extension": named.strip()} if named and "," not in named else {}


def _decide(head: re.Match[str]) -> tuple[str | None, Weight, dict[str, Value]]:
    if head["after"]:
        hours, minutes, seconds = (int(x[:9]) for x in head["after"].split(":"))
        return STALLED, "strong", {"timeout_s": hours * 3600 + minutes * 60 + seconds}
    what = head["what"]
    for words, outcome, weight, signal in BY_WHAT:
        if words.lower() in what.lower():
            return outcome, weight, {"fatal_error": what, **({"signal": signal} if signal else {})}
    return None, "hint", {"fatal_error": what}


def _thread(rows: list[ParsedLine], waiting: bool, aborted: bool) -> tuple[list[Line], int]:
    """The frames of the thread that matters, innermost first, and the number of the dump's last line.

    That is the current thread. In a run that hangs (`waiting`), or where a thread aborted that runs no Python, it is the
    main thread, which comes last. Frames without a
    thread's heading above them, as in a cut dump, are counted as a thread that is not the current one.
    """
    threads: list[tuple[bool, list[Line]]] = []
    last = 0
    for row in rows:
        if found := PATTERNS.dump_thread.search(row.message):
            threads.append((found["current"].startswith("C"), []))
        elif dump_frame(row.message):
            if not threads:
                threads.append((False, []))
            threads[-1][1].append(row.line)
        elif (
            row.message.strip()
            and "..." not in row.message
            and "<" not in row.message
            and "Python runtime state" not in row.message
        ):
            break
        last = row.line.number if row.message.strip() else last
    current = next((frames for is_current, frames in threads if is_current), None)
    if not waiting and not (aborted and current is None):
        return current or [], last
    return (threads[-1][1] if threads else []), last


def _own(frames: list[Line]) -> tuple[Line, Frame] | None:
    """The innermost frame outside of installed libraries; else the innermost frame."""
    found = [(line, frame) for line in frames if (frame := dump_frame(line.text))]
    return next((f for f in found if not is_library_file(f[1].file)), found[0] if found else None)


def _collective_call(frames: list[Line], own: Line) -> str:
    """The collective call of PyTorch that the program made at `own`."""
    inside = (frame for line in takewhile(lambda line: line is not own, frames) if (frame := dump_frame(line.text)))
    return next((f.function.strip() for f in reversed([*inside]) if f.file.endswith(COLLECTIVES_FILE)), "")


def _frame(frame: Frame) -> dict[str, Value]:
    return {"python_file": frame.file, "python_line": frame.line or 0, "python_function": frame.function.strip()}


def _spy(region: Region, doing: str) -> Record | None:
    """py-spy's dump of the main thread. Its frames have no "File". The record has no outcome; signatures can match its frames."""
    frames: list[Line] = []
    for line in region.lines_after():
        if spy_frame(line.text):
            frames.append(line)
        elif not line.text.startswith(VARIABLE_INDENT):
            break
    own = _own_spy(frames)
    if own is None:
        return None
    fields: dict[str, Value] = {**_frame(own[1]), "thread_state": doing}
    return Record("faulthandler", region.number, frames[-1].number, None, "hint", (own[0], region.line), fields, lends=True)


def _own_spy(frames: list[Line]) -> tuple[Line, Frame] | None:
    """The innermost frame of a file of the program; else that of `<module>` or `main`; else the outermost frame. py-spy
    shortens paths to the package (`torch/autograd/__init__.py`), so one with a folder in it may be a library's."""
    found = [(line, frame) for line in frames if (frame := spy_frame(line.text))]
    own = [f for f in found if _is_programs(f[1].file)] or [f for f in found if f[1].function in ("<module>", "main")]
    return (own[0] if own else found[-1]) if found else None


def _is_programs(file: str) -> bool:
    """Is it a file of the program? A plain name is one, if it is that of no module of Python's own."""
    if "/" in file:
        return file.startswith("/") and not is_others_code(file)
    return file.endswith(".py") and file.removesuffix(".py") not in sys.stdlib_module_names

"""Reads Python tracebacks (chained, per rank, in notebooks, in Rich boxes): the exception, its message, the user's last frame.

Traceback (most recent call last):
  File "/home/u/train.py", line 12, in main
    loss = model(x)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2)

Tell from a traceback's frames whether installed packages do not fit each other.

  File "/home/u/train.py", line 3, in <module>
    import gensound
  File "/opt/py/lib/python3.12/site-packages/gensound/mix.py", line 40, in <module>
    class Mix(tornado.web.Handler):
AttributeError: module 'tornado' has no attribute 'web'

While packages are imported, no data of the program is at work: a name, attribute or argument that is missing then was renamed or
removed in another package, or this one is too old for the interpreter. Later, the same holds where the code of a package itself
names an attribute that a module of another package does not have.
"""

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from msgspec import Struct
from msgspec.structs import replace

from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Region, Trigger, Value, Weight
from forensics.readers.base import ParsedLine, Record, parse_lines, unwrapped
from forensics.readers.python.frames import FRAME_CODE_ROWS, MARKS_PATTERN, frame_of
from forensics.readers.python.library_files import installed_package, is_library_file
from forensics.readers.python.quoted_source import HANDLED, MAX_MESSAGE_LINES, TRACEBACK_HEAD, list_end, message_end
from forensics.readers.python.teardown import (
    IN_THREAD,
    is_ignored,
    is_of_clean_up,
    is_of_formatting,
    is_of_lost_parent,
    is_of_metrics,
    is_of_thread,
    is_of_tracker,
)

PATTERNS = patterns_of("traceback")
LACKING = ("AttributeError", "NameError", "TypeError")  # a name or argument that is not there, or no longer of its kind


class CodeFrame(Struct, frozen=True):
    """A frame: its file, and the row of code that is printed with it."""

    file: str
    code: str


def packages_misfit(messages: Sequence[str], exception: str, message: str) -> bool:
    """`messages`: the rows of the traceback above its exception, without their prefixes."""
    frames = [f for f in _frames(messages) if not f.file.startswith("<")]
    if exception.rpartition(".")[2] not in LACKING or not frames or not installed_package(frames[-1].file):
        return False
    lacks = PATTERNS.module_lacks.match(message)
    if lacks and f".{lacks['name']}" in frames[-1].code:
        return True
    own = [i for i, frame in enumerate(frames) if not is_library_file(frame.file)]
    return any(PATTERNS.import_statement.match(frame.code) for frame in frames[own[-1] if own else 0 : -1])


def _frames(messages: Sequence[str]) -> list[CodeFrame]:
    found: list[CodeFrame] = []
    for i, message in enumerate(messages):
        frame = frame_of(message)
        if not frame:
            continue
        below = messages[i + 1 : i + 1 + FRAME_CODE_ROWS]
        upto = next((n for n, text in enumerate(below) if frame_of(text)), len(below))
        if frame.form in ("traceback", "place", "dump"):
            code = next(iter(below[:upto]), "")
        else:
            code = next((a["code"] for text in below[:upto] if (a := PATTERNS.marked_code.match(text))), "")
        found.append(CodeFrame(frame.file, code))
    return found


TRIGGER = Trigger("traceback", ("Traceback (most recent call last)",), before=4, after=150)
EXITED_CHILD = "ProcessExitedException"  # of torch.multiprocessing: a process that it spawned ended without an exception
# Exceptions by which a launcher, a pool or a broken pipe reports that another process failed, without the reason.
REPORTERS = {
    *("ChildFailedError", "CalledProcessError", "ProcessRaisedException", EXITED_CHILD, "SystemExit"),
    *("DeadKernelError", "PapermillExecutionError", "CellExecutionError", "RayActorError", "ActorDiedError"),
    *("ActorUnavailableError", "RayGetError", "WorkerCrashedError", "NodeDiedError", "OwnerDiedError", "ObjectLostError"),
    *("TrainingFailedError", "HorovodInternalError", "EngineDeadError", "AsyncEngineDeadError", "BrokenProcessPool"),
    *("TerminatedWorkerError", "KilledWorker", "HaltServer", "Empty", "EOFError", "BrokenPipeError", "ConnectionResetError"),
}
UNCAUGHT, IGNORED_OUTCOME, TEARDOWN, MISFIT = "uncaught", "ignored", "teardown", "packages_misfit"
HANDED_ON = "handed_on"
DEFAULT_GROUP = "the default group"
NEXT_PART = "+----"  # in front of the next exception of a group
GROUP_HEAD = f"+ Exception Group {TRACEBACK_HEAD}"
USER_CODE = "in user code:"  # TensorFlow's, in front of the traceback of a traced function
OWN_SENTENCE = "own_sentence"  # a fact of an exception that the program itself raises, with words of its own
OUTCOMES = (UNCAUGHT, IGNORED_OUTCOME, TEARDOWN, MISFIT, HANDED_ON)


def read(region: Region) -> Record | None:
    """The traceback that starts on the region's line. None if it is cut before its exception and no heading names that."""
    head, *rest = parse_lines([region.line, *region.lines_after()])
    rows = [r for r in rest if r.prefix.rank == head.prefix.rank] if head.prefix.rank is not None else rest
    notebook = PATTERNS.notebook_head.search(head.message)
    if not notebook:
        head, *rows = _own_rows(*unwrapped([head, *rows], TRACEBACK_HEAD))
    place = _notebook_end(rows, notebook["name"]) if notebook else _end(rows)
    frames = [r.message for r in rows[: FRAME_CODE_ROWS if place is None else place] if r.message.lstrip().startswith('File "')]
    if idle := _ends_nothing(region, head, rows, place, frames):
        return idle
    if place is None:
        return _cut(region, head, rows, notebook["name"] if notebook else "")
    exception, surely_to = rows[place], list_end(rows, place)
    found = PATTERNS.exception_line.match(exception.message.strip())
    if found is None:
        return None
    if GROUP_HEAD in head.line.text and (part := _first_part(rows, place)):
        exception, found = part
    frame, frame_line = _own_frame(rows[:place])
    fields = _told(found) | frame | _call_group(rows[:place], frame_line)
    fields |= _wait(rows[:place]) if fields["exc_type"] == "KeyboardInterrupt" else {}
    last = message_end(rows, place)
    if TRACEBACK_HEAD in (message := str(fields.get("exc_message", ""))) or message == USER_CODE:
        inner, inner_line, inner_last = _inner(rows[place + 1 :], str(fields["exc_type"]), message)
        fields, frame_line, last = fields | inner, inner_line or frame_line, max(last, inner_last)
    elif wrapped := _wrapped(rows[place + 1 :], fields):
        exception, own = wrapped
        fields, last = fields | own, max(last, exception.line.number)
    fields |= _whose(head, frames, rows[place + 1 :] if notebook else []) | _child(region, fields) | _own_sentence(rows[:place])
    return Record(
        kind="traceback",
        first=region.number,
        last=last,
        outcome=_outcome(rows[:place], fields),
        weight=_weight(rows[place:], frames, fields),
        quote=(exception.line, *([frame_line] if frame_line else [])),
        fields=fields,
        lends=True,
        told_to=surely_to if surely_to > exception.line.number else 0,
    )


def _handed_on(rows: list[ParsedLine], place: int) -> Line | None:
    """The line by which torch.multiprocessing names a child whose exception it hands on; the traceback below it is read for
    itself."""
    found = PATTERNS.exception_line.match(rows[place].message.strip())
    if found is None or not found["exc_type"].endswith("ProcessRaisedException"):
        return None
    heads = ((r.line, PATTERNS.child_head.match(r.message)) for r in rows[place + 1 : place + 1 + FRAME_CODE_ROWS])
    return next((line for line, head in heads if head and head["spawned"]), None)


def _whose(head: ParsedLine, frames: list[str], below: list[ParsedLine]) -> dict[str, Value]:
    """The rank, the thread and the cell that ended by it, as far as known. `below`: a notebook's lines behind the exception."""
    fields: dict[str, Value] = {IN_THREAD: 1} if is_of_thread(frames) else {}
    if head.prefix.rank is not None:
        fields["rank"] = head.prefix.rank
    if cell := next(filter(None, (PATTERNS.ended_cell.match(r.message) for r in below)), None):
        fields["cell"] = int(cell["number"])
    return fields


def _own_sentence(rows: list[ParsedLine]) -> dict[str, Value]:
    """Does a statement of the program itself, and of no library, raise it?"""
    messages = [r.message for r in rows]
    behind = (_frames(messages[i : i + 1 + FRAME_CODE_ROWS]) for i in reversed(range(len(messages))))
    innermost = next((frames[0] for frames in behind if frames), None)
    raises = innermost and PATTERNS.raising_statement.match(innermost.code) and not is_library_file(innermost.file)
    return {OWN_SENTENCE: 1} if raises else {}


def _child(region: Region, fields: dict[str, Value]) -> dict[str, Value]:
    """The number of the child process that the line before names, or the message, as torch.multiprocessing counts the processes
    that it spawned, and as multiprocessing names the children of a program. Its own names count from 1, and those of a program as
    it likes."""
    found = PATTERNS.child_head.match(before[-1].text) if (before := region.lines_before()) else None
    if found is None:
        return _ended_child(fields)
    if found["spawned"]:
        return {"local_rank": int(found["spawned"])}
    return {"child_no": int(found["number"]) - 1} if found["usual"] else {"process_no": int(found["number"])}


def _ended_child(fields: dict[str, Value]) -> dict[str, Value]:
    """The number of a child process that torch.multiprocessing spawned and that ended without an exception, and how it ended."""
    found = PATTERNS.ended_child.fullmatch(str(fields.get("exc_message", "")))
    if found is None or not str(fields["exc_type"]).endswith(EXITED_CHILD):
        return {}
    how: dict[str, Value] = (
        {"exit_code": int(found["exit_code"])} if found["exit_code"] else {"signal_name": found["signal_name"]}
    )
    return {"local_rank": int(found["number"]), **how}


def _told(found: re.Match[str]) -> dict[str, Value]:
    return {k: v.strip()[:500] for k, v in found.groupdict().items() if v and v.strip()}


def _own_rows(head: ParsedLine, *rows: ParsedLine) -> list[ParsedLine]:
    """The head and rows of a traceback: of an exception group without what Python draws beside them, with empty rows between its
    parts; of any other those before the next part."""
    if GROUP_HEAD not in head.line.text:
        return [head, *takewhile(lambda r: not r.message.lstrip().startswith(NEXT_PART), rows)]
    drawn = PATTERNS.drawn
    return [head, *(replace(r, prefix=replace(r.prefix, message=drawn.sub("", r.message, count=1))) for r in rows)]


def _first_part(rows: Sequence[ParsedLine], place: int) -> tuple[ParsedLine, re.Match[str]] | None:
    """The row of the first exception of a group, behind that of the group, and what it tells; None if it has a traceback of its
    own, which is read where it begins."""
    row = next((r for r in rows[place + 1 :] if r.message.strip()), rows[place])
    told = PATTERNS.exception_line.match(row.message.strip())
    return (row, told) if told else None


def _ends_nothing(
    region: Region, head: ParsedLine, rows: list[ParsedLine], place: int | None, frames: list[str]
) -> Record | None:
    """The record of an exception that ends nothing: handed on, of clean-up, printed and ignored, of a tracker's thread."""
    if place is not None and (child := _handed_on(rows, place)):
        return Record("traceback/handed_on", region.number, child.number, HANDED_ON, "hint", (head.line,))
    if place is not None and GROUP_HEAD in head.line.text and _first_part(rows, place) is None:
        return Record("traceback/handed_on", region.number, rows[place].line.number, HANDED_ON, "hint", (head.line,))
    said = rows[place].message if place is not None else ""
    clean_up = is_of_clean_up(region, frames) or is_of_lost_parent(frames, said)
    if not (clean_up or is_ignored(region) or is_of_tracker(region, frames) or is_of_metrics(frames)):
        return None
    last = message_end(rows, place) if place is not None else region.number
    return Record("traceback/ignored", region.number, last, TEARDOWN if clean_up else IGNORED_OUTCOME, "hint", (head.line,))


def _cut(region: Region, head: ParsedLine, rows: list[ParsedLine], name: str) -> Record | None:
    """A traceback that is cut before its message, or that was pasted as one line. `rows`: its lines below `head`, as far as read;
    a notebook prints the frames of its cells first.

    `name`: the exception's name from a notebook's heading, or "". Without it, the name is searched in the pasted line. None if
    neither names an exception, or if the exception only reports the failure of another process.
    """
    pasted = PATTERNS.one_line_traceback.search(head.message)
    exception = name or (pasted["name"] if pasted else "")
    if exception in REPORTERS or not exception.endswith(("Error", "Exception")):
        return None
    upto = next((i for i, row in enumerate(rows) if TRACEBACK_HEAD in row.message), len(rows))
    frame = _own_frame(rows[:upto])[0] if name else {}
    own = {} if is_library_file(str(frame.get("file", ""))) else frame
    fields: dict[str, Value] = {"exc_type": exception, **own}
    last = rows[upto - 1].line.number if own else region.number
    return Record("traceback", region.number, last, UNCAUGHT, "strong", (head.line,), fields=fields)


def _end(rows: list[ParsedLine]) -> int | None:
    """Index of the exception's row: the first row with the form of one that is not indented and not in a Rich box."""
    frames = 0
    for i, row in enumerate(rows):
        message = row.message
        if not message.strip():
            continue
        if message[0] in " \t" or message.lstrip()[0] in "│╭╰┃┏┗❱~^" or message.startswith("> File "):  # Loguru's mark
            frames += 1
            continue
        if PATTERNS.exception_line.match(message.strip()):
            return i
        if message.startswith("File ") or frames:  # a paste that lost its indentation, or a message glued to output
            frames += 1
            if frames > 120:
                return None
            continue
        return None
    return None


def _notebook_end(rows: list[ParsedLine], name: str) -> int | None:
    """Index of the exception's row in a notebook's traceback: after the frames, it repeats the name from the heading."""
    for i, row in enumerate(rows):
        if row.message.strip().startswith((f"{name}:", f"{name} :")) or row.message.strip() == name:
            return i
    return None


def _wait(rows: list[ParsedLine]) -> dict[str, Value]:
    """The call that waits for another thread or process, if the last row of code in the traceback is such a call."""
    code = next((r.message for r in reversed(rows) if not MARKS_PATTERN.fullmatch(r.message)), "")
    found = PATTERNS.waiting_call.fullmatch(code)
    return {"waited_in": found["call"]} if found else {}


def _call_group(rows: list[ParsedLine], frame: Line | None) -> dict[str, Value]:
    """The collective call in which a program stands, and the name of the group that it gives to it, as its code is printed."""
    code = next((below.message for row, below in pairwise(rows) if row.line is frame), "")
    found = PATTERNS.collective_call.search(code)
    return {"call_group": found["group"] or DEFAULT_GROUP, "python_call": found["call"]} if found else {}


def _own_frame(rows: list[ParsedLine]) -> tuple[dict[str, Value], Line | None]:
    """The innermost frame outside of installed libraries; else the innermost frame."""
    best: tuple[dict[str, Value], Line | None] = ({}, None)
    only_foreign = True
    for i, row in enumerate(rows):
        fields = _frame(row.message, rows[i + 1 : i + 1 + FRAME_CODE_ROWS])
        if fields:
            foreign = is_library_file(str(fields["file"]), str(fields.get("function", "")))
            if not foreign or only_foreign:
                best, only_foreign = (fields, row.line), foreign
    return best


def _frame(message: str, below: list[ParsedLine]) -> dict[str, Value]:
    """File, line number and function of a frame, as far as known. Empty if `message` is no frame. `below`: the next rows."""
    frame = frame_of(message, [row.message for row in below])
    if frame is None:
        return {}
    fields: dict[str, Value] = {"file": frame.file}
    if frame.line is not None:
        fields["line_no"] = frame.line
    if frame.function and frame.form != "dump":
        fields["function"] = frame.function
    return fields


def _outcome(rows: list[ParsedLine], fields: dict[str, Value]) -> str:
    kind = str(fields["exc_type"]).rpartition(".")[2]
    return MISFIT if packages_misfit([r.message for r in rows], kind, str(fields.get("exc_message", ""))) else UNCAUGHT


def _weight(rows: list[ParsedLine], frames: list[str], fields: dict[str, Value]) -> Weight:
    """A hint if the exception, in the first of `rows`, came while another was printed, was handled, or only tells of another."""
    reports = str(fields["exc_type"]).rpartition(".")[2] in REPORTERS
    elsewhere = PATTERNS.elsewhere.search(str(fields.get("exc_message", "")))
    return "hint" if reports or elsewhere or is_of_formatting(frames) or _is_handled(rows) else "strong"


def _is_handled(rows: list[ParsedLine]) -> bool:
    """Is another exception told to have come while the one in the first of `rows` was handled, and not only printed?"""
    below = takewhile(lambda r: TRACEBACK_HEAD not in r.message, rows[1:MAX_MESSAGE_LINES])
    if not any(r.message.startswith(HANDLED) for r in below):
        return False
    return not is_of_formatting([r.message for r in rows if r.message.lstrip().startswith('File "')])


def _wrapped(rows: list[ParsedLine], fields: dict[str, Value]) -> tuple[ParsedLine, dict[str, Value]] | None:
    """The row and the fields of the exception that a wrapper without words of its own is named after: `JoblibValueError:
    JoblibValueError` of joblib is told by the `ValueError: ...` below its printed frames."""
    wrapper = str(fields["exc_type"]).rpartition(".")[2]
    if str(fields.get("exc_message", wrapper)) != wrapper:
        return None
    for row in rows:
        found = PATTERNS.exception_line.match(row.message)
        inner = found["exc_type"].rpartition(".")[2] if found and found["exc_message"] else wrapper
        if found and wrapper.endswith(inner) and inner not in (wrapper, "Error", "Exception"):
            return row, {"exc_type": found["exc_type"], "exc_message": found["exc_message"].strip()[:500]}
    return None


def _dedented(rows: list[ParsedLine]) -> list[ParsedLine]:
    """The rows of a traceback that TensorFlow prints as the message of an exception in traced code, four blanks to the right."""
    own = takewhile(lambda r: not r.message.strip() or r.message.startswith("    "), rows)
    return [ParsedLine(r.line, replace(r.prefix, message=r.message[4:])) for r in own]


def _inner(rows: list[ParsedLine], exception: str, message: str) -> tuple[dict[str, Value], Line | None, int]:
    """The message, the program's own frame and the last line of a message that holds a traceback: another process, thread or
    callback failed, and its traceback was raised again as text. `exception`: the type of what was raised again.
    `message`: what stands before and in front of that text."""
    rows = _dedented(rows) if message == USER_CODE else rows
    place = _end(rows)
    if place is None:
        return {"exc_message": message}, None, 0
    frame, line = _own_frame(rows[:place])
    said = rows[place].message.strip()
    if PATTERNS.of_layer.search(said):  # Keras names the layer, and says below what it could not do
        said = " ".join([said, *(r.message.strip() for r in rows[place + 1 : place + 3] if r.message.strip())])
    stated: dict[str, Value] = {"exc_message": said.removeprefix(f"{exception}: ")[:500]}
    own = frame and not is_library_file(str(frame["file"]))
    return (stated | frame, line, rows[place].line.number) if own else (stated, None, rows[place].line.number)

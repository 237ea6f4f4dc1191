"""The place in tracebacks near a line of evidence: the innermost frame of the user's own program.

  File "train.py", line 10, in main       in a traceback linked with one of library frames alone   -> file train.py, line_no 10

Formats: CPython's, IPython's, Colab's and Rich's frames; XLA's metadata of operations.

The frame of the program in the stack that faulthandler printed below a fatal error.
"""

from collections.abc import Sequence
from itertools import pairwise

from forensics.data_files.named_parts import patterns_of
from forensics.model import Fields, Proof, Value
from forensics.readers.base import MAX_FAULT_LINES, Found
from forensics.readers.python.frames import BOX, FRAME_CODE_ROWS, colab_frame, dump_frame, frame_of, may_be_frame, rich_frame
from forensics.readers.python.library_files import is_library_file, knows_own_code, without_library_folder

MAX_GAP = 12  # lines between a traceback and the message that belongs to it, or between two tracebacks of a chain
MAX_TRACEBACK_LINES = 420  # with a message of hundreds of lines, as of a compiler
INDENTED = ("ipython", "cell", "old")  # a sentence may name a cell as well
FORWARD_LINES = 60  # between the warning with the forward call and the message; in the metadata of an operation
FORWARD_CALL = "Traceback of forward call that caused the error"  # of PyTorch's anomaly mode: the frames below it made the value
PATTERNS = patterns_of("near tracebacks")
Place = tuple[int, str, int]  # index of the frame's line, file, line number
TOLD_BY_SIGNAL = "signal_handling.py"  # of PyTorch: what the program did as a worker died has no part in it


def code_near(facts: Fields, lines: Sequence[str], at: int) -> dict[str, Value]:
    """The innermost frame outside of libraries: of the traceback that the message belongs to, else of those linked with it."""
    if knows_own_code(facts) and not any(FORWARD_CALL in text for text in lines[max(0, at - FORWARD_LINES) : at]):
        return {}
    tracebacks = tracebacks_near(lines, at)
    own = next((f for t in tracebacks for f in reversed(t) if not _foreign(f[1])), None)
    if own:
        return {"file": own[1], "line_no": own[2]}
    if "file" in facts:
        return {}
    library = next((f for t in tracebacks for f in reversed(t) if not _no_place(f[1])), None)
    return {"file": library[1], "line_no": library[2]} if library else _of_xla(lines[at : at + FORWARD_LINES])


def raised_in(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The line of a library that raised it, below the line of the user's own program that called it."""
    innermost = next((t[-1] for t in tracebacks_near(lines, at)[:1]), None)
    if innermost is None or not is_library_file(innermost[1]) or _no_place(innermost[1]) or TOLD_BY_SIGNAL in innermost[1]:
        return {}
    return {"raised_in": f"{without_library_folder(innermost[1])}:{innermost[2]}"}


def tracebacks_near(lines: Sequence[str], at: int) -> list[list[Place]]:
    """The tracebacks linked with line `at`, that which holds or adjoins it first, then those behind it, then those before it."""
    begin = max(0, at - MAX_TRACEBACK_LINES)
    tag = PATTERNS.tag.match(lines[at])
    frames = [f for i in range(begin, min(len(lines), at + MAX_TRACEBACK_LINES)) if (f := _frame(lines, i, tag and tag[0]))]
    tags = [PATTERNS.tag.match(lines[f[0]]) for f in frames]
    if not tag and len({t[0] for t in tags if t}) > 1:  # of which rank the line is, nothing tells
        frames = [f for f, t in zip(frames, tags, strict=True) if not t]
    if not frames:
        return []
    groups = [[frames[0]]]
    for before, frame in pairwise(frames):
        between = lines[before[0] + 1 : frame[0]]
        if any(map(_begins, between)) or (len(between) >= MAX_GAP and not all(BOX in text for text in between)):
            groups.append([])
        groups[-1].append(frame)
    made = [g for g in groups if any(FORWARD_CALL in lines[i] for i in range(max(0, g[0][0] - 2), g[0][0]))]
    near = min(range(len(groups)), key=lambda i: _distance(groups[i], at))
    if _distance(groups[near], at) > MAX_GAP:
        return [*made, *_of_long_message(groups, lines, at)]
    first = last = near
    while last + 1 < len(groups) and groups[last + 1][0][0] - groups[last][-1][0] <= MAX_GAP:
        last += 1
    while first > 0 and groups[first][0][0] - groups[first - 1][-1][0] <= MAX_GAP:
        first -= 1
    return [*made, *groups[near : last + 1], *reversed(groups[first:near])]


def _of_long_message(groups: Sequence[list[Place]], lines: Sequence[str], at: int) -> list[list[Place]]:
    """The last traceback above line `at`, if all lines between are its message, such as the source text of a kernel."""
    above = [g for g in groups if g[-1][0] < at]
    between = lines[above[-1][-1][0] + 1 : at] if above else []
    return above[-1:] if not any(PATTERNS.logged.search(text) for text in between) else []


def _distance(group: Sequence[Place], at: int) -> int:
    """Lines between a traceback and line `at`; a message below it is nearer than one above it, as it is printed last."""
    return 0 if group[0][0] <= at <= group[-1][0] else at - group[-1][0] if group[-1][0] < at else group[0][0] - at + 1


def _begins(text: str) -> bool:
    return "Traceback (most recent call last)" in text or FORWARD_CALL in text


def _frame(lines: Sequence[str], i: int, tag: str | None) -> Place | None:
    text = lines[i]
    if not may_be_frame(text) or (tag and tag not in text):
        return None
    below = lines[i + 1 : i + 1 + FRAME_CODE_ROWS]
    found = rich_frame(text, below) or frame_of(text, below) or colab_frame(text, below)
    if found is None or found.line is None or found.form == "dump" or (found.form in INDENTED and found.head.strip()):
        return None
    return i, found.file, found.line


def _foreign(file: str) -> bool:
    library = is_library_file(file) or PATTERNS.compiled.search(file) or PATTERNS.start_script.search(file)
    return library is not None


def _no_place(file: str) -> bool:
    return any(p.search(file) for p in (PATTERNS.compiled, PATTERNS.runner, PATTERNS.start_script))


def _of_xla(lines: Sequence[str]) -> dict[str, Value]:
    found = (m for text in lines for m in PATTERNS.xla_source.finditer(text))
    first = next(found, None)
    return {"file": first["file"], "line_no": int(first["line"])} if first else {}


def crash_stack(facts: Fields, proofs: Sequence[Proof], lines: Sequence[str], at: int) -> Found:
    """The innermost frame outside of libraries in the stack that faulthandler printed; else the innermost one."""
    if knows_own_code(facts) or "fatal" not in proofs[0].text.lower():
        return {}
    start = next((i for i in range(at, min(len(lines), at + MAX_FAULT_LINES)) if PATTERNS.stack.match(lines[i])), None)
    frames = []
    for text in lines[start + 1 : start + MAX_FAULT_LINES] if start is not None else ():
        frame = dump_frame(text)
        if frame is None or len(frame.head.split()) > 1:  # a word in front may be a label
            break
        frames.append(frame)
    own = next((f for f in frames if not is_library_file(f.file)), frames[0] if frames else None)
    return {"file": own.file, "line_no": own.line or 0} if own else {}

"""The place in tracebacks near a line of evidence: the innermost frame of the user's own program.

  File "train.py", line 10, in main       in a traceback linked with one of library frames alone   -> file train.py, line_no 10

Formats: CPython's, IPython's, Colab's and Rich's frames; XLA's metadata of operations.
"""

from collections.abc import Sequence
from itertools import pairwise

from forensics.core import lazy
from forensics.model import Fields, Value
from forensics.readers.python.library_files import is_library_file, knows_own_code

MAX_GAP = 12  # lines between a traceback and the message that belongs to it, or between two tracebacks of a chain
MAX_TRACEBACK_LINES = 420  # with a message of hundreds of lines, as of a compiler
FRAME_PATTERNS = (
    lazy.regex(r'File "(?P<file>[^"\n]{1,400})", line (?P<line>\d{1,7})(?:,|\s*\Z)'),  # not faulthandler's, innermost first
    lazy.regex(r"\A\s*(?:[│|]\s+)?(?P<file>[^\s│|:]{1,300}\.py):(?P<line>\d{1,7}) in \S"),  # Rich's
    lazy.regex(r"\AFile (?P<file>\S{1,400}):(?P<line>\d{1,7}), in \S"),  # IPython's
    lazy.regex(r"\A(?:Cell|Input) (?P<cell>In ?\[\d{1,9}\]), line (?P<line>\d{1,7})"),
)
# IPython before 8, and Colab, which links the file: `<ipython-input-19-adef1f> in <module>()`, `[~/a.py](https://...) in f(x)`
OLD_FRAME_PATTERN = lazy.regex(
    r"\A(?:<ipython-input-(?P<number>\d{1,9})-\w+>|\[?(?P<file>[^\s:()\[\]]{1,300}\.pyx?)(?:\]\(http\S+\))?) in \S"
)
CELL_FILE_PATTERN = lazy.regex(r"/ipython-input-\S*\.py\Z")  # Colab's: it has no number of the cell
ARROW_LINE_PATTERN = lazy.regex(r"\A-+> ?(?P<line>\d{1,7})\b")
FORWARD_LINES = 60  # between the warning with the forward call and the message; in the metadata of an operation
ARROW_LINES = 12  # rows of code that IPython prints with a frame
FORWARD_CALL = "Traceback of forward call that caused the error"  # of PyTorch's anomaly mode: the frames below it made the value
LOGGED_PATTERN = lazy.regex(r"(?i)\d\d:\d\d:\d\d|\b(?:step|epoch|iter|loss|info|warning)\b")  # a program prints it as it runs
COMPILED_PATTERN = lazy.regex(r"\.px[id]\Z|\.pyx\Z|\A<")  # compiled code: its path is that of the build
RUNNER_PATTERN = lazy.regex(  # what runs the program's code, or waits for it
    r"(?:IPython/core/|/asyncio/|/multiprocessing/|/concurrent/futures/)|(?:\A|/)(?:threading|runpy|selectors|queue|subprocess)\.py\Z"
)
START_SCRIPT_PATTERN = lazy.regex(r"/bin/[\w.-]{1,60}\Z")
XLA_SOURCE_PATTERN = lazy.regex(r'source_file="(?P<file>[^"\n]{1,300})" source_line=(?P<line>\d{1,7})')
Frame = tuple[int, str, int]  # index of its line, file, line number
TAG_PATTERN = lazy.regex(r"\[rank\d{1,6}\]")  # before each line of one rank's traceback


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


def tracebacks_near(lines: Sequence[str], at: int) -> list[list[Frame]]:
    """The tracebacks linked with line `at`, that which holds or adjoins it first, then those behind it, then those before it."""
    begin = max(0, at - MAX_TRACEBACK_LINES)
    tag = TAG_PATTERN.match(lines[at])
    frames = [f for i in range(begin, min(len(lines), at + MAX_TRACEBACK_LINES)) if (f := _frame(lines, i, tag and tag[0]))]
    if not frames:
        return []
    groups = [[frames[0]]]
    for before, frame in pairwise(frames):
        if any(_begins(lines[i]) for i in range(before[0] + 1, frame[0])) or frame[0] - before[0] > MAX_GAP:
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


def _of_long_message(groups: Sequence[list[Frame]], lines: Sequence[str], at: int) -> list[list[Frame]]:
    """The last traceback above line `at`, if all lines between are its message, such as the source text of a kernel."""
    above = [g for g in groups if g[-1][0] < at]
    between = lines[above[-1][-1][0] + 1 : at] if above else []
    return above[-1:] if not any(LOGGED_PATTERN.search(text) for text in between) else []


def _distance(group: Sequence[Frame], at: int) -> int:
    """Lines between a traceback and line `at`; a message below it is nearer than one above it, as it is printed last."""
    return 0 if group[0][0] <= at <= group[-1][0] else at - group[-1][0] if group[-1][0] < at else group[0][0] - at + 1


def _begins(text: str) -> bool:
    return "Traceback (most recent call last)" in text or FORWARD_CALL in text


def _frame(lines: Sequence[str], i: int, tag: str | None) -> Frame | None:
    text = lines[i]
    if tag and tag not in text:
        return None
    if found := next(filter(None, (p.search(text) for p in FRAME_PATTERNS)), None):
        groups = found.groupdict()
        return i, str(groups.get("file") or f"Cell {groups['cell']}"), int(found["line"])
    if found := OLD_FRAME_PATTERN.match(text):
        arrow = next(filter(None, (ARROW_LINE_PATTERN.match(t) for t in lines[i + 1 : i + 1 + ARROW_LINES])), None)
        file = f"Cell In[{found['number']}]" if found["number"] else str(found["file"])
        return (i, "Cell" if CELL_FILE_PATTERN.search(file) else file, int(arrow["line"])) if arrow else None
    return None


def _foreign(file: str) -> bool:
    library = is_library_file(file) or COMPILED_PATTERN.search(file) or START_SCRIPT_PATTERN.search(file)
    return library is not None


def _no_place(file: str) -> bool:
    return any(p.search(file) for p in (COMPILED_PATTERN, RUNNER_PATTERN, START_SCRIPT_PATTERN))


def _of_xla(lines: Sequence[str]) -> dict[str, Value]:
    found = (m for text in lines for m in XLA_SOURCE_PATTERN.finditer(text))
    first = next(found, None)
    return {"file": first["file"], "line_no": int(first["line"])} if first else {}

"""A frame of a Python stack, in each form in which a line tells one. Everybody who reads frames asks here.

  File "/home/u/train.py", line 12, in main              a traceback's
  File "/home/u/train.py", line 12 in main               faulthandler's: innermost first
  File "/home/u/train.py", line 12                       of a SyntaxError, and of a traceback that was cut
    main (train.py:12)                                   py-spy's
File /home/u/train.py:12, in main(x)                     IPython's
Cell In[3], line 12, in main(x)                          of a notebook's cell
<ipython-input-3-adef1f> in main(x)                      IPython's before 8; an arrow in the code below marks the line
~/seg/unet.py in forward(self, x)                        the same, of a file
[~/seg/unet.py](https://localhost/) in forward(self, x)  Colab's
/home/u/a.ipynb Cell 3 line 1                            Visual Studio Code's
│ /home/u/train.py:12 in main                            Rich's

The frames of stacks around a line, of whatever program: Python, IPython, the kernel, glibc and torch.

Names of files that stand for the cell of a notebook.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from forensics.core import lazy
from forensics.data_files.named_parts import patterns_of

Form = Literal["traceback", "dump", "place", "spy", "ipython", "cell", "old", "editor", "rich"]
FILE_AND_LINE = r'File "(?P<file>[^"\n]+)", line (?P<line_no>\d{1,18})'
FILE_FRAME = lazy.regex(rf"{FILE_AND_LINE}(?:(?P<comma>,)? in (?P<function>\S.*))?")
PATTERNS = patterns_of("frames")
NOTEBOOK_FRAME = lazy.regex(
    r"(?:File (?P<file>\S+?):(?P<line_no>\d{1,18}), in (?P<function>[\w.<>]+)|"
    r"(?P<cell>(?:Cell|Input) In\s?\[\d+\]|<ipython-input-[\w-]+>)(?:, line (?P<cell_line>\d{1,18}))?"
    r"(?:,? in (?:<cell line: \d+>|(?P<cell_function>[\w.<>]+)))?)"
)
COLAB_CELL = lazy.regex(r"/ipython-input-\S*\.py\Z")  # it has no number of the cell
BOX = "│"  # before and behind each row of a traceback of Rich
FRAME_MARKS = (".py", "File ", "Cell", "Input In", "ipython-input", BOX)  # one stands in each line that is a frame
MARKS_PATTERN = lazy.regex(r"\s*[~^]+\s*")  # marks below the call that CPython prints since 3.11
FRAME_CODE_ROWS = 12  # rows of code that IPython prints with a frame: five, and more for a statement of several lines


class Frame(Struct, frozen=True):
    """`head`: what stands before it in its line. `file`: of a cell `Cell In[3]`. `line`: None where it is not told. `function`:
    empty where it is not told. `form`: how it is printed."""

    head: str
    file: str
    line: int | None
    function: str
    form: Form


def may_be_frame(text: str) -> bool:
    """Can the line be a frame of any form? It only saves time: few lines are."""
    return any(map(text.__contains__, FRAME_MARKS))


def file_frame(text: str) -> Frame | None:
    """The frame that CPython itself prints, in a traceback or a dump; None for any other line."""
    found = FILE_FRAME.search(text)
    if found is None:
        return None
    function = (found["function"] or "").strip(" │")
    form: Form = "place" if not function else "traceback" if found["comma"] else "dump"
    return Frame(text[: found.start()], _cell_or_file(found["file"]), int(found["line_no"]), function, form)


def _cell_or_file(file: str) -> str:
    """Old names of cells as new ones: `<ipython-input-3-adef1f>`, `Input In [3]` -> `Cell In[3]`."""
    cell = PATTERNS.old_cell.match(file)
    return f"Cell In[{cell['number'] or cell['input']}]" if cell else file


def is_bare_frame(text: str) -> bool:
    """Is the line nothing but a frame of Python's? It tells nothing without its exception."""
    frame = file_frame(text)
    return frame is not None and not frame.head.strip()


def dump_frame(text: str) -> Frame | None:
    """The frame of a dump of faulthandler; None for any other line, also for a traceback's."""
    frame = file_frame(text)
    return frame if frame and frame.form == "dump" else None


def spy_frame(text: str) -> Frame | None:
    """The frame of a dump of py-spy; None for any other line."""
    found = PATTERNS.spy_frame.match(text)
    return Frame("", found["file"], int(found["line_no"]), found["function"], "spy") if found else None


def frame_of(text: str, below: Sequence[str] = ()) -> Frame | None:
    """The frame of a traceback, also of IPython's; None if the line is none. `below`: the lines behind it, with its code."""
    return file_frame(text) or _notebook_frame(text, below) or _old_frame(text, below) or _editor_frame(text, below)


def _notebook_frame(text: str, below: Sequence[str]) -> Frame | None:
    found = NOTEBOOK_FRAME.search(text)
    if found is None:
        return None
    file, function = found["file"] or found["cell"], found["function"] or found["cell_function"] or ""
    name = _cell_or_file(file)
    line = found["line_no"] or found["cell_line"] or (marked_line(below) if name != file or found["file"] else None)
    return Frame(text[: found.start()], name, _number(line), function, "ipython" if found["file"] else "cell")


def _old_frame(text: str, below: Sequence[str]) -> Frame | None:
    found = PATTERNS.old_frame.search(text)
    return Frame("", found["file"], _number(marked_line(below)), found["function"], "old") if found else None


def _editor_frame(text: str, below: Sequence[str]) -> Frame | None:
    found = PATTERNS.editor_frame.search(text)  # its heading may have the first digit only
    return Frame("", found["file"], _number(marked_line(below) or found["line_no"]), "", "editor") if found else None


def syntax_place(text: str) -> Frame | None:
    """The place that stands above the code of a SyntaxError; None for any other line."""
    found = PATTERNS.syntax_place.match(text)
    if found is None:
        return None
    file = _cell_or_file(found["file"] or found["cell"] or "").replace("Input In", "Cell In")
    name = f"Cell In[{found['number']}]" if found["number"] else file
    return Frame("", name, _number(found["line_no"] or found["line"]), "", "place")


def colab_frame(text: str, below: Sequence[str]) -> Frame | None:
    """The frame of a traceback of Colab; None for any other line, and where no arrow marks its line."""
    found, line = PATTERNS.colab_frame.match(text), marked_line(below)
    if found is None or line is None:
        return None
    return Frame("", "Cell" if COLAB_CELL.search(found["file"]) else found["file"], int(line), "", "old")


def rich_frame(text: str, below: Sequence[str] = ()) -> Frame | None:
    """The frame of a traceback of Rich; None for any other line. `below`: the next lines, which may hold the rest of a path.
    `[rank0]: │ /home/u/src/run_bench │` above `[rank0]: │ .py:290 in run │`: run_bench.py, line 290"""
    text = text[max(0, text.find(BOX)) :]
    found = PATTERNS.rich_frame.match(text)
    if found is None and below and BOX in below[0] and (path := PATTERNS.rich_path.match(text)):
        found = PATTERNS.rich_frame.match(path["begin"] + below[0].partition(BOX)[2].lstrip())
    return Frame("", found["file"], int(found["line_no"]), "", "rich") if found else None


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def marked_line(below: Sequence[str]) -> str | None:
    """The line number that an arrow marks in the code that IPython prints below a frame. The code ends at a blank line."""
    for text in below[:FRAME_CODE_ROWS]:
        if not text.strip():
            return None
        if found := PATTERNS.arrow.match(text):
            return found["line_no"]
    return None


MAX_LINES_BEFORE, MAX_LINES_AFTER = 200, 60  # of a message: a traceback stands above it, a stack of the kernel below
NATIVE_FRAME = lazy.regex(r"\bin \w+\(|^-+> ?\d+ |\+0x[0-9a-f]+/0x|\([^\s(]*\+0x[0-9a-f]+\)|^\s*frame #\d+: |#\d+ +0x")


def frames_near(lines: Sequence[str], at: int) -> list[str]:
    """The frames of stacks and tracebacks around line `at`, each with the line of code below it."""
    first, last = max(0, at - MAX_LINES_BEFORE), min(len(lines), at + MAX_LINES_AFTER)
    frames = [i for i in range(first, last) if file_frame(lines[i]) or NATIVE_FRAME.search(lines[i])]
    shown = sorted({n for i in frames for n in (i, i + 1) if n < last})
    return [lines[n] for n in shown]


def cell_number(file: str) -> str:
    """The execution count in the name of a file of a traceback, `Cell In[12]`; empty for any other file."""
    found = PATTERNS.cell.fullmatch(file)
    return str(found["number"]) if found else ""

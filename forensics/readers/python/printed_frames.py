"""The frames of stacks around a line, of whatever program: Python, IPython, the kernel, glibc and torch."""

from collections.abc import Sequence

from msgspec import Struct

from forensics.core import lazy

MAX_LINES_BEFORE, MAX_LINES_AFTER = 200, 60  # of a message: a traceback stands above it, a stack of the kernel below
FRAME_LINE_PATTERN = lazy.regex(
    r'File "[^"]+", line \d+|\bin \w+\(|^-+> ?\d+ |\+0x[0-9a-f]+/0x|\(\S*\+0x[0-9a-f]+\)|^\s*frame #\d+: |#\d+ +0x'
)
BARE_FRAME_PATTERN = lazy.regex(r'\s*File "[^"]+", line \d+')
PYTHON_FRAME_PATTERN = lazy.regex(r'(?P<head>.*?)File "(?P<file>[^"]+)", line (?P<line_no>\d+)')


class PythonFrame(Struct, frozen=True):
    """A frame of a traceback in one line. `head`: what stands before it, a prefix and the indentation."""

    head: str
    file: str
    line_no: str


def python_frame(text: str) -> PythonFrame | None:
    """The frame that the line prints; None for any other line."""
    found = PYTHON_FRAME_PATTERN.match(text)
    return PythonFrame(found["head"], found["file"], found["line_no"]) if found else None


def is_bare_frame(text: str) -> bool:
    """Is it a frame of Python's? It tells nothing without its exception."""
    return BARE_FRAME_PATTERN.match(text) is not None


def frames_near(lines: Sequence[str], at: int) -> list[str]:
    """The frames of stacks and tracebacks around line `at`, each with the line of code below it."""
    first, last = max(0, at - MAX_LINES_BEFORE), min(len(lines), at + MAX_LINES_AFTER)
    frames = [i for i in range(first, last) if FRAME_LINE_PATTERN.search(lines[i])]
    shown = sorted({n for i in frames for n in (i, i + 1) if n < last})
    return [lines[n] for n in shown]

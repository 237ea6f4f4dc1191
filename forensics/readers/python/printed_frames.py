"""The frames of stacks around a line, of whatever program: Python, IPython, the kernel, glibc and torch."""

from collections.abc import Sequence

from forensics.core import lazy
from forensics.readers.python.frames import file_frame

MAX_LINES_BEFORE, MAX_LINES_AFTER = 200, 60  # of a message: a traceback stands above it, a stack of the kernel below
NATIVE_FRAME = lazy.regex(r"\bin \w+\(|^-+> ?\d+ |\+0x[0-9a-f]+/0x|\(\S*\+0x[0-9a-f]+\)|^\s*frame #\d+: |#\d+ +0x")


def frames_near(lines: Sequence[str], at: int) -> list[str]:
    """The frames of stacks and tracebacks around line `at`, each with the line of code below it."""
    first, last = max(0, at - MAX_LINES_BEFORE), min(len(lines), at + MAX_LINES_AFTER)
    frames = [i for i in range(first, last) if file_frame(lines[i]) or NATIVE_FRAME.search(lines[i])]
    shown = sorted({n for i in frames for n in (i, i + 1) if n < last})
    return [lines[n] for n in shown]

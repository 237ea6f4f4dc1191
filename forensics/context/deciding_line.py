"""The line that decided among the lines around it: five on each side, and the whole traceback that it ends.

Traceback (most recent call last):                    shown
  File "/home/u/train.py", line 40, in <module>       shown, with its code
  File "/opt/venv/lib/.../torch/module.py", line 7    a library's, with its code: a page folds it
RuntimeError: shapes cannot be multiplied             the line that decided
"""

from collections.abc import Sequence

from forensics.context.kept_lines import adjoining_lines
from forensics.model import Line, Proof, QuotedLine, Scan
from forensics.readers.python.exception_message import TRACEBACK_HEAD
from forensics.readers.python.frames import Frame, frame_of
from forensics.readers.python.library_files import is_others_code

LINES_ON_EACH_SIDE = 5  # chosen by hand: a paragraph of a log, which is read at one glance
MAX_SHOWN_TRACEBACK_LINES = 100  # chosen by hand: forty frames; a deeper one mostly repeats itself
MAX_AROUND_CHARS = 16_000  # chosen by hand: a tenth of the largest page; longer lines are shown with their neighbours only
MAX_ROWS_BELOW_FRAME = 15  # of the last frame: the rows of code that IPython shows, and a message of several lines


def lines_around(scans: Sequence[Scan], proof: Proof) -> tuple[QuotedLine, ...]:
    """The lines to show around `proof`, which is one of them; empty if the scan did not keep it."""
    lines, at = adjoining_lines(scans, proof, MAX_SHOWN_TRACEBACK_LINES, LINES_ON_EACH_SIDE)
    head = _head_above(lines, at)
    near = max(0, at - LINES_ON_EACH_SIDE)
    first = near if head is None else min(head, near)
    if sum(len(x.text) for x in lines[first:]) > MAX_AROUND_CHARS:
        first, lines = max(0, at - 1), lines[: at + 2]
    folded = _of_libraries(lines, head, at) if head is not None and head >= first else set()
    return tuple(QuotedLine(x.number, x.text, i in folded) for i, x in enumerate(lines) if i >= first)


def _head_above(lines: Sequence[Line], at: int) -> int | None:
    """The head of the traceback that ends at `at`; None if none does."""
    head = next((i for i in range(at - 1, -1, -1) if TRACEBACK_HEAD in lines[i].text), None)
    if head is None or not any(frame_of(x.text) for x in lines[max(head + 1, at - MAX_ROWS_BELOW_FRAME) : at]):
        return None
    return head


def _of_libraries(lines: Sequence[Line], head: int, at: int) -> set[int]:
    """The lines from `head` to `at` that are frames of libraries, with the code below each."""
    found: set[int] = set()
    frame: Frame | None = None
    for i in range(head + 1, at):
        text = lines[i].text
        own = frame_of(text, [x.text for x in lines[i + 1 : at]])
        frame = own or (frame if frame and _is_code_of(frame, lines[i - 1].text, text) else None)
        if frame and is_others_code(frame.file):
            found.add(i)
    return found


def _is_code_of(frame: Frame, above: str, text: str) -> bool:
    """Does a line show code of the frame above it? It is indented deeper, and in IPython's form an empty line ends it."""
    if frame.form not in ("traceback", "place", "dump"):
        return bool(above.strip())
    lead = frame.head.rstrip()
    own = text.removeprefix(lead)
    return text.startswith(lead) and len(own) - len(own.lstrip()) > len(frame.head) - len(lead)

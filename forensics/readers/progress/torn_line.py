"""Is the last line of a log torn: the beginning of a line as the program wrote others, without its end?

    sample processed in 506.13s / sample processed in 246.83s / sample processed in 2       -> torn
    ...| 647/2106 [01:05<02:27,  9.86it/s] / ...| 648/2106 [01:05<02:31,  9.64it/s] / ...|  -> torn
    Done                                                                                    -> not torn

What a kill or a full disk interrupts in the middle of a buffer ends so. A whole last line without a line end is nothing unusual.
"""

from forensics.core import lazy
from forensics.core.text import decode_line
from forensics.model import Scan
from forensics.readers.sampled_lines import sampled_blocks

MAX_LIKE_LINES = 200  # from the end, in which the whole lines are looked for
MIN_LIKE_LINES = 3  # that begin as the torn one does
MAX_FRAME_BYTES = 2000  # bounds time
MIN_TORN_CHARS = 4  # a few signs at a line's beginning are those of many kinds of lines
DIGIT_RUNS_PATTERN = lazy.regex(r"\d+(?:\.\d*)?")
BAR_PATTERN = lazy.regex("[ #=>.\u2580-\u258f\u2501\u257a]+")  # what a bar is drawn with


def is_torn(scan: Scan) -> bool:
    """Is the last line of the source the beginning of several like lines before it, and nowhere a whole line?"""
    if not scan.sample or scan.sample[-1][1].endswith(b"\n"):
        return False
    rows = sampled_blocks(scan)[-1].rows[-MAX_LIKE_LINES:]
    frames = [frame for row in rows for frame in row.rstrip(b"\r").split(b"\r")][-MAX_LIKE_LINES:]
    kinds = [_kind(frame) for frame in frames if frame.strip()]
    last = kinds.pop() if kinds else ""
    if len(last) < MIN_TORN_CHARS or last in kinds:
        return False
    return sum(kind.startswith(last) for kind in kinds) >= MIN_LIKE_LINES


def _kind(frame: bytes) -> str:
    """What all lines of one statement have in common: numbers are zeros, and how far a bar is drawn is left out."""
    text = decode_line(frame[:MAX_FRAME_BYTES]).rstrip("\ufffd")  # of a character that is torn itself
    return BAR_PATTERN.sub(" ", DIGIT_RUNS_PATTERN.sub("0", text))

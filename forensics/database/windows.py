"""The parts of a long text in which a pattern is searched for: around the places of the texts of which each match holds one.

"aaaa... NVRM: Xid ... aaaa"   ->   600 characters before NVRM: and 1,000 behind it; the rest is not looked at

Many patterns cost the square of the text they search. A text of ordinary length is searched as a whole.
"""

from collections.abc import Iterator, Sequence

from forensics.core import lazy

WHOLE_CHARS = 2048  # chosen by hand: hardly a line of a log is longer, and so much costs little
BEFORE_CHARS = 600  # of an anchor: what a message has before one of its plain texts is shorter
BEHIND_CHARS = 1000  # the longest gap between two texts of a message has 320 characters, and few have three of them
START_CHARS = 200  # of a line: time, host, program, level
MAX_PLACES = 4  # at each end of the text: of a message that is repeated in one line, the first and the last ones tell


FROM_START = lazy.regex(r"(?:\(\?[a-z]+\))?(?:\^|\\A)")


def windows(folded: str, anchors: Sequence[str], pattern: str) -> list[tuple[int, int]]:
    """The parts of `folded`, in order and apart from each other, that hold one of `anchors` with what is around it.

    A `pattern` of the start of a line is tried from there alone, which costs little.
    """
    made: list[tuple[int, int]] = []
    for place in sorted({p for anchor in anchors for p in _places(folded, anchor)}):
        start, end = max(0, place - BEFORE_CHARS), min(len(folded), place + BEHIND_CHARS)
        if made and start <= made[-1][1]:
            made[-1] = made[-1][0], end
        else:
            made.append((start, end))
    return [(0, made[-1][1])] if made and FROM_START.match(pattern) else made


def around(text: str, start: int, end: int) -> str:
    """What is around text[start:end], with the start of `text`, where the prompt of a shell or a level would stand."""
    left = max(0, start - BEFORE_CHARS)
    return text[: min(left, START_CHARS)] + text[left : end + BEHIND_CHARS]


def _places(folded: str, anchor: str) -> Iterator[int]:
    at = -1
    for _ in range(MAX_PLACES):
        at = folded.find(anchor, at + 1)
        if at < 0:
            return
        yield at
    at = len(folded)
    for _ in range(MAX_PLACES):
        at = folded.rfind(anchor, 0, at + len(anchor) - 1)
        if at < 0:
            return
        yield at

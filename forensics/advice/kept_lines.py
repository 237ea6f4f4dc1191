"""The lines around a line of evidence, as far as the scan kept them: both ends of a source, and the lines around each match.

Proof("train.log", 8, "...DataLossError: corrupted record") -> the texts around it, and where it stands in them

The line that decided among the lines around it: five on each side, and the whole traceback that it ends.

Traceback (most recent call last):                    shown
  File "/home/u/train.py", line 40, in <module>       shown, with its code
  File "/opt/venv/lib/.../torch/module.py", line 7    a library's, with its code: a page folds it
RuntimeError: shapes cannot be multiplied             the line that decided
"""

from collections.abc import Sequence
from itertools import chain

from forensics.core.text import last_frames
from forensics.model import NO_LINES, Around, Line, LinesAround, Proof, QuotedLine, Scan, Warning
from forensics.readers.python.frames import Frame, frame_of
from forensics.readers.python.library_files import is_others_code
from forensics.readers.python.quoted_source import TRACEBACK_HEAD

MAX_LINES = 450  # on each side of it: a traceback and the exceptions of its chain, or what one command printed
MAX_BYTES_READ_AGAIN = 16 << 20  # chosen by hand: read in about a tenth of a second
MAX_LINES_ABOVE, MAX_LINES_BELOW = 5000, 3000  # for the time of a line: the last stamp may be that of the program's start


def lines_around(scans: Sequence[Scan]) -> LinesAround:
    """What gives the lines around a Proof, empty texts for those that were not kept; nothing if it was not kept itself."""
    by_name = {scan.source.name: scan for scan in scans}

    def around(proof: Proof) -> Around:
        scan = by_name.get(proof.source)
        if scan is None:
            return NO_LINES
        return _around(scan, _kept_near(scan, proof, MAX_LINES, MAX_LINES), proof, MAX_LINES, MAX_LINES)

    return around


def all_lines(scans: Sequence[Scan], proof: Proof) -> Around:
    """All lines around `proof`, up to some thousands: of a source too long to be read again, those that were kept or sampled."""
    scan = next((s for s in scans if s.source.name == proof.source), None)
    if scan is None:
        return NO_LINES
    texts = _kept_near(scan, proof, MAX_LINES_ABOVE, MAX_LINES_BELOW)
    blocks = scan.sample
    if sum(len(block) for _, block in blocks) < scan.bytes <= MAX_BYTES_READ_AGAIN:
        blocks = ((1, b"".join(scan.source.blocks(_ignore))),)
    for first, block in blocks:
        for n, text in enumerate(last_frames(block.split(b"\n")), first):
            texts.setdefault(n, text)
    return _around(scan, texts, proof, MAX_LINES_ABOVE, MAX_LINES_BELOW)


def adjoining_lines(scans: Sequence[Scan], proof: Proof, above: int, below: int) -> tuple[list[Line], int]:
    """`proof` among the lines around it that were kept, up to the first gap, as their original counts them; and its place."""
    scan = next((s for s in scans if s.source.name == proof.source), None)
    if scan is None:
        return [], 0
    texts = _kept_near(scan, proof, above, below)
    number = _number(scan, texts, proof)
    if number is None:
        return [], 0
    first = last = number
    while first - 1 in texts and number - first < above:
        first -= 1
    while last + 1 in texts and last - number < below:
        last += 1
    return [Line(scan.source.number_of(n), texts[n]) for n in range(first, last + 1)], number - first


def _ignore(_: Warning) -> None:
    """Whoever read it first said what is wrong with it."""


def _around(scan: Scan, texts: dict[int, str], proof: Proof, above: int, below: int) -> Around:
    number = _number(scan, texts, proof)
    if number is None:
        return NO_LINES
    first = max(1, number - above)
    last = min(max(texts), number + below)
    return [texts.get(n, "") for n in range(first, last + 1)], number - first


def _kept_near(scan: Scan, proof: Proof, above: int, below: int) -> dict[int, str]:
    """Number -> text of the lines that were kept so near to `proof`, and of others, numbered as they were decoded.

    The numbers of a decoded source are not those of its proofs, so all of its lines are taken.
    """
    first, last = (0, scan.lines) if scan.source.origin else (proof.line - above, proof.line + below)
    found: dict[int, str] = {}

    def keep(lines: Sequence[Line]) -> None:
        for line in lines:
            found.setdefault(line.number, line.text)

    for region in chain((hit.region for hit in scan.hits), *scan.regions.values()):
        if region.number - region.most_before <= last and region.number + region.most_after >= first:
            keep(region.lines())
    keep((*scan.head, *scan.tail))
    return found


def _number(scan: Scan, texts: dict[int, str], proof: Proof) -> int | None:
    """The decoded number of the line of `proof`; in a decoded source several lines may have the number of one of the original."""
    if scan.source.origin is None:
        return proof.line if proof.line in texts else None
    same = [n for n in sorted(texts) if scan.source.number_of(n) == proof.line]
    return next((n for n in same if texts[n] == proof.text), same[0] if same else None)


LINES_ON_EACH_SIDE = 5  # chosen by hand: a paragraph of a log, which is read at one glance
MAX_SHOWN_TRACEBACK_LINES = 100  # chosen by hand: forty frames; a deeper one mostly repeats itself
MAX_AROUND_CHARS = 16_000  # chosen by hand: a tenth of the largest page; longer lines are shown with their neighbours only
MAX_ROWS_BELOW_FRAME = 15  # of the last frame: the rows of code that IPython shows, and a message of several lines


def quoted_around(scans: Sequence[Scan], proof: Proof) -> tuple[QuotedLine, ...]:
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

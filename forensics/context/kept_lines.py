"""The lines around a line of evidence, as far as the scan kept them: both ends of a source, and the lines around each match.

Proof("train.log", 8, "...DataLossError: corrupted record") -> the texts around it, and where it stands in them
"""

from collections.abc import Sequence
from itertools import chain

from forensics.core.text import last_frames
from forensics.model import NO_LINES, Around, Line, LinesAround, Proof, Scan, Warning

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

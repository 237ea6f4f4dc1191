"""Logs in which nothing is proven to their oddest lines: not said in the healthy part, near the end, with words of failure.

800,000 lines of `step 12 loss 0.4` and one `flurbler: partition manager lost its lease`  ->  the one, train.log:799981

The logs are read once more, and of a long one only an even sample of blocks and its end are looked at: no log is held.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from forensics.core.text import last_frame
from forensics.model import Message, Scan, Source, Warning
from forensics.templates.difference import known_in
from forensics.templates.tally import Group, Templates, rows, whole_lines

MAX_SHOWN_MESSAGES = 10
MAX_UNUSUAL_SOURCES = 200
MOST_MESSAGES = 50_000
KEPT_BLOCKS = 8  # of the sample, and half as many more while it is thinned
LAST_BLOCKS = 2
BLOCK_BYTES = 1 << 20
HEALTHY_SHARE = 0.5  # of a log: what is said in its first half belongs to a run that still went well
FEW_LINES = 30  # a log without a healthy part
RARE = 3  # times; a word of failure that stands there oftener and early did no harm
ALARM_WORD_SCORE = 2.0  # what such a word is worth, beside 1 for the very end and 1 for a message that stands there once


class _Seen(Struct):
    source: Source
    lines: int
    text: str
    first: int
    last: int
    alarming: bool
    count: int = 0

    def odd(self) -> bool:
        """May it be more than what a healthy run says, too?"""
        late = self.lines < FEW_LINES or self.first > HEALTHY_SHARE * self.lines
        return late or (self.alarming and self.count <= RARE)

    def score(self) -> float:
        return ALARM_WORD_SCORE * self.alarming + self.last / max(1, self.lines) + 1 / self.count


def unusual(scans: Sequence[Scan], is_trouble: Callable[[str], bool], baseline: Sequence[Source] = ()) -> tuple[Message, ...]:
    """The MAX_SHOWN_MESSAGES oddest messages of all sources, by source and line. `baseline`: a good run; what it says is not
    unusual.

    `is_trouble`: does a text hold a word of failure?
    """
    templates = Templates()
    known, _ = known_in(baseline, templates, _silent)
    seen: dict[str, _Seen] = {}
    for scan in scans[:MAX_UNUSUAL_SOURCES]:
        for start, block in _sample(scan):
            for group in templates.groups(rows(block)):
                if hash(group.template) not in known:
                    _add(seen, group, scan, start, is_trouble)
    found = [s for s in seen.values() if baseline or s.odd()]
    found.sort(key=lambda s: (-s.score(), s.source.name, s.first))
    order = {scan.source.name: i for i, scan in enumerate(scans)}
    return tuple(_message(s) for s in sorted(found[:MAX_SHOWN_MESSAGES], key=lambda s: (order[s.source.name], s.first)))


def _silent(_: Warning) -> None:
    """What is said about a source was said when it was first read."""


def _add(seen: dict[str, _Seen], group: Group, scan: Scan, start: int, is_trouble: Callable[[str], bool]) -> None:
    first, last = start + group.first, start + group.last
    found = seen.get(group.template)
    if found is None:
        if len(seen) >= MOST_MESSAGES:
            return
        text = last_frame(group.text)
        found = seen[group.template] = _Seen(scan.source, scan.lines, text, first, last, is_trouble(text))
    found.count += group.count
    if found.source is scan.source:
        found.last = max(found.last, last)


def _sample(scan: Scan) -> Iterator[tuple[int, bytes]]:
    """An even sample of the blocks of a source and its last ones, each with the number of its first line.

    Of a member of an archive, which would be unpacked again, the ends that the scan kept, and of what can be read only once.
    """
    if "!" in scan.source.name:
        yield from _ends(scan, 1)
        return
    kept: list[tuple[int, bytes]] = []
    last: deque[tuple[int, bytes]] = deque(maxlen=LAST_BLOCKS)
    number, stride = 1, 1
    for i, block in enumerate(_blocks(scan.source)):
        if i % stride == 0:
            kept.append((number, block))
            if len(kept) > KEPT_BLOCKS:
                del kept[1::2]
                stride *= 2
        last.append((number, block))
        number += block.count(b"\n") + (not block.endswith(b"\n"))
    read = {start for start, _ in kept}
    yield from kept
    yield from ((start, block) for start, block in last if start not in read)
    yield from _ends(scan, number)


def _ends(scan: Scan, number: int) -> Iterator[tuple[int, bytes]]:
    """The first and last lines that the scan kept, from line `number` on."""
    for lines in (scan.head, scan.tail):
        fresh = [line for line in lines if line.number >= number]
        if fresh:
            number = fresh[-1].number + 1
            yield fresh[0].number, "\n".join(line.text for line in fresh).encode("utf-8", "replace")


def _blocks(source: Source) -> Iterator[bytes]:
    """Whole lines, BLOCK_BYTES or a little more together, so that few blocks are a fair sample of many files' worth."""
    parts: list[bytes] = []
    size = 0
    for block in whole_lines(source.blocks(_silent)):
        parts.append(block)
        size += len(block)
        if size >= BLOCK_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def _message(seen: _Seen) -> Message:
    origin, name = seen.source.origin or int, seen.source.name
    return Message(name, origin(seen.first), name, origin(seen.last), seen.count, seen.text, seen.alarming)

"""Chooses the pieces of anchors that Hyperscan looks for, and writes them to forensics/database/pieces.json.

    python -m scripts.pieces LOGS...

LOGS: folders of logs of any kind, the more and the more different the better; the lines on which an anchor stands are left out.

What is known of Hyperscan's filter (FDR; src/fdr/fdr_compile.cpp, fdr_engine_description.cpp): it sees the last 8 bytes of a
literal, sorts the literals by these bytes from behind and deals them out to 8 buckets. A bucket raises an alarm at a byte if, at
each of the 8 places before it, one of the bucket's literals has this byte, without case, followed by a byte with the same five
low bits. An alarm costs some 8 ns, a call of Python 30 times as much; passing a byte without alarm, 0.6 ns. So the fewer and
the rarer the pairs of bytes that a bucket knows at a place, the better.
"""

import argparse
import bisect
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensics import pipeline
from forensics.database.compiled import LITERAL_PIECE_BYTES, PIECES, compile_literals

BUCKETS = 8
PAIRS = 1 << 13  # what the filter tells apart: a byte and five bits of the next one
HIT_COST = 30.0  # of a call of Python, in alarms
NEAR = 0.15  # weight of a byte that two places keep from an alarm, against one that a single place does
PART_BYTES = 4000
FILE_PARTS = 12  # at most, of one file
TEXT_BYTES = 3_000_000
FILE_BYTES = 2_000_000
SWEEPS = 6

Bytes = NDArray[np.uint8]
Pairs = NDArray[np.int32]


def folded(text: bytes) -> Bytes:
    """`text` as the filter sees it: capital letters only."""
    return np.frombuffer(text.upper(), np.uint8)


def pairs(text: bytes) -> Pairs:
    """Of each byte of `text`: the byte without case, and above it the low five bits of the next one."""
    following = np.zeros(len(text), np.int32)
    following[:-1] = np.frombuffer(text, np.uint8)[1:] & 31
    return folded(text) | (following << 8)


class Window:
    """A possible end of a literal: `end`, bytes of the anchor; `key`, its last 8 bytes from behind; `pairs` at its 8 places."""

    def __init__(self, anchor: bytes, end: int, hits: int) -> None:
        piece = anchor[end - LITERAL_PIECE_BYTES : end]
        self.piece = piece
        self.key = piece.upper()[::-1]
        known = pairs(piece)[::-1]
        self.pairs = [int(known[0]) & 255, *map(int, known[1:])]
        self.cost = HIT_COST * hits


class Choice:
    """The window chosen for each anchor, and what the buckets know by it."""

    def __init__(self, windows: Sequence[Sequence[Window]], text: bytes) -> None:
        self.windows = windows
        plain, last = pairs(text), folded(text).astype(np.int32)
        size = len(text)
        self.places = [last[7:]] + [plain[7 - p : size - p] for p in range(1, LITERAL_PIECE_BYTES)]
        common = np.log(np.bincount(plain, minlength=PAIRS) + 1.0)
        self.chosen = [min(w, key=lambda v: v.cost + sum(common[s] for s in v.pairs[1:])) for w in windows]
        self.floor = 1e-4 * np.bincount(plain, minlength=PAIRS)

    def sweep(self, order: random.Random) -> tuple[float, float]:
        """Choose anew for each anchor, given all others; (alarms a byte, calls) before it."""
        keys = sorted({w.key for w in self.chosen})
        bounds = [keys[b * len(keys) // BUCKETS] for b in range(1, BUCKETS)]
        known = np.zeros((BUCKETS, LITERAL_PIECE_BYTES, PAIRS), np.int32)
        for window in self.chosen:
            _add(known, bisect.bisect(bounds, window.key), window, 1)
        alarms, prices = self._prices(known)
        calls = sum(w.cost for w in self.chosen) / HIT_COST
        for i in order.sample(range(len(self.windows)), len(self.windows)):
            _add(known, bisect.bisect(bounds, self.chosen[i].key), self.chosen[i], -1)
            priced: list[tuple[float, int, Window]] = []
            for window in self.windows[i]:
                b = bisect.bisect(bounds, window.key)
                new = sum(prices[b, p, s] for p, s in enumerate(window.pairs) if not known[b, p, s])
                priced.append((window.cost + new, len(priced), window))
            self.chosen[i] = min(priced)[2]
            _add(known, bisect.bisect(bounds, self.chosen[i].key), self.chosen[i], 1)
        return alarms / len(self.places[0]), calls

    def _prices(self, known: Pairs) -> tuple[int, NDArray[np.float64]]:
        """Alarms in the text, and how many more a pair at a place would raise were it known there, or fewer were it not."""
        alarms, prices = 0, np.zeros(known.shape)
        for b in range(BUCKETS):
            passed = [(known[b, p] > 0)[at] for p, at in enumerate(self.places)]
            total = np.sum(passed, axis=0, dtype=np.int8)
            alarms += int(np.count_nonzero(total == LITERAL_PIECE_BYTES))
            for p, at in enumerate(self.places):
                one = (total == LITERAL_PIECE_BYTES) | ((total == LITERAL_PIECE_BYTES - 1) & ~passed[p])
                two = (total == LITERAL_PIECE_BYTES - 2) & ~passed[p]
                prices[b, p] = np.bincount(at[one], minlength=PAIRS) + NEAR * np.bincount(at[two], minlength=PAIRS) + self.floor
        return alarms, prices


def _add(known: Pairs, bucket: int, window: Window, count: int) -> None:
    for place, pair in enumerate(window.pairs):
        known[bucket, place, pair] += count


def ends(anchor: bytes) -> Iterable[int]:
    """Where a literal may end: behind 8 bytes that begin and end with a whole character, or where the anchor does."""
    inside = [b & 0xC0 == 0x80 for b in anchor] + [False]
    return (
        e
        for e in range(LITERAL_PIECE_BYTES, len(anchor) + 1)
        if e == len(anchor) or not (inside[e] or inside[e - LITERAL_PIECE_BYTES])
    )


def counted(anchors: Sequence[bytes], text: bytes) -> list[list[Window]]:
    """The windows of each anchor with how often their 8 bytes occur in `text`."""
    upper = text.upper()
    eight = np.zeros(len(text) - LITERAL_PIECE_BYTES + 1, np.uint64)
    for i in range(LITERAL_PIECE_BYTES):
        eight = (eight << np.uint64(8)) | np.frombuffer(upper, np.uint8)[i : i + len(eight)]
    there, counts = np.unique(eight, return_counts=True)
    often = dict(zip(there.tolist(), counts.tolist(), strict=True))
    return [
        [Window(a, e, often.get(int.from_bytes(a[e - LITERAL_PIECE_BYTES : e].upper(), "big"), 0)) for e in ends(a)]
        for a in anchors
    ]


def sample(folders: Sequence[Path], anchors: Sequence[str], draw: random.Random) -> bytes:
    """About TEXT_BYTES of the files in `folders`, without the lines on which an anchor stands; of no file more than its share."""
    matcher = compile_literals([a.encode() for a in anchors])
    parts = [part for _, part in excerpts(folders, draw, lambda text: _without_hits(text, matcher))]
    draw.shuffle(parts)
    return b"\n".join(parts)[:TEXT_BYTES]


def excerpts(
    folders: Sequence[Path], draw: random.Random, kept: Callable[[bytes], bytes] = lambda text: text
) -> Iterator[tuple[Path, bytes]]:
    """Pieces of the files in `folders`, each with its file's path; of no file more than its share. `kept`: what is looked at."""
    for path in sorted(p for folder in folders for p in folder.rglob("*") if p.is_file()):
        with path.open("rb") as file:
            text = kept(file.read(FILE_BYTES))
        starts = range(0, len(text), PART_BYTES)
        yield from ((path, text[i : i + PART_BYTES]) for i in draw.sample(starts, min(FILE_PARTS, len(starts))))


def _without_hits(text: bytes, matcher: Any) -> bytes:
    hits: set[int] = set()

    def seen(_i: int, _start: int, to: int, *_: object) -> None:
        hits.add(text.rfind(b"\n", 0, to - 1) + 1)

    matcher.scan(text, match_event_handler=seen)
    kept, start = [], 0
    for line in text.split(b"\n"):
        if start not in hits:
            kept.append(line)
        start += len(line) + 1
    return b"\n".join(kept)


def main() -> None:
    """Choose, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", nargs="+", type=Path)
    given = parser.parse_args()
    draw = random.Random(1)
    anchors = pipeline.database().anchors
    text = sample(given.logs, anchors, draw)
    long = [a.encode() for a in anchors if len(a.encode()) >= LITERAL_PIECE_BYTES]
    choice = Choice(counted(long, text), text)
    best: tuple[float, list[str]] = (float("inf"), [])
    for turn in range(SWEEPS + 1):
        before = list(choice.chosen)
        alarms, calls = choice.sweep(draw)
        price = alarms * len(text) + HIT_COST * calls
        pieces = {w.piece.decode("utf-8", "ignore") for w in before}
        print(f"{turn}: {alarms:.4f} alarms a byte, {calls:.0f} calls in {len(text):,} bytes, {len(pieces)} pieces")
        best = min(best, (price, sorted(p for p in pieces if len(p.encode()) == LITERAL_PIECE_BYTES)))
    PIECES.write_text(json.dumps(best[1], indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

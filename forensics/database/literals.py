"""The literals that Hyperscan searches for the anchors, and the check of what it reports.

"CUDA error: an illegal memory access" -> searched up to the end of a piece of 8 bytes; the rest is compared where it is found.

Hyperscan's filter recognises a literal by its last 8 bytes; false candidates make it slow. `scripts/pieces.py` determines, once
and over logs of all kinds, which 8 bytes of an anchor are best.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import hyperscan

PIECES = Path(__file__).with_name("pieces.json")
LITERAL_PIECE_BYTES = 8  # what Hyperscan's filter looks at
End = tuple[int, int]  # offset past the last byte, index of the anchor
# With a literal as short as this one, which no log holds, Hyperscan's filter looks at each byte and not at every second one. That
# costs less than the false alarms of half the evidence: 20 to 50 % faster on logs.
EACH_BYTE = b"\x01\x02"


def literal_lengths(anchors: Sequence[str]) -> tuple[int, ...]:
    """How many bytes of each anchor to search: up to the end of its last piece, or all if it has none."""
    pieces = frozenset(p.encode() for p in json.loads(PIECES.read_bytes()))
    return tuple(_cut(a.encode(), pieces) for a in anchors)


def _cut(anchor: bytes, pieces: frozenset[bytes]) -> int:
    ends = range(len(anchor), LITERAL_PIECE_BYTES - 1, -1)
    return next((end for end in ends if anchor[end - LITERAL_PIECE_BYTES : end] in pieces), len(anchor))


def compile_literals(literals: Iterable[bytes], flags: int = 0) -> Any:
    """A Hyperscan database that reports literal i as i, in any case of ASCII; `flags` of Hyperscan are added."""
    expressions = list(literals)
    matcher = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    matcher.compile(
        expressions=expressions,
        ids=list(range(len(expressions))),
        flags=[hyperscan.HS_FLAG_CASELESS | flags] * len(expressions),
        literal=True,
    )
    return matcher


def compile_anchors(anchors: Sequence[str], cuts: Sequence[int], flags: int = 0) -> Any:
    """A Hyperscan database that reports the first `cuts[i]` bytes of anchor i as i; see `whole_anchors`."""
    return compile_literals([*(a.encode()[:cut] for a, cut in zip(anchors, cuts, strict=True)), EACH_BYTE], flags)


def whole_anchors(data: bytes, reported: Iterable[End], anchors: Sequence[str], cuts: Sequence[int]) -> list[End]:
    """The reports of a database of `compile_anchors` on `data` at which the whole anchor matches, with the anchor's end."""
    places: list[End] = []
    for to, i in reported:
        if i == len(anchors):
            continue  # EACH_BYTE
        anchor = anchors[i].encode()
        end = to - cuts[i] + len(anchor)
        if end == to or data[to:end].lower() == anchor[cuts[i] :]:
            places.append((end, i))
    return places

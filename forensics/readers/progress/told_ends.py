"""Programs that always tell their end, of whose log the end is missing: it breaks off, whatever its last lines are.

LAMMPS (22 Jul 2025) / ... / 12000  0.99995194  -8.6131621     -> LAMMPS has begun and tells of no end
LAMMPS (22 Jul 2025) / ... / Total wall time: 18:07:28         -> none

With which texts each of them begins its log, ends it well and ends it otherwise is a table, signatures/tables/told_ends.csv; of
an end that is a line of its own it has `=End`. Some say the same of a good end and of a bad one: theirs is no good end.
"""

import functools

from forensics.core.text import DIGITS_TO_ZEROS
from forensics.database import read_rows
from forensics.model import Scan
from forensics.readers.sampled_lines import sampled_blocks

WHOLE_LINE = b"="


@functools.cache
def _table() -> tuple[tuple[str, bytes, tuple[bytes, ...], tuple[bytes, ...]], ...]:
    """Of each program its name, the text that it begins with, the texts of a good end, and those of any other."""
    rows = read_rows("told_ends")
    return tuple((r["program"], r["begins"].encode(), _texts(r["ends_well"]), _texts(r["ends_otherwise"])) for r in rows)


def _texts(ends: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in ends.split("|") if text)


def told_end(scan: Scan) -> tuple[str, int, bool]:
    """The last program of the table that begins in it, the line, and whether it tells of a good end.

    One that tells of no end is preferred; "", 0, False if there is none, or if it ended otherwise.
    """
    blocks = sampled_blocks(scan)
    shapes = b"\n".join(shape for block in blocks for shape in block.distinct)
    known = [row for row in _table() if row[1].translate(DIGITS_TO_ZEROS) in shapes]
    begun: dict[str, int] = {}
    ended: dict[str, int] = {}
    for block in blocks if known else ():
        for number, raw in enumerate(block.rows, block.first):
            for name, begins, well, otherwise in known:
                if begins in raw:
                    begun[name] = number
                elif name in begun and _tells(raw, well):
                    ended[name] = begun.pop(name)
                elif name in begun and _tells(raw, otherwise):
                    del begun[name]
    name, line = max((begun or ended).items(), key=lambda b: b[1], default=("", 0))
    return name, line, bool(name and not begun)


def _tells(raw: bytes, ends: tuple[bytes, ...]) -> bool:
    return any(raw.strip() == end[1:] if end.startswith(WHOLE_LINE) else end in raw for end in ends)

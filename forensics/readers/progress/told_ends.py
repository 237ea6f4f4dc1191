"""Programs that always tell their end, of whose log the end is missing: it breaks off, whatever its last lines are.

LAMMPS (22 Jul 2025) / ... / 12000  0.99995194  -8.6131621     -> LAMMPS has begun and tells of no end
LAMMPS (22 Jul 2025) / ... / Total wall time: 18:07:28         -> none

With which texts each of them begins and ends its log is a table, signatures/tables/told_ends.csv; of an end that is a line of its
own it has `=End`.
"""

import functools

from forensics.database import read_rows
from forensics.model import Scan
from forensics.readers.sampled_lines import sampled_blocks

WHOLE_LINE = b"="


@functools.cache
def _table() -> tuple[tuple[str, bytes, tuple[bytes, ...]], ...]:
    """Of each program its name, the text that it begins with, and the texts of which it ends with one."""
    rows = read_rows("told_ends")
    return tuple((r["program"], r["begins"].encode(), tuple(r["ends"].encode().split(b"|"))) for r in rows)


def told_end(scan: Scan) -> tuple[str, int, bool]:
    """The last program of the table that begins in it, the line, and whether it tells of its end.

    One that does not is preferred; "", 0, False if there is none.
    """
    known = [row for row in _table() if any(row[1] in data for _, data in scan.sample)]
    begun: dict[str, int] = {}
    ended: dict[str, int] = {}
    for block in sampled_blocks(scan) if known else ():
        for number, raw in enumerate(block.rows, block.first):
            for name, begins, ends in known:
                if begins in raw:
                    begun[name] = number
                elif name in begun and _tells(raw, ends):
                    ended[name] = begun.pop(name)
    name, line = max((begun or ended).items(), key=lambda b: b[1], default=("", 0))
    return name, line, bool(name and not begun)


def _tells(raw: bytes, ends: tuple[bytes, ...]) -> bool:
    return any(raw.strip() == end[1:] if end.startswith(WHOLE_LINE) else end in raw for end in ends)

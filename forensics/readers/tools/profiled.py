"""The line of a program that took the most memory, from a table of memory_profiler.

    Filename: train.py

    Line #    Mem usage    Increment  Occurrences   Line Contents
    =============================================================
         7     45.2 MiB     45.2 MiB           1   @profile
         9   1571.3 MiB   1526.0 MiB           1       x = np.zeros((20000, 10000))     -> train.py:9 added 1526.0 MiB

The first row has the memory before the function. Column names as memory_profiler 0.5x and 0.61 print them.
"""

from collections.abc import Iterable

from forensics.data_files.named_parts import patterns_of
from forensics.model import Habit, Region, Scan, Trigger

TRIGGER = Trigger("profile_table", ("line #    mem usage    increment",), before=4, after=400)
PATTERNS = patterns_of("profiled")
LEAST_MIB = 50.0  # less is what imports and buffers take


def largest_profiled_line(scans: Iterable[Scan]) -> Habit | None:
    """The line with the largest increment in all tables of these logs; `value` in bytes."""
    found = [
        made
        for scan in scans
        for region in scan.regions.get(TRIGGER.kind, ())
        if (made := largest_row(region, scan.source.name)) is not None
    ]
    return max(found, key=lambda r: r.value or 0.0, default=None)


def largest_row(region: Region, source: str = "") -> Habit | None:
    """The row with the largest increment after the first, if that is LEAST_MIB or more: line of the program, its text, bytes."""
    named = next((m for line in reversed(region.lines_before()) if (m := PATTERNS.profiled_file.match(line.text))), None)
    rows = []
    for line in region.lines_after():
        if found := PATTERNS.profile_row_pattern_mib.match(line.text):
            rows.append(found)
        elif rows and not line.text.strip():
            break
    most = max(rows[1:], key=lambda r: float(r[3]), default=None)
    if most is None or float(most[3]) < LEAST_MIB:
        return None
    return Habit("profiled", named[1] if named else source, int(most[1]), (most[5] or "").strip(), float(most[3]) * (1 << 20))

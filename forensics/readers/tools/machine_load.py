"""Signs that a machine, or a control group, has too little memory or too slow a disk, and that functions are traced repeatedly.

    Swap:  2.0Gi  2.0Gi  0B                 -> the swap space was full: what does not fit into memory moves at the speed of a disk
    full avg10=34.10 avg60=20.02 ...        -> all tasks waited for memory 34 % of the last ten seconds
    WARNING: 5 out of the last 5 calls ... triggered tf.function retracing

A watcher prints the same thing every second: of each thing the worst row is told, once for each source.

Wordings: free and vmstat of procps, sar -W, -S and -q MEM of sysstat, /proc/pressure and a control group's memory.pressure
(Documentation/accounting/psi.rst), TensorFlow's polymorphic_function.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from forensics.core.limits import BYTES_PER_UNIT
from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Region, Scan, Trigger

TRIGGER = Trigger("machine_load", of="machine load", after=60)
PATTERNS = patterns_of("machine load")
FULL = 0.05  # of the swap space left
MIN_STALL_PERCENT = 10.0  # of the time in which nothing at all could run for want of memory, or of input and output
SWAPPED_ROWS = 2  # one row is the average since the machine started
MIN_COUNTED_READINGS = 2  # a difference needs two
MICROSECONDS = 1e6  # the unit of `total=`
WAITED_FOR = {
    "memory": "for memory",
    "io": "for disks or the network",
    "cpu": "for a processor",
    "": "for one thing, memory or a disk; the line does not say which",
}
THRASHED = {
    True: "the control group thrashed, what it works on does not fit into the memory that it may use",
    False: "the machine thrashed, what its programs work on does not fit into memory",
}


class Sign(Struct, frozen=True):
    """A line that shows trouble, and why it is worth knowing. `size`: how bad it is, among signs of one kind."""

    line: int
    text: str
    why: str
    size: float = 0.0


def load_signs(scan: Scan) -> Iterator[Sign]:
    """The worst sign of each kind in `scan`."""
    regions = scan.regions.get(TRIGGER.kind, ())
    for read in ROW_READERS if regions else ():
        worst = max((sign for r in regions if (sign := read(r)) is not None), key=lambda s: s.size, default=None)
        if worst is not None:
            yield worst
    yield from _pressure(regions)


def _free(region: Region) -> Sign | None:
    found = PATTERNS.swap_row.search(region.text)
    if found is None:
        return None
    total, _, left = (float(found[i]) * BYTES_PER_UNIT[found[i + 1]] for i in (1, 3, 5))
    if not total or left > total * FULL:
        return None
    why = "the swap space was full: what does not fit into memory moved at the speed of a disk, and a kill is near"
    return Sign(region.number, region.text, why)


def _vmstat(region: Region) -> Sign | None:
    """The row with the most swapping, if several rows have some. The header names the columns."""
    if "---swap--" not in region.text:
        return None
    rows = region.lines_after()
    names = rows[0].text.split() if rows else []
    if not {"si", "so"} <= set(names):
        return None
    at = names.index("si"), names.index("so")
    cells = [(row, row.text.split()) for row in rows[1:]]
    busy = [
        (row, int(c[at[0]][:18]) + int(c[at[1]][:18]))
        for row, c in cells
        if len(c) >= len(names) and c[at[0]].isdigit() and c[at[1]].isdigit()
    ]
    swapping = [(row, moved) for row, moved in busy if moved]
    if len(swapping) < SWAPPED_ROWS:
        return None
    row, moved = max(swapping, key=lambda r: r[1])
    why = f"the machine swapped: {moved:,} KiB a second moved between memory and disk (columns si and so)"
    return Sign(row.number, row.text, why, moved)


def _most(region: Region, column: str) -> tuple[Line, float] | None:
    """The row below a header of sar with the largest number in `column`; columns are counted from the right, times vary."""
    names = region.text.split()
    if column not in names:
        return None
    at = names.index(column) - len(names)
    cells = [(row, row.text.split()) for row in region.lines_after()]
    readings = [(row, float(c[at])) for row, c in cells if len(c) >= -at and c[at].replace(".", "", 1).isdigit()]
    return max(readings, key=lambda r: r[1], default=None)


WAITED_AT_ONCE = "all tasks waited at once for {:.2f} % of the last ten seconds"
# A column of sar, above which value it tells trouble, and which: `sar -W`, `sar -S`, and `sar -q MEM`, a copy of /proc/pressure.
SAR_COLUMNS = (
    ("pswpin/s", 1.0, "the machine swapped: {:g} pages a second came back from disk"),
    ("%swpused", 100 * (1 - FULL), "{:g} % of the swap space was in use"),
    ("%fmem-10", MIN_STALL_PERCENT, f"{WAITED_AT_ONCE}, for memory: {THRASHED[False]}"),
)


def _of_sar(column: str, most_usual: float, why: str, region: Region) -> Sign | None:
    """The worst row of a table of sar, if it tells trouble."""
    found = _most(region, column)
    if found is None or found[1] <= most_usual:
        return None
    return Sign(found[0].number, found[0].text, why.format(found[1]), found[1])


def _retraced(region: Region) -> Sign | None:
    found = PATTERNS.retraced.search(region.text)
    if found is None:
        return None
    why = f"{found[1]} of {found[2]} calls traced their function again: each trace takes time, and its graph is kept in memory"
    return Sign(region.number, region.text, why)


ROW_READERS: tuple[Callable[[Region], Sign | None], ...] = (
    _free,
    _vmstat,
    *(partial(_of_sar, *row) for row in SAR_COLUMNS),
    _retraced,
)


class Reading(Struct, frozen=True):
    """One `full` line of a pressure file. `stalled`: microseconds since the machine or the group started, None if not printed."""

    line: int
    text: str
    percent: float
    stalled: int | None


def _pressure(regions: Sequence[Region]) -> Iterator[Sign]:
    """The worst line of each pressure file. Which file it is stands in the line (`grep .`) or in the name of the source."""
    files: dict[tuple[str, bool], list[Reading]] = {}
    for region in regions:
        if found := PATTERNS.pressure.search(region.text):
            file = PATTERNS.pressure_file.search(region.text) or PATTERNS.pressure_file.search(region.source)
            key = (file[2] or file[3], not file[1]) if file else ("", False)
            stalled = int(found[2]) if found[2] else None
            files.setdefault(key, []).append(Reading(region.number, region.text, float(found[1]), stalled))
    for (name, of_group), readings in files.items():
        worst = max(readings, key=lambda r: r.percent)
        if worst.percent >= MIN_STALL_PERCENT:
            thrashed = f": {THRASHED[of_group]}" if name == "memory" else ""
            why = f"{WAITED_AT_ONCE.format(worst.percent)}, {WAITED_FOR[name]}{thrashed}"
            yield Sign(worst.line, worst.text, why + _in_all(readings), worst.percent)


def _in_all(readings: Sequence[Reading]) -> str:
    """How long it was from the first to the last reading, by the counter that each of them prints."""
    counts = [r.stalled for r in readings if r.stalled is not None]
    if len(counts) < MIN_COUNTED_READINGS or len(counts) < len(readings) or counts != sorted(counts):
        return ""  # started anew in between, or several groups' readings
    return f"; {(counts[-1] - counts[0]) / MICROSECONDS:.1f} s of waiting from the first to the last reading"

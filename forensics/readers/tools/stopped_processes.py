"""Processes that somebody stopped and nobody let go on, as tables of ps and the logs of those who stop them show it.

  PID  PPID STAT     ELAPSED WCHAN            COMMAND
 9741  9732 Tsl        00:17 do_signal_stop   python3 -u train.py      -> pid 9741
preemptd[9770]: sent SIGSTOP to pid 9741                               -> pid 9741, unless a later line of the log sends SIGCONT

Formats: ps of procps, whichever columns are chosen, if COMMAND is the last one.
"""

from collections.abc import Iterable, Iterator

from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Region, Scan, Trigger
from forensics.model.ranks import ProofPlace

MAX_PS_ROWS = 400  # of one table
TRIGGER = Trigger("stopped_processes", of="stopped processes", after=MAX_PS_ROWS)
PATTERNS = patterns_of("stopped processes")
STOPPED_STATE = "T"
STATE_COLUMNS = ("STAT", "S", "STATE")


def stopped_processes(scans: Iterable[Scan]) -> dict[int, tuple[ProofPlace, ...]]:
    """By pid: the lines that show it."""
    found: dict[int, tuple[ProofPlace, ...]] = {}
    for scan in scans:
        for region in scan.regions.get(TRIGGER.kind, ()):
            for pid, line, is_stopped in _of(region):
                if is_stopped:
                    place = ProofPlace(scan.source.name, scan.source.number_of(line.number), line.text)
                    found[pid] = *found.get(pid, ()), place
                else:
                    found.pop(pid, None)
    return found


def _of(region: Region) -> Iterator[tuple[int, Line, bool]]:
    """The pids that a line or the rows below it tell, and whether they are stopped."""
    if PATTERNS.header.search(region.text):
        yield from _rows(region)
    elif signal := PATTERNS.signal.search(region.text):
        pids = {int(m["pid"]) for m in PATTERNS.of_pid.finditer(region.text)}
        yield from ((pid, region.line, signal["stops"] is not None) for pid in pids)


def _rows(region: Region) -> Iterator[tuple[int, Line, bool]]:
    columns = region.text.split()
    of_pid, of_state = columns.index("PID"), next(columns.index(name) for name in STATE_COLUMNS if name in columns)
    for line in region.lines_after():
        cells = line.text.split(None, len(columns) - 1)
        if len(cells) < len(columns) or not cells[of_pid].isdigit():
            return
        if cells[of_state].startswith(STOPPED_STATE):
            yield int(cells[of_pid]), line, True

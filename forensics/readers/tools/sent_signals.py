"""Signals that processes got from somebody else, as the logs of those who send them tell it, and processes that are stopped, as
tables of ps show it.

preemptd[9770]: sent SIGSTOP to pid 9741                               -> pid 9741: stopped, unless a later line sends SIGCONT
procguard[17060]: pid 16991 rss 609MiB over rule, kill -9              -> pid 16991: that line
qctl[26301]: step 4471.1 CANCELLED: SIGTERM to pid 26300               -> pid 26300: that line
  PID  PPID STAT     ELAPSED WCHAN            COMMAND
 9741  9732 Tsl        00:17 do_signal_stop   python3 -u train.py      -> pid 9741: stopped

Formats: ps of procps, whichever columns are chosen, if COMMAND is the last one.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from forensics.data_files.named_parts import patterns_of
from forensics.model import Line, Region, Scan, Trigger
from forensics.model.ranks import ProofPlace

MAX_PS_ROWS = 400  # of one table
TRIGGERS = (Trigger("sent_signals", of="sent signals"), Trigger("process_tables", of="process tables", after=MAX_PS_ROWS))
PATTERNS, TABLE_PATTERNS = patterns_of("sent signals"), patterns_of("process tables")
STOPPED_STATE = "T"
STATE_COLUMNS = ("STAT", "S", "STATE")
STOP_SIGNAL, CONTINUE_SIGNAL = "STOP", "CONT"
NAMES_OF_SIGNALS = {"9": "KILL", "15": "TERM", "18": CONTINUE_SIGNAL, "19": STOP_SIGNAL}  # by number, on most machines


class Signals(Struct, frozen=True):
    """By pid: the lines that tell of a signal that it got, and those that show that it is stopped."""

    sent: dict[int, tuple[ProofPlace, ...]]
    stopped: dict[int, tuple[ProofPlace, ...]]


def sent_signals(scans: Iterable[Scan]) -> Signals:
    """What all logs tell, in their order."""
    found = Signals({}, {})
    for scan in scans:
        for region in (region for trigger in TRIGGERS for region in scan.regions.get(trigger.kind, ())):
            for pid, name, line in _of(region):
                place = ProofPlace(scan.source.name, scan.source.number_of(line.number), line.text)
                if name == CONTINUE_SIGNAL:
                    found.stopped.pop(pid, None)
                    continue
                told = found.stopped if name == STOP_SIGNAL else found.sent
                told[pid] = *told.get(pid, ()), place
    return found


def _of(region: Region) -> Iterator[tuple[int, str, Line]]:
    """The pid, the signal and the line of what a line, or the rows below it, tell."""
    if TABLE_PATTERNS.header.search(region.text):
        yield from ((pid, STOP_SIGNAL, line) for pid, line in _stopped_rows(region))
        return
    signal, process = PATTERNS.signal.search(region.text), PATTERNS.process.search(region.text)
    if signal and process and not PATTERNS.got.search(region.text):
        name = signal["name"].upper()
        yield int(process["pid"] or process["killed"]), NAMES_OF_SIGNALS.get(name, name), region.line


def _stopped_rows(region: Region) -> Iterator[tuple[int, Line]]:
    columns = region.text.split()
    of_pid, of_state = columns.index("PID"), next(columns.index(name) for name in STATE_COLUMNS if name in columns)
    for line in region.lines_after():
        cells = line.text.split(None, len(columns) - 1)
        if len(cells) < len(columns) or not cells[of_pid].isdigit():
            return
        if cells[of_state].startswith(STOPPED_STATE):
            yield int(cells[of_pid]), line

"""Reads which rank of a captured run ended first, where nothing but its exit status tells why: it called os._exit, for one.

    ... forensics run: pid 8254 (python), child 1 of pid 8225, ended with exit status 3 after 10.6 s; it held 257.5 MiB
    ... forensics run: pid 8251 (python), child 0 of pid 8225, ended with exit status 1 after 12.3 s; it held 243.3 MiB
    -> child 1, exit status 3: the others ended after it

A rank that ended with status 0 has a line where others went on: these wait for it, or lose it. By itself it proves nothing. It
tells a rank where others lost their connection to it (forensics/ranks/ended.py).
"""

from forensics.model import Observation, Region, Trigger
from forensics.readers.base import Record, typed_fields
from forensics.readers.capture.captured_end import account_of

FIRST_END = "first_end"
TRIGGER = Trigger(FIRST_END, ("forensics run: the command, pid ",), before=160, after=0)
OUTCOMES = ()
MIN_AHEAD_S = 0.1  # chosen by hand: ends are looked for five times a second, and are told at once where the kernel allows it
KEPT_FIELDS = ("pid", "rank", "child_no", "exit_code", "signal")
SIGTERM = 15  # with which launchers end the other ranks


def read(region: Region) -> Record | None:
    """The end of the rank that ended first; None where two ended at one time, or fewer than two ended badly."""
    deaths = [d for d in account_of(region).deaths if d.moment and {"rank", "child_no"} & set(d.fields)]
    pids = {d.number("pid") for d in deaths}
    ranks = sorted((d for d in deaths if d.number("ppid") not in pids), key=lambda d: d.moment)
    if len(ranks) < 2 or ranks[1].moment - ranks[0].moment < MIN_AHEAD_S or ranks[0].number("signal") == SIGTERM:
        return None
    first = ranks[0]
    fields = {name: value for name, value in first.fields.items() if name in KEPT_FIELDS}
    return Record(FIRST_END, first.line.number, first.line.number, None, "hint", (first.line,), typed_fields(fields))


def is_well_end(event: Observation) -> bool:
    """Is it the end of a rank with exit status 0, while others went on that ended badly or are still there?"""
    return event.kind == FIRST_END and event.fields.get("exit_code") == 0

"""torchrun's failure table: the rank that it saw fail first, with exit code and signal.

    Root Cause (first observed failure):
    [0]:
      time      : 2024-05-01_12:00:00
      host      : node-1
      rank      : 1 (local_rank: 1)
      exitcode  : -9 (pid: 4711)
      error_file: <N/A>
      traceback : Signal 9 (SIGKILL) received by PID 4711

"First" means first by time only, so it is never proof. The table is printed by ChildFailedError.format_msg in
torch/distributed/elastic/multiprocessing/errors/__init__.py. The ranks that failed later are listed above, under "Failures:".
After a failure the launcher ends the other ranks with SIGTERM and, 30 s later, with SIGKILL. So a rank that SIGKILL ended well
after the first failure was killed by the launcher.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from forensics.core.text import number_ranges
from forensics.data_files.named_parts import first_parts
from forensics.database import signal_outcome
from forensics.model import Line, Region, Trigger, Value
from forensics.readers.base import Record, parse_lines

TRIGGER = Trigger("torchelastic", ("Root Cause (first observed failure)",), before=80, after=14)
ROWS = "torchelastic rows"  # the group of patterns
GRACE = timedelta(seconds=15)  # SIGKILL comes 30 s after SIGTERM; ranks that fail for one reason do so within seconds
PROGRAM_FAILED = "failed"
TABLE_HEAD = "Failures:"
STAMP_FORMAT = "%Y-%m-%d_%H:%M:%S"
NUMBER_ROWS = ("rank", "local_rank", "exit_code", "pid", "signal")
DEATH_SIGNALS = (4, 6, 7, 9, 11, 15)  # ILL ABRT BUS KILL SEGV TERM
KILLED = signal_outcome(9)
OUTCOMES = (PROGRAM_FAILED, *map(signal_outcome, DEATH_SIGNALS))


def read(region: Region) -> Record | None:
    """The first failure of the table; None if its rows were cut off."""
    fields: dict[str, Value] = {}
    quote: list[Line] = []
    last = region.number
    for row in parse_lines(region.lines_after()):
        if found := first_parts(ROWS, (row.message,)):
            fields |= {k: v for k, v in found.items() if v != "<N/A>"}
            quote.append(row.line)
            last = row.line.number
        if row.message.startswith("===="):
            break
    if "exit_code" not in fields:
        return None
    fields |= {k: int(str(fields[k])[:18]) for k in NUMBER_ROWS if k in fields}
    if listed := _listed(region):
        fields["listed_ranks"] = number_ranges({int(str(fields.get("rank", listed[0]))), *listed})
    code = int(fields["exit_code"])
    outcome = PROGRAM_FAILED if code >= 0 else signal_outcome(-code) if -code in DEATH_SIGNALS else None
    weight = "strong" if -code in (4, 6, 7, 11) else "hint"
    quote.sort(key=lambda line: "exitcode" not in line.text)
    ended = [] if outcome == KILLED else list(_by_launcher(region, str(fields.get("time", ""))))
    return Record(
        kind="torchelastic",
        first=region.number,
        last=last,
        outcome=outcome,
        weight=weight,  # type: ignore[arg-type]
        quote=tuple(quote[:3]),
        fields=fields,
        over=(KILLED,) if ended else (),
        places=((region.number, last), *ended) if ended else (),
    )


def _listed(region: Region) -> list[int]:
    """The ranks that failed later, if the head of the table is there: torchrun lists all that did not end with exit status 0."""
    rows = [row.message for row in parse_lines(region.lines_before())]
    heads = [n for n, text in enumerate(rows) if text.startswith(TABLE_HEAD)]
    told = (first_parts(ROWS, (text,)).get("rank") for text in (rows[heads[-1] :] if heads else ()))
    return [int(rank) for rank in told if rank]


def _by_launcher(region: Region, first: str) -> Iterator[tuple[int, int]]:
    """First and last line of each rank of the table that was killed long after `first`, the time of the first failure."""
    killed = 0, ""
    for row in parse_lines(region.lines_before()):
        found = first_parts(ROWS, (row.message,))
        if "time" in found:
            killed = row.line.number, found["time"]
        if found.get("signal") == "9" and _apart(first, killed[1]) > GRACE:
            yield killed[0], row.line.number


def _apart(first: str, later: str) -> timedelta:
    """The time between two timestamps of the table; zero if one of them cannot be parsed."""
    try:
        return datetime.strptime(later, STAMP_FORMAT) - datetime.strptime(first, STAMP_FORMAT)
    except ValueError:
        return timedelta()

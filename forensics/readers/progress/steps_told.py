"""When a log last told of a new step of its run, by the file's own time.

job.log, written 04:54:25   04:54:21 rank 1 iteration 31 ... W1201 04:54:25 Received 15 death signal    -> 04:54:21
"""

from forensics.line_formats import parse_prefix
from forensics.model import Scan
from forensics.readers.progress.counters import positions
from forensics.readers.stamps.clock_samples import SMALLEST_ZONE_STEP_S

DAY_S = 86400.0
MAX_LATE_S = 5.0  # by which a file is written later than its last line tells; a copy has another time
ROUNDED_BY_S = 1.0  # some file systems keep times in whole seconds


def last_step(scan: Scan) -> float | None:
    """In seconds since 1970; None if the log tells no times or no steps, or was not written when its last line was."""
    written, step, last = scan.source.modified, None, None
    for line in reversed(scan.tail or scan.head):
        wall = stamp.wall if (stamp := parse_prefix(line.text).stamp) else None
        if wall is None:
            continue
        at = wall.hour * 3600.0 + wall.minute * 60.0 + wall.second + wall.microsecond / 1e6
        last = at if last is None else last
        if positions(line.text):
            step = at
            break
    if written is None or step is None or last is None:
        return None
    ahead = written.timestamp() - last
    return written.timestamp() - (last - step) % DAY_S if (ahead + ROUNDED_BY_S) % SMALLEST_ZONE_STEP_S <= MAX_LATE_S else None

"""Two boots in the table of last(1) without a shutdown between them: the machine was reset, or lost its power.

    $ last -x reboot shutdown
    reboot   system boot  5.15.0-91-generi Fri Mar  8 09:12   still running
    reboot   system boot  5.15.0-91-generi Mon Mar  4 17:40   still running

The table begins with the newest boot. An older boot that is still marked `still running` had no orderly end. If the table lists
shutdowns (`last -x`), two boots without a shutdown between them show the same. Otherwise the table proves nothing.
"""

from forensics.data_files.named_parts import patterns_of
from forensics.model import Region, Trigger
from forensics.readers.base import Record

TRIGGER = Trigger("last_boots", ("reboot   system boot",), before=40, after=40)
PATTERNS = patterns_of("last boots")
STILL_RUNNING = "still running"
NO_SHUTDOWN = "no_shutdown"
OUTCOMES = (NO_SHUTDOWN,)


def read(region: Region) -> Record | None:
    """The boot on the region's line and the newer one above it, if there is no shutdown between them; else None."""
    if not PATTERNS.boot_row.search(region.text):
        return None
    down = False
    for line in reversed(region.lines_before()):
        if PATTERNS.boot_row.search(line.text):
            break
        down = down or bool(PATTERNS.shutdown_row.search(line.text))
    else:
        return None
    ended = STILL_RUNNING in region.text or any(PATTERNS.shutdown_row.search(line.text) for line in region.lines())
    if down or not ended:
        return None
    return Record("last_boots", region.number, region.number, NO_SHUTDOWN, "strong", (region.line, line))

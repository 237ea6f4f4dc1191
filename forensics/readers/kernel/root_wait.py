"""A kernel that waits for its root device to the end of its log: it never comes to the first program of the system.

[    1.588806] Waiting for root device PARTUUID=0b1c...
[   11.590583] platform fe310000.mmc: deferred probe pending
"""

from forensics.data_files.named_parts import patterns_of
from forensics.line_formats import parse_prefix
from forensics.model import Region, Trigger, Weight
from forensics.readers.base import Record

MAX_ROOT_WAIT_LINES = 200  # chosen by hand: drivers that report themselves while the kernel waits; a system prints more
TRIGGER = Trigger("root_wait", ("waiting for root device ",), after=MAX_ROOT_WAIT_LINES)
PATTERNS = patterns_of("root wait")
# The default of `deferred_probe_timeout`: drivers that still lack what they need are given up behind it (drivers/base/dd.c).
MIN_ROOT_WAIT_S = 10.0
NEVER_FOUND = "never_found"
OUTCOMES = (NEVER_FOUND,)


def read(region: Region) -> Record | None:
    """The wait, if the log ends with it; None if the device was found. Where no stamps show how long it lasted, it is a hint: of
    four public logs of machines that went on, hundreds of lines stand behind the wait."""
    found, behind = PATTERNS.waiting.search(region.text), region.lines_after()
    if found is None or len(behind) >= MAX_ROOT_WAIT_LINES or any(PATTERNS.found.search(line.text) for line in behind):
        return None
    texts = (region.text, *(line.text for line in behind))
    stamps = [s.mono for x in texts if (s := parse_prefix(x).stamp) and s.mono is not None]
    is_long = bool(stamps) and stamps[-1] - stamps[0] >= MIN_ROOT_WAIT_S
    if not is_long and any(line.text.strip() for line in behind):
        return None
    own = region.lines()[0]
    last = behind[-1].number if behind else own.number
    weight: Weight = "strong" if is_long else "hint"
    return Record("root_wait", own.number, last, NEVER_FOUND, weight, (own,), {"root_device": found["device"]})

"""Reads why an X server ended, from its log: `no screens found` only says that no driver took a device.

[    29.171] (EE) open /dev/dri/card0: No such file or directory        -> no_device
[    29.186] (EE) No devices detected.
[    29.229] (EE)
Fatal server error:
[    29.235] (EE) no screens found(EE)
[    29.264] (EE) Server terminated with error (1). Closing log file.

Errors have the mark (EE), in the log and on the console: xserver os/log.c, os/utils.c, hw/xfree86/common/xf86Init.c.
"""

from forensics.data_files.named_parts import first_row, patterns_of
from forensics.model import Region, Trigger
from forensics.readers.base import Record

TRIGGER = Trigger("xorg", of="xorg", before=80, after=6)
PATTERNS = patterns_of("xorg")
NO_DEVICE, DIED, DISPLAY_FAILED = "no_device", "died", "failed"
OUTCOMES = (NO_DEVICE, DIED, DISPLAY_FAILED, "full", "busy", "unreached", "missing", "corrupt", "setting")


def read(region: Region) -> Record | None:
    """The reason that stands below the heading, or the device that no driver took above it. None where no reason stands there."""
    below = [x for x in region.lines_after() if (m := PATTERNS.reason.match(x.text)) and m["said"].strip(" ()E")]
    if not below:
        return None
    reason, above = below[0], region.lines_before()
    is_without_screens = bool(PATTERNS.no_screens.search(reason.text))
    told = next((x for x in above if is_without_screens and PATTERNS.of_device.search(x.text)), reason)
    outcome = NO_DEVICE if is_without_screens else _outcome(reason.text)
    also = [x for x in (reason, region.line) if x.number != told.number]
    fields = {"exc_message": told.text.partition("(EE)")[2].strip() or told.text.strip()}
    return Record(TRIGGER.kind, min(told.number, region.number), reason.number, outcome, "strong", (told, *also), {**fields})


def _outcome(said: str) -> str:
    if PATTERNS.caught_signal.search(said):
        return DIED
    if PATTERNS.taken.search(said):
        return "busy"
    rows = (first_row(group, said) for group in ("uncaught errors", "refused settings"))
    return next((row.name for row in rows if row), DISPLAY_FAILED)

"""Reads why an X server ended, from its log: `no screens found` only says that no driver took a device.

[    29.171] (EE) open /dev/dri/card0: No such file or directory        -> no_device
[    29.186] (EE) No devices detected.
[    29.229] (EE)
Fatal server error:
[    29.235] (EE) no screens found(EE)
[    29.264] (EE) Server terminated with error (1). Closing log file.

Errors have the mark (EE), in the log and on the console: xserver os/log.c, os/utils.c, hw/xfree86/common/xf86Init.c.
"""

from forensics.core import lazy
from forensics.data_files.named_parts import first_row
from forensics.model import Region, Trigger
from forensics.readers.base import Record

TRIGGER = Trigger("xorg", ("Fatal server error:",), before=80, after=6)
NO_DEVICE, DIED, DISPLAY_FAILED = "no_device", "died", "failed"
OUTCOMES = (NO_DEVICE, DIED, DISPLAY_FAILED, "full", "busy", "unreached", "missing", "corrupt", "setting")
REASON = lazy.regex(r"^(?:\[ *\d+\.\d+\] )?(?:\(EE\) )?(?P<said>\S.*?)(?:\(EE\) ?)?$")
OF_DEVICE = lazy.regex(
    r"\(EE\) (?:open /dev/|No devices detected|Device\(s\) detected, but none|Unable to (?:open|find)|\[drm\]|KMS not enabled"
    r"|(?:NVIDIA|modeset|AMDGPU|intel|RADEON|nouveau|fbdev|FBDEV)\S*?:? .{0,60}(?:[Ff]ailed|[Nn]o |[Uu]nable|[Cc]annot))"
)
NO_SCREENS = lazy.regex(
    r"no screens found|AddScreen/ScreenInit failed|Cannot run in framebuffer mode|failed to create screen|no usable config"
)
CAUGHT_SIGNAL = lazy.regex(r"Caught signal \d+")
TAKEN = lazy.regex(r"already active for display|Cannot establish any listening sockets")


def read(region: Region) -> Record | None:
    """The reason that stands below the heading, or the device that no driver took above it. None where no reason stands there."""
    below = [x for x in region.lines_after() if (m := REASON.match(x.text)) and m["said"].strip(" ()E")]
    if not below:
        return None
    reason, above = below[0], region.lines_before()
    lacks = next((x for x in above if OF_DEVICE.search(x.text)), None) if NO_SCREENS.search(reason.text) else None
    told = lacks or reason
    outcome = NO_DEVICE if NO_SCREENS.search(reason.text) else _outcome(reason.text)
    also = [x for x in (reason, region.line) if x.number != told.number]
    fields = {"exc_message": told.text.partition("(EE)")[2].strip() or told.text.strip()}
    return Record(TRIGGER.kind, min(told.number, region.number), reason.number, outcome, "strong", (told, *also), {**fields})


def _outcome(said: str) -> str:
    if CAUGHT_SIGNAL.search(said):
        return DIED
    if TAKEN.search(said):
        return "busy"
    rows = (first_row(group, said) for group in ("uncaught errors", "refused settings"))
    return next((row.name for row in rows if row), DISPLAY_FAILED)

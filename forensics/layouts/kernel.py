"""The kernel's own log as dmesg prints it: seconds since boot, or with -T a wall clock without a zone.

[11686.888109] python3 invoked oom-killer        [Fri Feb 13 23:31:30 2009] example
"""

from forensics.layouts.base import Layout
from forensics.layouts.clock import CLOCK, DAY, ISO_DATE, MONTH, TIME, ZONE

CALLER = r"(?:\s*\[\s*[TC]\d+\])?"
LEVEL = r"(?:(?:kern|user|daemon|syslog)\s*:(?P<level>\w+)\s*: )?"

LAYOUTS = (
    Layout(
        "dmesg",
        "mono",
        rf"(?:<\d{{1,3}}>)?{LEVEL}\[\s*(?P<mono>\d{{1,8}}\.\d{{6}})\]{CALLER} ?",
        (
            "[11686.888109] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
            "[  516.671899][    C1] watchdog: BUG: soft lockup - CPU#1 stuck for 134s!",
            "<4>[   64.000000] example[4]",
            "kern  :warn  : [   64.000000] example[4]",
        ),
    ),
    Layout(
        "dmesg -T",
        "wall",
        rf"{LEVEL}\[{DAY} {MONTH} {{1,2}}(?P<d>\d{{1,2}}) {TIME} (?P<y>\d{{4}})\]{CALLER} ?",
        ("[Fri Feb 13 23:31:30 2009] example[0]",),
    ),
    Layout(
        "dmesg iso",
        "wall+zone",
        # The comma before the fraction is dmesg's own; journalctl and syslog write a dot.
        rf"{LEVEL}{ISO_DATE}T{CLOCK},(?P<frac>\d{{6}}){ZONE} ",
        (
            "2009-02-13T23:31:30,123456+00:00 example zero",
            "kern  :warn  : 2025-01-21T04:41:44,285060+00:00 VFS: file-max limit 1000000 reached",
        ),
    ),
)

"""Output formats of journalctl other than the syslog one: full date with weekday, epoch, uptime, delta; and its header lines.

Fri 2025-08-22 03:00:07 UTC node-7 systemd[1]: jupyter.service: Failed      1755831607.123456 node-7 kernel: python3 invoked
[11687.138109 <    0.250005 >] node-7 kernel: Out of memory                 -- Boot 5936b00ee7ee04cff9afb308244ef8aa --
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import DAY, ISO_DATE, MONO, NAMED_ZONE, TIME_OF_DAY

JOURNAL_WHO_PATTERN = r"(?:(?P<host>[\w.-]+) )?(?P<program>[^\s\[\]:]{1,128})(?:\[(?P<pid>\d+)\])?: ?"
# Lines of dmesg look alike (`usb 1-1: new device`): only the name `kernel` or a pid shows that the journal wrote the line.
SURE_PROGRAM_PATTERN = r"(?P<host>[\w.-]+) (?P<program>kernel(?=:)|[^\s\[\]:]{1,128}(?=\[\d+\]:))(?:\[(?P<pid>\d+)\])?: ?"

LINE_FORMATS = (
    LineFormat(
        "journal short-full",
        "wall+zone",
        rf"{DAY} {ISO_DATE} {TIME_OF_DAY} {NAMED_ZONE} {JOURNAL_WHO_PATTERN}",
        (
            "Fri 2025-08-22 03:00:07 UTC gpu-node-7 systemd[1]: jupyter.service: Failed with result 'oom-kill'.",
            "Fri 2025-08-22 03:00:08 CEST gpu-node-7 init.scope[1]: jupyter.service: Failed with result 'oom-kill'.",
        ),
        first=r"Mo|Tu|We|Th|Fr|Sa|Su",
    ),
    LineFormat(
        "journal short-unix",
        "wall+zone",
        rf"(?P<unix>\d{{10}})\.(?P<frac>\d{{6}}) {JOURNAL_WHO_PATTERN}",
        ("1755831607.123456 gpu-node-7 kernel: python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0",),
        rank=40,
        first=r"\d{6}",
    ),
    LineFormat(
        "journal short-monotonic",
        "mono",
        rf"\[\s*{MONO}\] {SURE_PROGRAM_PATTERN}",
        (
            "[11686.888104] gpu-node-7 kernel: python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0",
            "[11688.388109] gpu-node-7 systemd[1]: jupyter.service: Failed with result 'oom-kill'.",
        ),
        rank=40,
        first=r"\[[ \d]",
    ),
    LineFormat(
        "journal short-delta",
        "mono",
        rf"\[\s*{MONO} (?:<[ *\d.]{{1,20}}>|\s{{10,20}})\] {JOURNAL_WHO_PATTERN}",
        (
            "[11687.138109 <    0.250005 >] gpu-node-7 kernel: Out of memory: Killed process 4242 (python3)",
            "[11686.888104                ] gpu-node-7 kernel: python3 invoked oom-killer",
            "[    0.001000 <   86.500000*>] gpu-node-7 kernel: Linux version 6.8.0-45-generic",
        ),
        rank=40,
        first=r"\[[ \d]",
        within=".",
    ),
    LineFormat(
        "journal header",
        "none",
        r"-- (?:Boot [0-9a-f]{32}|Reboot|No entries|(?:Logs|Journal) begins? at .{10,60}, ends? at .{10,60}\.?)(?: --)?\s*$",
        (
            "-- Boot 5936b00ee7ee04cff9afb308244ef8aa --",
            "-- Reboot --",
            "-- No entries --",
            "-- Journal begins at Fri 2025-08-22 03:00:07 UTC, ends at Fri 2025-08-22 03:01:37 UTC. --",
            "-- Logs begin at Fri 2025-08-22 03:00:07 UTC, end at Fri 2025-08-22 03:01:37 UTC. --",
        ),
        first=r"--",
    ),
)

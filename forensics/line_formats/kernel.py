"""The kernel log as dmesg prints it: seconds since boot, a wall clock without a zone (-T), or time differences (-e, -H, -d).

[11686.888109] python3 invoked oom-killer        [Fri Feb 13 23:31:30 2009] example
[Feb13 23:31] example                            [  +7.000000] example
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import ANY_MONTH, CLOCK_PATTERN, DAY, ISO_DATE, MONO, MONTH, TIME_OF_DAY, ZONE

CALLER = r"(?:\s*\[\s*[TC]\d+\])?"
FACILITY = r"(?:kern|user|mail|daemon|auth|syslog|lpr|news|authpriv|local\d)"
DMESG_LEVEL_PATTERN = rf"(?:<(?P<pri>\d{{1,3}})>)?(?:{FACILITY} *:(?P<level>\w+) *: )?"

LINE_FORMATS = (
    LineFormat(
        "dmesg",
        "mono",
        # With -d the time since the previous line follows.
        rf"{DMESG_LEVEL_PATTERN}\[\s*{MONO}(?: +<[ *\d.]{{1,20}}>)?\]{CALLER} ?",
        (
            "[11686.888109] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
            "[  516.671899][    C1] watchdog: BUG: soft lockup - CPU#1 stuck for 134s! [syz-executor.3:16401]",
            "[    0.000000] [T1] Linux version 6.6.4-arch1-1 (linux@archlinux)",
            "<4>[   64.000000] example[4]",
            "kern  :warn  : [   64.000000] example[4]",
            "[    1.000000 <    0.000000>] example[1]",
        ),
        first=r"\[[ \d]|<\d|ke|us|ma|da|au|sy|lp|ne|lo",
    ),
    LineFormat(
        "dmesg -T",
        "wall",
        rf"{DMESG_LEVEL_PATTERN}\[{DAY} {MONTH} {{1,2}}(?P<d>\d{{1,2}}) {TIME_OF_DAY} (?P<y>\d{{4}})\]{CALLER} ?",
        ("[Fri Feb 13 23:31:30 2009] example[0]", "kern  :err   : [Fri Feb 13 23:31:30 2009] example[0]"),
        first=r"\[[MTWFS]|<\d|ke|us|ma|da|au|sy|lp|ne|lo",
    ),
    LineFormat(
        "dmesg -T, other language",
        "wall",
        rf"{DMESG_LEVEL_PATTERN}\[[^\W\d]{{1,4}}\.? +{ANY_MONTH} +(?P<d>\d{{1,2}}) {TIME_OF_DAY} (?P<y>\d{{4}})\]{CALLER} ?",
        (
            "[Di Aug 12 03:54:03 2025] php-fpm invoked oom-killer: gfp_mask=0x1100cca(GFP_HIGHUSER_MOVABLE), order=0",
            "[mar. janv. 17 02:59:56 2023] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0",
            "[Пт июл 25 11:20:31 2025] NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.",
            "[五 11月 19 10:33:00 2021] example",
        ),
        rank=55,
        first=r"\[[^\W\d]|<\d|ke|us|ma|da|au|sy|lp|ne|lo",
        within=":",
    ),
    LineFormat(
        "dmesg iso",
        "wall+zone",
        # Only dmesg writes a comma before the fraction; journalctl and syslog write a dot.
        rf"{DMESG_LEVEL_PATTERN}{ISO_DATE}T{CLOCK_PATTERN},(?P<frac>\d{{6}}){ZONE} ",
        (
            "2009-02-13T23:31:30,123456+00:00 example zero",
            "kern  :warn  : 2025-01-21T04:41:44,285060+00:00 VFS: file-max limit 1000000 reached",
        ),
        first=r"\d{4}-|<\d|ke|us|ma|da|au|sy|lp|ne|lo",
        within="T",
    ),
    LineFormat(
        "dmesg -H",
        "wall",
        rf"{DMESG_LEVEL_PATTERN}\[{ANY_MONTH} ?(?P<d>\d{{1,2}}) (?P<h>[0-2]\d):(?P<m>[0-5]\d)\]{CALLER} ?",
        ("[Feb13 23:31] example[0]", "[Nov19 10:33] NVRM: Xid (PCI:0000:01:00): 79", "[lis19 10:33] example", "[Feb 3 23:31] x"),
        first=r"\[\w|<\d|ke|us|ma|da|au|sy|lp|ne|lo",
        within=":",
    ),
    LineFormat(
        "dmesg -H step",
        "delta",
        rf"{DMESG_LEVEL_PATTERN}\[\s*\+(?P<delta>\d{{1,8}}\.\d{{4,6}})\]{CALLER} ?",
        ("[  +7.000000] example[2]", "[ +0.0003] example", "[  +0.000012] Call Trace:"),
        first=r"\[[ +]|<\d|ke|us|ma|da|au|sy|lp|ne|lo",
        within="+",
    ),
    LineFormat(
        "dmesg -r without time",
        "none",
        r"<(?P<pri>\d{1,3})>",
        ("<6>usb 1-1: new high-speed USB device number 2", "<6>[ pid ]   uid  tgid total_vm      rss cpu name", "<4> [<ffff>] ?"),
        rank=90,
        first=r"<\d",
        labels=True,
    ),
    LineFormat(
        "dmesg -x without time",
        "none",
        rf"{FACILITY} *:(?P<level>emerg|alert|crit|err|warn|notice|info|debug) *: ?",
        ("kern  :err   : Out of memory: Killed process 4242 (python3)", "daemon:info  : started"),
        rank=90,
        first=r"ke|us|ma|da|au|sy|lp|ne|lo",
        within=":",
        labels=True,
    ),
    LineFormat(
        "serial console",
        "none",
        # A login prompt has no line end, so the kernel's next line follows on the same line.
        rf"(?!\d{{4}}-)\w[\w.-]{{1,63}} login: (?=\[\s*{MONO}\])",
        ("debian login: [  123.456789] Kernel panic - not syncing: Fatal exception",),
        first=r"(?!\d{4}-)\w[\w.-]",
        within=" login: ",
    ),
    LineFormat(
        "talos",
        "wall+zone",
        rf"(?!\d{{4}}-)(?:(?P<host>[\d.a-f:]+): )?{FACILITY}: +(?P<level>\w+): \[{ISO_DATE}T{TIME_OF_DAY}{ZONE}\]: ?",
        ("172.20.0.2: kern:    info: [2022-10-25T13:53:22.125Z]: Out of memory: Killed process 4242 (python3)",),
        first=r"(?!\d{4}-)(?:[\da-f:][\da-f:.]|ke|us|ma|da|au|sy|lp|ne|lo)",
        within="]: ",
    ),
)

"""Syslog files and journalctl's short forms: stamp, host, program and pid, sometimes the kernel's uptime inside.

Aug 22 03:00:07 node-7 kernel: [11686.888109] Out of memory: ...
2025-08-22T03:00:07+0000 node-7 systemd[1]: jupyter.service: Failed with result 'oom-kill'.
"""

from forensics.layouts.base import Layout
from forensics.layouts.clock import ISO_DATE, MONTH, TIME, ZONE

# A program name has no blank and no bracket; the host may be missing (`Feb 23 00:28:16 kernel: ...`).
WHO = r"(?:(?P<host>[\w.-]+) +)?(?P<program>[^\s\[\]:]{1,64})(?:\[(?P<pid>\d+)\])?: ?"
UPTIME = r"(?:\[\s*(?P<mono>\d{1,8}\.\d{6})\] ?)?"

LAYOUTS = (
    Layout(
        "syslog",
        "wall",
        rf"(?:<\d{{1,3}}>)?{MONTH} {{1,2}}(?P<d>\d{{1,2}}) {TIME} +{WHO}{UPTIME}",
        (
            "Aug 22 03:00:07 node-7 kernel: [11686.888109] Out of memory: Killed process 4242 (python3)",
            "Aug 22 03:00:07.123456 node-7 kernel: python3 invoked oom-killer",
            "Nov  3 09:23:38 veridian automount[7998]: lookup(file): lookup for foobar failed",
            "Feb 23 00:28:16 kernel: mce: [Hardware Error]: Machine check events logged",
        ),
    ),
    Layout(
        "syslog iso",
        "wall+zone",
        rf"(?:<\d{{1,3}}>)?{ISO_DATE}T{TIME}{ZONE} +(?!std(?:out|err) [FP] ){WHO}{UPTIME}",
        (
            "2025-08-22T03:00:07+0000 node-7 kernel: python3 invoked oom-killer",
            "2020-05-31T00:00:45.698463+00:00 localhost rsyslogd:  message repeated 76 times: [-- MARK --]",
        ),
    ),
)

"""Syslog files and the syslog protocol: timestamp, host, program and pid, sometimes followed by the kernel's uptime.

Aug 22 03:00:07 node-7 kernel: [11686.888109] Out of memory: ...
<30>1 2021-03-06T04:07:38.265422+00:00 hostname systemd 1 - -  Started Regular background program processing daemon.
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import ISO_DATE, MONTH, TIME_OF_DAY, ZONE

PRIORITY_PATTERN = r"(?:(?:\d{1,6} )?<(?P<pri>\d{1,3})>)?"  # over TCP the number of bytes of the message comes before it
# A program name has no blank and no bracket; the host may be missing (`Feb 23 00:28:16 kernel: ...`). A line that a container
# tool stamped has the same form if it starts with the name of an exception or with `CUDA error: `: that is no program.
NOT_EXCEPTION_PATTERN = r"(?![\w.]*(?:[Ee]rror|[Ee]xception|[Ww]arning|Interrupt|Exit|fault|failure): )"
SYSLOG_WHO_PATTERN = rf"(?:(?P<host>[\w.-]+) +)?{NOT_EXCEPTION_PATTERN}(?P<program>[^\s\[\]:]{{1,64}})(?:\[(?P<pid>\d+)\])?: ?"
# Many tools write a timestamp with a zone before any text: without a host, only `kernel` or a pid shows a program name.
ZONED_WHO_PATTERN = rf"(?:(?P<host>[\w.-]+) +|(?=kernel: |[^\s\[\]:]{{1,64}}\[\d)){SYSLOG_WHO_PATTERN.partition(')?')[2]}"
INNER_UPTIME_PATTERN = r"(?:\[\s*(?P<mono>\d{1,8}\.\d{6})\] ?)?"

LINE_FORMATS = (
    LineFormat(
        "syslog",
        "wall",
        rf"{PRIORITY_PATTERN}{MONTH} {{1,2}}(?P<d>\d{{1,2}}) {TIME_OF_DAY} +{SYSLOG_WHO_PATTERN}{INNER_UPTIME_PATTERN}",
        (
            "Aug 22 03:00:07 node-7 kernel: [11686.888109] Out of memory: Killed process 4242 (python3)",
            "Aug 22 03:00:07.123456 node-7 kernel: python3 invoked oom-killer",
            "Aug 22 03:00:07 gpu-node-7 kernel:python3 invoked oom-killer",
            "Nov  3 09:23:38 veridian automount[7998]: lookup(file): lookup for foobar failed",
            "Feb 23 00:28:16 kernel: mce: [Hardware Error]: Machine check events logged",
            "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8",
        ),
        first=r"<\d|\d{1,5} |\d{6}|Ja|Fe|Ma|Ap|Ju|Au|Se|Oc|No|De",
    ),
    LineFormat(
        "syslog, other language",
        "wall",
        rf"(?!\d{{4}}-)(?P<mon>\d{{1,2}}[月월]|[^\W\d_a-zA-Z]{{2,6}}|[^\W\d_]{{2,5}}\.?) {{1,2}}"
        rf"(?P<d>\d{{1,2}}) {TIME_OF_DAY} +{SYSLOG_WHO_PATTERN}{INNER_UPTIME_PATTERN}",
        (
            "août 19 11:08:37 myserver kernel: python3 invoked oom-killer",
            "Okt 12 03:54:03 node7 systemd[1]: jupyter.service: Failed with result 'oom-kill'.",
            "8月 22 03:00:07 node7 kernel: Out of memory: Killed process 4242 (python3)",
        ),
        rank=60,
        first=r"\d{1,2}[月월]|[^\W\d_]{2,5}[. ]|[^\W\d_a-zA-Z]{6}",
        within=":",
    ),
    LineFormat(
        "syslog iso",
        "wall+zone",
        rf"{PRIORITY_PATTERN}{ISO_DATE}T{TIME_OF_DAY}{ZONE} +(?!std(?:out|err) [FP] ){ZONED_WHO_PATTERN}{INNER_UPTIME_PATTERN}",
        (
            "2025-08-22T03:00:07+0000 node-7 kernel: python3 invoked oom-killer",
            "2020-05-31T00:00:45.698463+00:00 localhost rsyslogd:  message repeated 76 times: [-- MARK --]",
            "<6>2024-04-17T00:26:33.540821+05:30 host-name kernel: [   29.751657] i40e 0000:5d:00.0 eth5: Changing Rx descriptor",
        ),
        first=r"\d{4}-|<\d|\d{1,5} |\d{6}",
        within="T",
    ),
    LineFormat(
        "syslog 5424",
        "wall+zone",
        rf"(?:\d{{1,6}} )?<(?P<pri>\d{{1,3}})>1 {ISO_DATE}T{TIME_OF_DAY}{ZONE} "
        r"(?P<host>\S+) (?P<program>\S+) (?:(?P<pid>\d+)|\S+) \S+ "
        r"(?:-|(?:\[(?:[^\]\"]|\"(?:[^\"\\]|\\.)*\")*\])+) ?(?:\ufeff)? ?",
        (
            "<30>1 2021-03-06T04:07:38.265422+00:00 hostname systemd 1 - -  Started Regular background program processing.",
            '142 <165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 [x@1 k="v"] An application event',
        ),
        first=r"(?:\d[\d ]|<\d)",
        within=">1 ",
    ),
)

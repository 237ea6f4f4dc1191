"""Prefixes of container tools: the pod or service, containerd's key=value pairs, kubectl's tables and trees.

[pod/train-0/main] 2026-08-22T03:00:07.123456789Z text        web-1  | 2024-04-25T05:32:35.584725130Z  * Serving Flask app
time="2017-02-01T17:58:34.999999999-08:00" level=error msg="test log line1"
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import ISO_DATE, MONTH, STAMP_FOLLOWS, TIME_OF_DAY, ZONE

LINE_FORMATS = (
    LineFormat(
        "kubectl --prefix",
        "none",
        r"\[pod/(?P<host>[\w.-]+)/(?P<program>[\w.-]+)\] ?",
        ("[pod/train-0/main] 2026-08-22T03:00:07.123456789Z text",),
        first=r"\[p",
        labels=True,
    ),
    LineFormat(
        "stern",
        "none",
        # Many lines begin with two words: here the first one, the pod, must have a dash, and a timestamp must follow.
        rf"(?!\d{{4}}-)(?P<host>[a-z0-9][a-z0-9.]*-[a-z0-9.-]+) (?P<program>[a-z0-9][a-z0-9-]*) (?:› )?{STAMP_FOLLOWS}",
        ("train-0 main [W 2026-08-22 03:00:07.120 ServerApp] restart failed", "train-0 main 2026-08-22T03:00:07.120Z text"),
        rank=60,
        first=r"(?!\d{4}-)[a-z0-9][a-z0-9.-]",
    ),
    LineFormat(
        "compose",
        "none",
        r"(?!\d{4}-)(?P<program>[A-Za-z0-9][\w.-]*[-_]\d{1,4}) +\| ?",
        ("web-1  | 2024-04-25T05:32:35.584725130Z  * Serving Flask app", "trainer_1  | Traceback (most recent call last):"),
        first=r"(?!\d{4}-)[A-Za-z0-9][\w.-]",
        within=" |",
        labels=True,
    ),
    LineFormat(
        "logfmt",
        "wall+zone",
        rf"time=\"?{ISO_DATE}T{TIME_OF_DAY}{ZONE}\"? level=(?P<level>\w+) (?:msg=\"?)?",
        ('time="2017-02-01T17:58:34.999999999-08:00" level=error msg="test log line1\\n test log line2"',),
        first=r"ti",
    ),
    LineFormat(
        "kubectl describe",
        "wall+zone",
        r"(?=\s*(?:Started|Finished|Start Time|Creation(?:Timestamp| Timestamp)?|RenewTime|AcquireTime): +"
        rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?P<d>\d\d) {MONTH} (?P<y>\d{{4}}) {TIME_OF_DAY} {ZONE}\s*$)",
        ("      Finished:     Fri, 08 Sep 2023 01:12:00 +0530", "Start Time:   Fri, 08 Sep 2023 00:57:11 +0530"),
        first=r"\s|[SFCRA][tiercq]",
        within=":  ",
    ),
    LineFormat(
        "kubectl events",
        "none",
        r"(?!\d{4}-)(?=(?:  )?(?:[\d.]+[smhd][\dsmhd]*(?: \(x\d+ over [\dsmhd]+\))? +)?(?P<level>Normal|Warning) +[A-Z]\w+ +\S)",
        (
            "Warning  BackOff  2m (x5 over 10m)  kubelet  Back-off restarting failed container",
            "2m (x5 over 10m)   Warning   BackOff   pod/train-0   Back-off restarting failed container",
        ),
        rank=65,
        first=r"(?!\d{4}-)(?:\d[\d. mhds]|  |No|Wa)",
        within="  ",
    ),
)

"""Text before copied lines: file names and line numbers of grep, line numbers of editors, quote marks, a progress bar.

kern.log:123:Aug 22 03:00:07 node-7 kernel: ...      57% 4/7 [00:37<00:28,  9.42s/it]ERROR:torch.distributed.elastic ...
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import STAMP_FOLLOWS

LINE_FORMATS = (
    LineFormat(
        "grep",
        "none",
        rf"(?=[\w./])(?=[\d./_-]{{0,99}}[A-Za-z])[\w./@+-]{{1,250}}?[:-](?:\d{{1,9}}[:-])?{STAMP_FOLLOWS}",
        (
            "kern.log:123:Aug 22 03:00:07 node-7 kernel: python3 invoked oom-killer",
            "/var/log/kern.log:Aug 22 03:00:07 node-7 kernel: python3 invoked oom-killer",
            "dmesg.txt-81-[11686.888109] oom-kill:constraint=CONSTRAINT_MEMCG",
        ),
        rank=60,
        first=r"[\w./][\w./@+:-]",
    ),
    LineFormat(
        "line number",
        "none",
        rf"(?!\d{{4}}-)[ \t]{{0,8}}\d{{1,9}}(?:[:|-][ \t]{{0,8}}|[ \t]{{1,8}}\|?[ \t]{{0,8}}){STAMP_FOLLOWS}",
        (
            "123:Aug 22 03:00:07 node-7 kernel: python3 invoked oom-killer",
            "   82  [11686.888109] Memory cgroup out of memory: Killed process 10397",
            "82-[Sat Nov 21 08:23:04 2026] x",
        ),
        rank=60,
        first=r"(?!\d{4}-)[\s\d][\s\d:|-]",
    ),
    LineFormat(
        "indented",
        "none",
        rf"[ \t]{{0,40}}(?:> ?){{1,8}}{STAMP_FOLLOWS}|[ \t]{{1,40}}{STAMP_FOLLOWS}",
        ("    [11686.888109] python3 invoked oom-killer", "> Aug 22 03:00:07 node-7 kernel: python3 invoked oom-killer"),
        rank=65,
        first=r"\s\s|\s\S|>.",
    ),
    LineFormat(
        "tqdm",
        "none",
        r"[^|\[]{0,80}?\d{1,3}%(?:\|[^|]{0,80}\|)? *[\d.]+[kMGT]?B?/[\d.]+[kMGT]?B? "
        r"\[[\d:]+<[\d:?]+, *[^\]]{1,80}\](?=[A-Z\[\d])",
        (
            "57% 4/7 [00:37<00:28,  9.42s/it]ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9)",
            "  3%|▎         | 30/1000 [00:10<05:23,  3.00it/s][rank0]: Traceback (most recent call last):",
        ),
        rank=70,
        within="<",
    ),
)

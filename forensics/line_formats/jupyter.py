"""Notebook servers and editors: Jupyter's servers, VS Code's output channel, Colab's runtime log.

[W 2024-05-13 15:26:30.398 ServerApp] AsyncIOLoopKernelRestarter: restart failed
[I 15:26:30.398 NotebookApp] KernelRestarter: restarting kernel (1/5), keep random ports
11:09:10.499 [error] Disposing session as kernel process died ExitCode: undefined, Reason:
Oct 18, 2019, 7:54:49 AM | INFO | KernelRestarter: restarting kernel (1/5), keep random ports
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import CLOCK_PATTERN, ISO_STAMP, MONTH, TIME_OF_DAY

# The application, in old hubs the user; sometimes followed by module and line.
JUPYTER_APP_PATTERN = r" (?P<program>[\w.@-]+)(?: [\w.]+:\d+)?\] ?"
VSCODE_LEVEL_PATTERN = r"(?P<level>[Tt]race|[Dd]ebug|[Ii]nfo|[Ww]arn(?:ing)?|[Ee]rror)"

LINE_FORMATS = (
    LineFormat(
        "jupyter server",
        "wall",
        rf"\[(?P<level>[DIWEC]) {ISO_STAMP}{JUPYTER_APP_PATTERN}",
        (
            "[W 2024-05-13 15:26:30.398 ServerApp] AsyncIOLoopKernelRestarter: restart failed",
            "[W 2024-05-13 15:26:30.398 JupyterHub base:1348] User ada server stopped, with exit code: 137",
            "[I 2023-09-14 08:06:19.137 SingleUserNotebookApp kernelmanager:484] Culling 'idle' kernel",
        ),
        first=r"\[[DIWEC]",
    ),
    LineFormat(
        "classic notebook",
        "wall",
        rf"\[(?P<level>[DIWEC]) {TIME_OF_DAY}{JUPYTER_APP_PATTERN}",
        ("[I 15:26:30.398 NotebookApp] KernelRestarter: restarting kernel (1/5), keep random ports",),
        first=r"\[[DIWEC]",
    ),
    LineFormat(
        "vs code, time first",
        "wall",
        rf"{CLOCK_PATTERN}\.(?P<frac>\d{{3}}) \[{VSCODE_LEVEL_PATTERN}\] ?",
        ("11:09:10.499 [error] Disposing session as kernel process died ExitCode: undefined, Reason:",),
        first=r"\d\d:",
    ),
    LineFormat(
        "vs code, level first",
        "wall",
        rf"{VSCODE_LEVEL_PATTERN} {TIME_OF_DAY}: ",
        (
            "debug 08:46:31.838: Starting Jupyter session",
            "Info 14:16:26: Registering dummy command feature",
            "info 17:49:32.601: Spawned kernel",
        ),
        first=r"(?:[Tt]r|[Dd]e|[Ee]r)aaa |[Ii]naa \d|[Ww]a(?:aa \d|aaaa)",
    ),
    LineFormat(
        "vs code, dated",
        "wall",
        rf"{VSCODE_LEVEL_PATTERN} {ISO_STAMP}: ",
        ("Error 2021-11-09 10:56:35: Failed to start the kernel",),
        first=r"(?:[Tt]r|[Dd]e|[Ee]r)aaa |[Ii]naa \d|[Ww]a(?:aa \d|aaaa)",
    ),
    LineFormat(
        "colab",
        "wall",
        # New browsers write U+202F before AM; a downloaded table has pipes, a copy of the page has tabs.
        rf"\"?{MONTH} (?P<d>\d{{1,2}}), (?P<y>\d{{4}}), (?P<h>\d{{1,2}}):(?P<m>[0-5]\d):(?P<s>[0-6]\d)[ \u202f](?P<ampm>[AP]M)\"?"
        r"(?: \| |\t+|,)(?:(?P<level>[A-Z]{4,8})(?: \| |\t+|,))?",
        (
            "Oct 18, 2019, 7:54:49 AM | INFO | KernelRestarter: restarting kernel (1/5), keep random ports",
            "Mar 3, 2024, 11:05:59\u202fPM\tWARNING\tAsyncIOLoopKernelRestarter: restarting kernel (1/5), keep random ports",
            '"Jan 5, 2023, 12:00:01 AM",WARNING,"tcmalloc: large alloc 2147483648 bytes"',
        ),
        rank=40,
        first=r"\"[JFMASOND]|Ja|Fe|Ma|Ap|Ju|Au|Se|Oc|No|De",
        within="M",
    ),
)

"""Dates written with slashes or month names, and times of day alone: Rich, older Hugging Face scripts, NVIDIA's services.

[04/18/23 21:09:53] INFO     colossalai - colossalai - INFO:
04/18/2023 21:09:53 - INFO - __main__ - ***** Running training *****
[Jul 10 2023 08:00:01] [INFO] [tid 1234] Fabric Manager is running
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import MONTH, TIME_OF_DAY

LEVEL_NAME = r"(?P<level>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)"
MONTH_DAY = r"(?P<mo>[01]\d)/(?P<d>[0-3]\d)"

LINE_FORMATS = (
    LineFormat(
        "rich",
        "wall",
        rf"\[{MONTH_DAY}/(?P<y>\d\d) {TIME_OF_DAY}\] (?:{LEVEL_NAME} +)?",
        ("[04/18/23 21:09:53] INFO     colossalai - colossalai - INFO:",),
        first=r"\[[01]",
    ),
    LineFormat(
        "rich, time only",
        "wall",
        rf"\[{TIME_OF_DAY}\] +(?:{LEVEL_NAME} +)?",
        ("[21:09:53] INFO     loading the checkpoint", "[21:09:53] starting"),
        first=r"\[[0-2]",
    ),
    LineFormat(
        "rich, same time as before",
        "none",
        # Rich prints blanks instead of a timestamp that equals the one of the previous line.
        rf" {{10,20}}{LEVEL_NAME} {{2,}}",
        ("                    INFO     colossalai - colossalai - INFO: distributed environment is initialized",),
        first=r"  ",
    ),
    LineFormat(
        "month/day/year",
        "wall",
        rf"{MONTH_DAY}/(?P<y>20\d\d) {TIME_OF_DAY}(?: (?P<ampm>[AP]M))?(?: - {LEVEL_NAME} - | +|: ?)",
        (
            "04/18/2023 21:09:53 - INFO - __main__ -   ***** Running training *****",
            "08/22/2026 03:00:07 PM  worker lost",
        ),
        first=r"[01]\d/",
        within="/",
    ),
    LineFormat(
        "year/month/day",
        "wall",
        rf"(?P<y>(?:20)?\d\d)/{MONTH_DAY} {TIME_OF_DAY}(?:, |: ?| +)(?:\[?{LEVEL_NAME}\]?:? )?",
        (
            "2026/08/22 03:00:07.123, NVIDIA H100 80GB HBM3, 45, 99 %",
            "24/05/01 12:00:00 ERROR Executor: Exception in task 0.0 in stage 1.0",
        ),
        first=r"\d\d(?:\d\d)?/",
        within="/",
    ),
    LineFormat(
        "detectron2",
        "wall",
        rf"\[{MONTH_DAY} {TIME_OF_DAY} (?P<program>[\w.]+)\]: ?(?:{LEVEL_NAME}[: ]+)?",
        ("[08/22 03:00:07 d2.engine.train_loop]: Starting training from iteration 0",),
        first=r"\[[01]",
        within="/",
    ),
    LineFormat(
        "fabric manager",
        "wall",
        rf"\[{MONTH} +(?P<d>\d{{1,2}}) (?P<y>20\d\d) {TIME_OF_DAY}\] \[{LEVEL_NAME}\] \[tid \d+\] ?",
        ("[Jul 10 2023 08:00:01] [INFO] [tid 1234] Fabric Manager is running and connected",),
        first=r"\[[JFMASOND]",
    ),
    LineFormat(
        "time only",
        "wall",
        rf"{TIME_OF_DAY} +(?:[|-] *)?\[?{LEVEL_NAME}\]?[ |:-]+",
        ("12:00:00,123 INFO train: epoch 3", "21:09:53 | WARNING | loss is rising"),
        first=r"[0-2]\d:",
    ),
)

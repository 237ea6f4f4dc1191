"""Prefixes of Python programs: common formats of `logging`, torchelastic, DeepSpeed, Ray, Airflow, transformers, Dask.

2022-10-05 10:30:47,443 ERROR agent.py:217 -- Raylet is terminated
[2023-10-13 17:40:02,544] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -9)
WARNING:root:kernel b9e44794 restarted
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import ISO_DATE, ISO_STAMP, TIME_OF_DAY, ZONE

LEVEL_NAME = r"(?P<level>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)"
ZONE_FOLLOWS = r" ?(?:(?:Z|[+-]\d\d:?\d\d)(?!\w)|[+-]\d\d:\d\d(?=Copy\[))"
# Modules by which Airflow logs the output of a task's process, all of it at one level.
AIRFLOW_RELAY = (
    r"(?:subprocess|pod_manager|pod_launcher|logging_mixin|process_utils|ssh|docker|log|bash|standard_task_runner)\.py:\d{1,5}\}"
)
# A level after the name of a logger or a file. The name stays in the message, and so does a level like `error: `.
INNER_LEVEL = (
    rf"(?!{{{AIRFLOW_RELAY})(?=(?:- [\w.]{{1,80}} - |[\w.]{{1,80}}: \[|\{{[\w.:]{{1,80}}\}} |\[[\w.]{{1,80}}\]\[|##\[|(?=\w+: ))"
    r"(?P<inside>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|error|fatal|warning|debug\d?|info|verbose)\b)"
)
ANY_LEVEL_PATTERN = rf"(?!std(?:out|err) [FP] )(?:[ ,|:-]*\[?{LEVEL_NAME}\]?[ |:-]*|{INNER_LEVEL})?"

LINE_FORMATS = (
    LineFormat(
        "bracketed time",
        "wall",
        # Airflow writes a comma after the date.
        rf" ?\[{ISO_DATE},?[T ]{TIME_OF_DAY}(?: (?P<short>[A-Z]) (?P<pid>\d+) \d+)?\] ?"
        rf"(?:[ :]*\[{LEVEL_NAME}\] ?|{INNER_LEVEL})?",
        (
            "[2023-10-13 17:40:02,544] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -9)",
            "[2026-08-22T03:00:07.123] error: Node node7 not responding",
            " [2026-08-22 03:00:07] iteration      100/  500000 | consumed samples: 25600 |",
            "[2025-01-15 18:16:34,677 I 524674 524674] (raylet) main.cc:180: Setting cluster ID to: ab3f",
            "[2023-10-13 17:40:02,544] [INFO] [launch.py:191:main] done",
        ),
        first=r"[ \[][\[12]",
    ),
    LineFormat(
        "bracketed time with zone",
        "wall+zone",
        rf" ?\[{ISO_DATE},?[T ]{TIME_OF_DAY} ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)\] ?{INNER_LEVEL}?",
        (
            "[2024-05-01T12:00:00.123Z] + python train.py",
            "[2023-10-13, 17:40:02 UTC] {taskinstance.py:1824} ERROR - Task failed with exception",
        ),
        first=r"[ \[][\[12]",
    ),
    LineFormat(
        "python logging",
        "wall",
        rf"{ISO_DATE} {TIME_OF_DAY}(?![.,]?\d|: [IWEF] |{ZONE_FOLLOWS})(?: +(?P<pid>\d{{1,7}})(?= ))? ?{ANY_LEVEL_PATTERN}",
        (
            "2022-10-05 10:30:47,443 ERROR agent.py:217 -- Raylet is terminated",
            "2026-05-01 12:00:00,123 - distributed.nanny.memory - WARNING - Worker exceeded 95% memory budget.",
            "2025-01-01 00:00:00.123 | INFO     | module:fn:12 - text",
            "2024-05-01 12:00:00,123 INFO    MainThread:1234 [wandb_init.py:init():610] calling init triggers",
        ),
        rank=70,
        first=r"[12]\d{3}-",
    ),
    LineFormat(
        "stamped with zone",
        "wall+zone",
        # `Copy`: the text of a button of the web page that the line was copied from.
        rf"{ISO_DATE}[T ]{TIME_OF_DAY} ?{ZONE}(?: std(?:out|err) [FP]| \d\d[OE]\+?)?(?: |Copy(?=\[)){ANY_LEVEL_PATTERN}",
        (
            "2022-07-11T12:10:56.528+02:00Copy[I 10:10:56.428 NotebookApp] KernelRestarter: restarting kernel (1/5)",
            "2026-08-22T03:00:07.123456789Z main starts",
            "2016-10-06T00:17:09.669794203Z stderr F log content 2",
            "2024-05-01T12:00:00.1234567Z ##[error]Process completed with exit code 137.",
        ),
        rank=75,
        first=r"[12]\d{3}-",
    ),
    LineFormat(
        "iso without zone",
        "wall",
        rf"{ISO_DATE}T{TIME_OF_DAY}(?![.,]?\d|{ZONE_FOLLOWS}) ?{ANY_LEVEL_PATTERN}",
        ("2026-08-22T03:00:07.123 error: Node node7 not responding",),
        rank=75,
        first=r"[12]\d{3}-",
    ),
    LineFormat(
        "airflow's task",
        "none",
        rf" ?\{{{AIRFLOW_RELAY} \w+ - (?:Job \d+: Subtask \S{{1,100}} |\[[\w-]{{1,60}}\] )?",
        ("{subprocess.py:93} INFO - Traceback (most recent call last):", "{pod_manager.py:435} INFO - [base] Killed"),
        first=r" ?\{",
    ),
    LineFormat(
        "transformers",
        "wall",
        rf"\[{LEVEL_NAME}\|[\w./-]+:\d+\] {ISO_STAMP} >> ?",
        ("[INFO|trainer.py:1813] 2023-10-13 17:40:02,544 >> ***** Running training *****",),
        first=r"\[[DIWECF]",
    ),
    LineFormat(
        "python logging without time",
        "none",
        rf"{LEVEL_NAME}:[\w.]+:",
        ("WARNING:root:kernel b9e44794-c591-416b-a281-1a0873e0ca43 restarted",),
        first=r"DE|IN|WA|ER|CR|FA",
    ),
    LineFormat(
        "dask",
        "none",
        rf"distributed[\w.]* - {LEVEL_NAME} - ",
        ("distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting",),
        first=r"di",
    ),
    LineFormat(
        "python logging, level first",
        "wall",
        rf"\[?{LEVEL_NAME}\]? {{1,6}}\[?{ISO_STAMP}\]? ?[|:-]? ?",
        ("INFO 2024-05-01 12:00:00,123 train: epoch 3", "[ERROR] 2024-05-01 12:00:00,123 - worker died"),
        rank=60,
        first=r"\[[DIWECF]|DE|IN|WA|ER|CR|FA",
    ),
)

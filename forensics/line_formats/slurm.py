"""Slurm: rows of sacct, and the time inside its message about the end of a job.

123|train|OUT_OF_MEMORY|0:125|2026-08-22T03:00:07
slurmstepd: error: *** JOB 123 ON node7 CANCELLED AT 2026-08-22T03:00:07 DUE TO TIME LIMIT ***
"""

from forensics.line_formats.base import LineFormat
from forensics.line_formats.clock import ISO_DATE, TIME_OF_DAY

SLURM_TIME = rf"{ISO_DATE}T{TIME_OF_DAY}"
JOB_STATE_PATTERN = r"(?:BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_ME|PREEMPTED|RUNNING|TIMEOUT)"

LINE_FORMATS = (
    LineFormat(
        "slurmstepd",
        "wall",
        # The message is the whole line: the time is part of it.
        rf"(?=(?:[a-z]{{2,12}}: )?(?:error: )?\*\*\* (?:JOB|STEP) [\w.+]+ ON (?P<host>[\w.-]+) CANCELLED AT {SLURM_TIME})",
        ("slurmstepd: error: *** JOB 123 ON node7 CANCELLED AT 2026-08-22T03:00:07 DUE TO TIME LIMIT ***",),
        first=r"[a-z]{2}|\*\*",
        within="CANCELLED AT ",
    ),
    LineFormat(
        "sacct -P",
        "wall",
        # If a row has several times, the last one is used: the end of the job.
        rf"(?!\d{{4}}-)(?=\d[\w.+\[\]-]*\|.*{JOB_STATE_PATTERN}.*\|{SLURM_TIME}(?:\||$))",
        (
            "123|train|OUT_OF_MEMORY|0:125|2026-08-22T03:00:07",
            "123.batch|batch|OUT_OF_MEMORY|0:125|2026-08-21T23:00:01|2026-08-22T03:00:07",
        ),
        first=r"(?!\d{4}-)\d[\w.+\[|]",
        within="|",
    ),
    LineFormat(
        "sacct",
        "wall",
        rf"(?!\d{{4}}-)(?=\d[\w.+\[\]-]* .* {JOB_STATE_PATTERN}[A-Z_+]* .*{SLURM_TIME}(?: |$))",
        ("123             train  OUT_OF_ME+    0:125 2026-08-22T03:00:07 ",),
        rank=60,
        first=r"(?!\d{4}-)\d[\w.+\[ ]",
        within="T",
    ),
)

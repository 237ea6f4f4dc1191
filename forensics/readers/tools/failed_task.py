"""Reads what Nextflow quotes of a task whose command failed: the last error line of the command tells why, and the exit status
only follows.

  Process `ALIGN (s1)` terminated with an error exit status (1)
Command error:
  cat: reads.fastq: No such file or directory        -> missing
Work dir:
  /scratch/work/25/5070e4

The form of the report: modules/nextflow/src/main/groovy/nextflow/processor/TaskProcessor.groovy.
"""

from collections.abc import Sequence

from forensics.model import Line, Region, Trigger
from forensics.readers.base import Record
from forensics.readers.python.quoted_source import TRACEBACK_HEAD
from forensics.readers.tools.failed_command import is_error_of_tool, outcome_of, says_why

TRIGGER = Trigger("failed_task", ("terminated with an error exit status (",), after=120)
OUTCOMES = ("missing", "corrupt", "unreached", "full", "refused")
ERROR_HEAD = "Command error:"


def read(region: Region) -> Record | None:
    """The command of the task; None if the report quotes no line of it that tells why, or a traceback, which is read as one."""
    said = _error_output(region.lines_after())
    if any(TRACEBACK_HEAD in line.text for line in said):
        return None
    reasons = [line for line in said if says_why(line.text) and is_error_of_tool(line.text.strip())]
    if not reasons:
        return None
    last = reasons[-1]
    return Record(
        kind=TRIGGER.kind,
        first=region.number,
        last=said[-1].number,
        outcome=outcome_of(last.text.strip()),
        weight="strong",
        quote=(last, region.line),
        fields={"exc_message": last.text.strip()[:500]},
    )


def _error_output(below: Sequence[Line]) -> list[Line]:
    """The indented lines of the section of the command's error output."""
    head = next((i for i, line in enumerate(below) if line.text.strip() == ERROR_HEAD), len(below))
    rows = below[head + 1 :]
    end = next((i for i, line in enumerate(rows) if line.text[:1].strip()), len(rows))
    return [line for line in rows[:end] if line.text.strip()]

"""Reads what Nextflow or Snakemake print of a task whose command failed: the last error line of the command tells why, and the
exit status only follows.

  Process `ALIGN (s1)` terminated with an error exit status (1)
Command error:
  cat: reads.fastq: No such file or directory        -> missing
Work dir:
  /scratch/work/25/5070e4

sort: cannot read: reads.tsv: No such file or directory        -> missing
[Mon Nov 30 13:18:18 2026]
Error in rule count:
    shell:
        sort reads.tsv > out.txt
        (one of the commands exited with non-zero exit code; note that snakemake uses bash strict mode!)

The forms: modules/nextflow/src/main/groovy/nextflow/processor/TaskProcessor.groovy; snakemake/executors and logging.
"""

from collections.abc import Sequence
from itertools import takewhile

from forensics.core import lazy
from forensics.model import Line, Region, Trigger
from forensics.readers.base import Record
from forensics.readers.python.quoted_source import TRACEBACK_HEAD
from forensics.readers.tools.failed_command import is_error_of_tool, outcome_of, says_why

TRIGGER = Trigger("failed_task", ("terminated with an error exit status (", "Error in rule "), before=60, after=120)
OUTCOMES = ("missing", "corrupt", "unreached", "full", "refused", "handed_on")
ERROR_HEAD = "Command error:"
RULE_HEAD = lazy.regex(r"^Error in rule \S+:$")
SNAKEMAKE_STAMP = lazy.regex(r"^\[\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}\]$")
OWN_ENDS = (TRACEBACK_HEAD, "Execution halted", "Exception in thread ", "PBS: job killed", "error: *** ")  # read where it stands


def read(region: Region) -> Record | None:
    """The command of the task; None if the report quotes no line of it that tells why, or a traceback, which is read as one."""
    if RULE_HEAD.match(region.text):
        return _of_rule(region)
    if "Error in rule " in region.text:
        return None
    said = _error_output(region.lines_after())
    if any(TRACEBACK_HEAD in line.text for line in said):
        return None
    reasons = [line for line in said if says_why(line.text) and is_error_of_tool(line.text.strip())]
    return _record(reasons[-1], region, region.number, said[-1].number) if reasons else None


def _of_rule(region: Region) -> Record | None:
    """What the command of a rule printed above. What another reader tells of it stands there, and here is only its end."""
    above = [line for line in region.lines_before() if not SNAKEMAKE_STAMP.match(line.text)]
    said = list(takewhile(lambda x: x.text.strip() and x.text[0] not in " \t", reversed(above)))
    rows = list(takewhile(lambda x: not x.text.strip() or x.text[0] in " \t", region.lines_after()))
    last = rows[-1].number if rows else region.number
    if any(mark in line.text for line in said for mark in OWN_ENDS):
        return Record(TRIGGER.kind, region.number, last, "handed_on", "hint", (region.line,))
    reason = next((x for x in said if says_why(x.text) or is_error_of_tool(x.text)), None)
    return _record(reason, region, reason.number, last) if reason else None


def _record(told: Line, region: Region, first: int, last: int) -> Record:
    return Record(
        kind=TRIGGER.kind,
        first=first,
        last=last,
        outcome=outcome_of(told.text.strip()),
        weight="strong",
        quote=(told, region.line),
        fields={"exc_message": told.text.strip()[:500]},
    )


def _error_output(below: Sequence[Line]) -> list[Line]:
    """The indented lines of the section of the command's error output."""
    head = next((i for i, line in enumerate(below) if line.text.strip() == ERROR_HEAD), len(below))
    rows = below[head + 1 :]
    end = next((i for i, line in enumerate(rows) if line.text[:1].strip()), len(rows))
    return [line for line in rows[:end] if line.text.strip()]

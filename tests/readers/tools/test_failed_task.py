"""What Nextflow quotes of a task's command that failed. The form is that of its TaskProcessor."""

from collections.abc import Callable

import pytest

from forensics.model import Report

Analyze = Callable[..., Report]
REPORT = """\
[25/5070e4] Submitted process > ALIGN (s1)
ERROR ~ Error executing process > 'ALIGN (s1)'

Caused by:
  Process `ALIGN (s1)` terminated with an error exit status (1)

Command executed:

  {command}

Command exit status:
  1

Command output:
  (empty)

Command error:
{said}
Work dir:
  /scratch/work/25/5070e4

Tip: you can replicate the issue by changing to the process work dir and entering the command `bash .command.run`
"""


def _log(*said: str, command: str = "sort reads.tsv | cut -f1 > names.txt") -> str:
    return REPORT.format(command=command, said="".join(f"  {line}\n" for line in said))


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("sort: cannot read: reads.tsv: No such file or directory", "data.missing"),
        ("gzip: reads.tsv.gz: not in gzip format", "data.corrupt"),
        ("cp: error writing 'names.txt': No space left on device", "storage.full"),
    ],
)
def test_the_commands_last_error_is_the_cause(analyze: Analyze, said: str, cause: str) -> None:
    first = analyze(run_log=_log("using 4 threads", said)).causes[0]
    assert (first.id, first.evidence[0].text.strip()) == (cause, said)


@pytest.mark.seconds
def test_a_traceback_in_it_is_read_as_one(analyze: Analyze) -> None:
    raised = ("Traceback (most recent call last):", '  File "align.py", line 3, in <module>', "    run()", "KeyError: 's1'")
    first = analyze(run_log=_log("rm: cannot remove 'x': No such file or directory", *raised)).causes[0]
    assert first.id == "code.exception" and "KeyError" in str(first.facts.get("exc_type"))

"""What Nextflow and Snakemake print of a task's command that failed. The first form is that of Nextflow's TaskProcessor, the
second was captured from Snakemake 7."""

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


RULE = """\
[Mon Nov 30 13:18:18 2026]
rule count:
    output: out.txt
    jobid: 1
    reason: Missing output files: out.txt
    resources: tmpdir=/tmp

{said}
[Mon Nov 30 13:18:18 2026]
Error in rule count:
    jobid: 1
    output: out.txt
    shell:
        sort reads.tsv | cut -f1 > out.txt
        (one of the commands exited with non-zero exit code; note that snakemake uses bash strict mode!)


Shutting down, this might take some time.
Exiting because a job execution failed. Look above for error message
"""


@pytest.mark.seconds
def test_what_the_command_of_a_rule_said_is_the_cause(analyze: Analyze) -> None:
    said = "sort: cannot read: reads.tsv: No such file or directory"
    first = analyze(run_log=RULE.format(said=said, output="{output}")).causes[0]
    assert (first.id, first.evidence[0].text.strip()) == ("data.missing", said)
    said = "Error: number of clusters must be smaller than number of samples\nExecution halted"
    first = analyze(run_log=RULE.format(said=said)).causes[0]
    assert (first.id, first.evidence[0].text.strip()) == ("code.exception", said.partition("\n")[0])


@pytest.mark.seconds
def test_a_command_that_the_scheduler_killed_did_not_fail_by_itself(analyze: Analyze) -> None:
    said = (
        "=>> PBS: job killed: walltime 86436 exceeded limit 86400\nWill exit after finishing currently running jobs (scheduler)."
    )
    first = analyze(run_log=RULE.format(said=said)).causes[0]
    assert first.id == "stopped.time_limit" and "PBS" in first.evidence[0].text

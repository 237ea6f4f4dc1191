"""`forensics slurm JOBID`: why a Slurm job ended, from its accounting, its output and its node's logs."""

from typing import Annotated

import typer

from forensics.cli.common import OF_ONE_QUERY, Remember, with_options
from forensics.cli.output import OutputOptions, check_format, finish


@with_options(*OF_ONE_QUERY)
def slurm(
    job: Annotated[str, typer.Argument(metavar="JOBID[.STEP]", help="4711, 4711.0, an array's 4711_2 or 4711, 4711+1.")],
    telling: OutputOptions,
    remember: Remember = None,
) -> None:
    """Say why a Slurm job ended, or why it never started.

    \b
    Examples:
      forensics slurm 4711
      forensics slurm 4711_2 -f markdown -o report.md
      forensics slurm epilog --script > /etc/slurm/epilog.d/forensics    # docs/slurm.md

    Reads the output of sacct and scontrol, the job's own output files, bundles of `forensics run`, and its node's
    logs if they may be read. Exit status: 0 analysed, 2 nothing is known about the job; with --exit-code 1 for a bad end.
    """
    from forensics.adapters.slurm.evidence import answer_about_job
    from forensics.history.remember import remembered

    check_format(telling.form, tracker=telling.tracker)
    found = answer_about_job(job)
    finish(remembered(found.report, remember, accounted=found.accounted), telling, found.sentences)

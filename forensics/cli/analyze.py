"""`forensics analyze PATH...`: one report on all given logs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Baseline, Jobs, Remember, Selection, Signatures, with_options
from forensics.cli.output import OutputOptions, case_name, check_baseline, check_format, finish, open_sources, parse_filter
from forensics.history.remember import remembered

if TYPE_CHECKING:
    from forensics.model import Warning

Paths = Annotated[list[Path], typer.Argument(help="Log files and folders (read recursively); - for standard input.")]


@with_options()
def analyze(
    paths: Paths,
    telling: OutputOptions,
    chosen: Selection,
    baseline: Baseline = None,
    jobs: Jobs = None,
    signatures: Signatures = None,
    remember: Remember = None,
) -> None:
    """Say why the run died, from the logs in PATHS.

    \b
    Examples:
      forensics analyze ./logs
      forensics ./logs                                             # the same
      forensics analyze train.log dmesg.txt -f issue -o issue.md
      forensics analyze ./logs -f brief --tokens 600
      forensics analyze /var/log slurm-4711.out --job 4711 --since -2h
      dmesg -T | forensics analyze - train.log --why

    Exit status: 0 analysed, 2 nothing read or wrong usage; with --exit-code 1 for a crash. Secrets are masked.
    """
    from forensics import pipeline
    from forensics.cli.progress import bar

    check_format(telling.form, telling.why, telling.tracker)
    good, event_filter, noted = check_baseline(baseline), parse_filter(*chosen), list["Warning"]()
    with bar(paths):
        knowledge, sources = pipeline.database(signatures or ()), open_sources(paths, noted.append)
        report = pipeline.analyze(sources, case_name(paths), knowledge, noted, jobs, good, event_filter)
    finish(remembered(report, remember, paths[0] if len(paths) == 1 else None), telling)

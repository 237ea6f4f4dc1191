"""`forensics analyze PATH...`: one report on all given logs."""

import re
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Baseline, Jobs, Remember, Selection, Signatures, with_options
from forensics.cli.output import (
    STDIN,
    OutputOptions,
    case_name,
    check_baseline,
    check_format,
    finish,
    is_piped,
    open_sources,
    parse_filter,
    say,
)
from forensics.core.errors import UsageError
from forensics.history.remember import remembered

if TYPE_CHECKING:
    from forensics.model import Warning

Paths = Annotated[
    list[Path],
    typer.Argument(help="Log files and folders (read recursively); - or a pipe without any: standard input."),
]
SIBLINGS = 3  # chosen by hand: so many runs whose names differ in numbers alone are hardly the logs of one job
NUMBERED = re.compile(r"\d+")


@with_options()
def analyze(
    telling: OutputOptions,
    chosen: Selection,
    baseline: Baseline = None,
    jobs: Jobs = None,
    signatures: Signatures = None,
    remember: Remember = None,
    paths: Paths = [],  # noqa: B006
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

    Exit status: 0 analysed, 2 nothing read or wrong usage; with --exit-code 1 for a bad end. Secrets are masked.
    """
    from forensics import pipeline
    from forensics.cli.progress import bar

    check_format(telling.form, telling.why, telling.tracker)
    if not paths and not is_piped():
        raise UsageError("no PATHS of logs, and no log is piped in", "analyze", "forensics analyze --help")
    paths = paths or [STDIN]
    _hint_at_batch(paths)
    good, event_filter, noted = check_baseline(baseline), parse_filter(*chosen), list["Warning"]()
    with bar(paths):
        knowledge, sources = pipeline.database(signatures or ()), open_sources(paths, noted.append)
        report = pipeline.analyze(sources, case_name(paths), knowledge, noted, jobs, good, event_filter)
    finish(remembered(report, remember, paths[0] if len(paths) == 1 else None), telling)


def _hint_at_batch(paths: list[Path]) -> None:
    """Say so, where names in a folder differ in their numbers alone, as those of several runs do: they are read as one case."""
    if len(paths) > 1 or not paths[0].is_dir():
        return
    from forensics import pipeline

    named = (case[0] for case in pipeline.names_of_cases(paths[0]))
    names = Counter(NUMBERED.sub("", name) for name in named if NUMBERED.search(name))
    alike = max(names.values(), default=0)
    if alike >= SIBLINGS:
        told = f"forensics: {alike} names here that differ only in numbers are read as one case; if each is a separate run:"
        say(f"{told} forensics batch {shlex.quote(str(paths[0]))}")

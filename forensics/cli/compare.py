"""`forensics compare GOOD BAD`: what the bad run says of itself otherwise, and its messages that the good one does not have."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Output, Redact, names_in
from forensics.cli.output import OutputOptions, check_choice, style, write
from forensics.cli.progress import bar

if TYPE_CHECKING:
    from forensics.model import Difference, Warning

DEFAULT_PASSAGES = 30  # chosen by hand: a screen or two


def compare(
    good: Annotated[Path, typer.Argument(help="Log, folder or archive of a good run.")],
    bad: Annotated[Path, typer.Argument(help="The same of the run that failed.")],
    form: Annotated[str, typer.Option("--format", "-f", help="text, markdown or json.")] = "text",
    output: Output = None,
    most: Annotated[int, typer.Option(min=1, help="Passages to show; json has all of them.")] = DEFAULT_PASSAGES,
    redact: Redact = False,
) -> None:
    """Show what differs in the run in BAD: arguments, how far it came, and the messages that the one in GOOD does not have.

    \b
    Examples:
      forensics compare run6.log run7.log
      forensics compare ./runs/6 ./runs/7.tar.gz -f markdown -o difference.md

    \b
    Lines that differ only in numbers, addresses, paths, identifiers and times are the same message;
    prefixes such as timestamps and ranks are ignored. > marks alarming words. Arguments and the like are compared
    where both runs print them; of a log with several attempts the last one counts.
    """
    from forensics.report.difference import DIFFERENCE_FORMATS, render_difference

    check_choice(form, DIFFERENCE_FORMATS)
    found = _compared(good, bad, redact)
    write(render_difference(found, form, most, style(OutputOptions(form, output))), output, masked=True)


def _compared(good: Path, bad: Path, redact: bool) -> "Difference":
    """The difference of the two runs. `redact`: with stand-ins for names."""
    from forensics import pipeline, sources
    from forensics.correlation.stream import spool
    from forensics.pipeline.source_analysis import analyze_sources
    from forensics.report.redaction import mask_secrets
    from forensics.report.redaction.walk import changed

    noted: list[Warning] = []
    kept = [[spool(s) for s in sources.open_paths([path], noted.append)] for path in (good, bad)]
    with bar([good, bad]):
        knowledge = pipeline.database()
        found = pipeline.compare_runs(kept[0], analyze_sources(kept[1], knowledge, lambda _warning: None), knowledge, noted)
    return changed(mask_secrets(found), names_in(chain.from_iterable(kept)).hide) if redact else found

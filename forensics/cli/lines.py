"""`forensics lines PATH...`: some lines of logs, numbered as in reports; also of archives and notebooks."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.output import say, write
from forensics.core.errors import UsageError

if TYPE_CHECKING:
    from forensics.model import Source, Warning

DEFAULT_BEFORE, DEFAULT_AFTER = 10, 20  # chosen by hand: a message continues after its first line more than before it
DEFAULT_MATCHES = 50  # chosen by hand: more are read by nobody
Row = tuple[int, str]


def lines(
    paths: Annotated[list[Path], typer.Argument(help="Log files and folders; - is not read.")],
    around: Annotated[int | None, typer.Option(min=1, help="The line, by its number in the report.")] = None,
    search: Annotated[str, typer.Option(help="Lines with this text, in any case of letters.")] = "",
    before: Annotated[int, typer.Option(min=0, max=1000, help="Lines before it.")] = DEFAULT_BEFORE,
    after: Annotated[int, typer.Option(min=0, max=1000, help="Lines after it.")] = DEFAULT_AFTER,
    most: Annotated[int, typer.Option(min=1, max=1000, help="How many lines with the text at most.")] = DEFAULT_MATCHES,
) -> None:
    """Print the lines around a place that a report names, or those with a text.

    \b
    Examples:
      forensics lines train.log --around 4608
      forensics lines ./logs --search "out of memory"

    The numbers are those of reports, also in archives, compressed files, notebooks and journals. Secrets are masked.
    Exit status: 1 if there is no such line.
    """
    from forensics import sources

    if (around is None) == (not search):
        raise UsageError("one of --around and --search is needed")
    noted: list[Warning] = []
    found = _around(sources.open_paths(paths, noted.append), around, before, after) if around else None
    rows = found if found is not None else _matches(sources.open_paths(paths, noted.append), search, most)
    text = "".join(f"{row}\n" for row in rows)
    for warning in dict.fromkeys(noted):
        say(f"forensics: note: {warning.source}: {warning.message}")
    write(text, None)
    if not text:
        raise typer.Exit(1)


def _around(given: "list[Source]", number: int, before: int, after: int) -> Iterator[str]:
    """The lines around line `number` of each source that has it."""
    for source in given:
        kept: deque[Row] = deque(maxlen=before)
        for line, text in numbered(source):
            if line < number:
                kept.append((line, text))
                continue
            if line > number + after:
                break
            yield from (f"{source.name}:{n}: {earlier}" for n, earlier in kept)
            kept.clear()
            yield f"{source.name}:{line}: {text}"


def _matches(given: "list[Source]", wanted: str, most: int) -> Iterator[str]:
    """The first `most` lines that have the text, and how many more there are."""
    shown, more, folded = 0, 0, wanted.casefold()
    for source in given:
        for line, text in numbered(source):
            if folded in text.casefold():
                shown, more = shown + (shown < most), more + (shown >= most)
                if not more:
                    yield f"{source.name}:{line}: {text}"
    if more:
        yield f"and {more:,} more"


def numbered(source: "Source") -> Iterator[Row]:
    """The lines of a source with their numbers in the original file."""
    from forensics.core.text import last_frame, printable
    from forensics.readers.templates import ignore_warning, whole_lines

    number = 0
    for block in whole_lines(source.blocks(ignore_warning)):
        for raw in block.removesuffix(b"\n").split(b"\n"):
            number += 1
            yield source.number_of(number), printable(last_frame(raw))

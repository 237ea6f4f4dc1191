"""`forensics ranks PATH...`: which rank keeps the others waiting, at which line, and what it does instead."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Jobs, Output
from forensics.cli.output import check_choice, say, write
from forensics.core.errors import SourceError

if TYPE_CHECKING:
    from forensics.model import Warning
    from forensics.model.ranks import RankPicture

DEFAULT_CALLS = 5  # chosen by hand: enough to see where two ranks part
RANK_FORMATS = ("text", "markdown", "html", "json")


def ranks(
    paths: Annotated[list[Path], typer.Argument(help="Dumps of the ranks, and what there is beside them: stacks, logs.")],
    form: Annotated[str, typer.Option("--format", "-f", help="text, markdown, html or json.")] = "text",
    calls: Annotated[int, typer.Option(min=1, max=20, help="Last calls of two ranks to show side by side.")] = DEFAULT_CALLS,
    output: Output = None,
    jobs: Jobs = None,
) -> None:
    """Name the rank that keeps the others waiting, at which line of whose code, and what it does instead.

    \b
    Examples:
      forensics ranks ./fr
      forensics ranks ./bundle -f html -o ranks.html

    \b
    Reads dumps of PyTorch's flight recorder (NCCL, gloo, torchcomms; pickle or JSON), and beside them
    stacks (py-spy, faulthandler) and logs of the same job.
    """
    check_choice(form, RANK_FORMATS)
    seen = _picture(paths, jobs)
    write(_told(seen, form, calls), output)


def _picture(paths: list[Path], jobs: int | None) -> "RankPicture":
    """What the dumps show, and a note for what was not read."""
    from forensics import pipeline, sources
    from forensics.pipeline.placement import awaited_now
    from forensics.pipeline.source_analysis import analyze_sources

    noted: list[Warning] = []
    knowledge = pipeline.database()
    analyses = analyze_sources(sources.open_paths(paths, noted.append), knowledge, noted.append, jobs)
    seen = awaited_now(analyses, {r.name: r.events for r in analyses}, knowledge)
    for warning in dict.fromkeys(noted):
        say(f"forensics: note: {warning.source}: {warning.message}")
    if seen is None:
        advice = "give the folder with the dumps of the flight recorder, or with stacks; docs/torchrun.md says how to get them"
        raise SourceError(
            "no dump of a rank, stacks of fewer than two ranks, and no log that says that a rank ended",
            ", ".join(map(str, paths)),
            advice,
        )
    return seen


def _told(seen: "RankPicture", form: str, calls: int) -> str:
    from forensics.ranks.observation import numbers, reason_and_rival
    from forensics.report import ranks as told

    if form == "json":
        return told.ranks_json(seen)
    if form == "html":
        return told.ranks_html(seen, reason_and_rival, numbers)
    render = told.ranks_markdown if form == "markdown" else told.ranks_text
    return render(seen, calls, reason_and_rival, numbers)

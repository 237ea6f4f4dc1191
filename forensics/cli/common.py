"""Options that several commands have, each defined once.

    @app.command()
    @with_options
    def analyze(paths: Paths, telling: OutputOptions, chosen: Selection) -> None:

has the options --format, --output ... --since ... beside PATHS; `telling` and `chosen` are made of what was given.
"""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from forensics.cli.output import OutputOptions, check_output, check_tracker
from forensics.report.style import BRIEF_TOKENS, ISSUE_CHARS, TRACKERS

FORMAT_NAMES = "text, brief, issue, markdown, html, json, jsonl, csv, sarif, junit or github"
Format = Annotated[str, typer.Option("--format", "-f", help=f"{FORMAT_NAMES}.", metavar="FORMAT")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the result to this file instead of stdout.", callback=check_output)
]
OutputPath = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the result to this file or, where it is several files, folder.")
]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when a crash was found.")]
Redact = Annotated[bool, typer.Option("--redact", help="Replace hosts, users, addresses and job names by stand-ins.")]
RedactReport = Annotated[
    bool | None,
    typer.Option(
        "--redact/--no-redact",
        help="Replace hosts, users, addresses and job names by stand-ins; a brief and an issue have them unless --no-redact.",
    ),
]
RedactMap = Annotated[
    Path | None,
    typer.Option(
        "--redact-map", help="Write which stand-in replaces which name to this file, readable only by you; implies --redact."
    ),
]
MaxChars = Annotated[
    int, typer.Option("--max-chars", min=500, help="Size of a Markdown report; the least important parts are left out to fit.")
]
Tokens = Annotated[int, typer.Option("--tokens", min=200, max=100_000, help="Size of a brief, in tokens of a language model.")]
Tracker = Annotated[
    str, typer.Option("--tracker", help=f"What an issue is written for: {', '.join(TRACKERS)}.", callback=check_tracker)
]
Signatures = Annotated[
    list[Path] | None,
    typer.Option("--signatures", help="A folder of your own cause files, in addition to the built-in ones; repeatable."),
]
Why = Annotated[
    bool,
    typer.Option(
        "--why", help="After the text report, show how much each feature contributed to the first cause and to the second."
    ),
]
Incident = Annotated[int | None, typer.Option("--incident", min=1, help="Show this incident in full instead of the first.")]
EveryIncident = Annotated[bool, typer.Option("--all", help="Show every incident in full, not only the first.")]
Plot = Annotated[Path | None, typer.Option("--plot", help="Draw the timeline to this file, .png, .svg or .pdf.")]
Baseline = Annotated[
    list[Path] | None,
    typer.Option("--baseline", help="Logs of a good run: messages that it has, too, are not unusual; repeatable."),
]
Since = Annotated[
    str | None,
    typer.Option(
        help="Only events from then on: 2026-11-21T10:00+01:00; 2026-11-21 10:00 or 10:00 as the log's own clock shows it;"
        " -2h, before the last time in the logs."
    ),
]
Until = Annotated[str | None, typer.Option(help="Only events up to then.")]
Pid = Annotated[int | None, typer.Option(help="Only events of this process.")]
Job = Annotated[str | None, typer.Option(help="Only events of this Slurm job, Kubernetes pod or container.")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, max=256, help="Threads, or processes for many small files; one per core by default."),
]
Last = Annotated[bool, typer.Option("--last", help="Only the last incident; older ones are not listed.")]


class Selection(NamedTuple):
    """Which events are asked for."""

    since: str | None = None
    until: str | None = None
    pid: int | None = None
    job: str | None = None
    last: bool = False


# A parameter of this type stands for these options: field -> annotation and default.
OPTIONS_OF: dict[type, dict[str, tuple[Any, Any]]] = {
    OutputOptions: {
        "form": (Format, "text"),
        "output": (Output, None),
        "exit_code": (ExitCode, False),
        "redact": (RedactReport, None),
        "redact_map": (RedactMap, None),
        "max_chars": (MaxChars, ISSUE_CHARS),
        "tokens": (Tokens, BRIEF_TOKENS),
        "tracker": (Tracker, TRACKERS[0]),
        "plot": (Plot, None),
        "why": (Why, False),
        "incident": (Incident, None),
        "every_incident": (EveryIncident, False),
    },
    Selection: {
        "since": (Since, None),
        "until": (Until, None),
        "pid": (Pid, None),
        "job": (Job, None),
        "last": (Last, False),
    },
}
OF_ONE_QUERY = ("form", "output", "exit_code", "redact", "tokens", "tracker")  # options of commands that ask a batch system


def with_options(*only: str, **instead: tuple[Any, Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`function` with the options of a group in place of each parameter whose type is one of OPTIONS_OF.

    `only`: the fields of OutputOptions that are options; all by default. `instead`: another annotation and default of a field.
    """

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        parameters: list[inspect.Parameter] = []
        groups: dict[str, tuple[type, list[str]]] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            options = OPTIONS_OF.get(parameter.annotation)
            if options is None:
                parameters.append(parameter)
                continue
            fields = [f for f in options if not only or f in only or parameter.annotation is not OutputOptions]
            groups[name] = parameter.annotation, fields
            for field in fields:
                annotation, default = instead.get(field, options[field])
                parameters.append(
                    inspect.Parameter(field, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
                )

        @functools.wraps(function)
        def command(**given: Any) -> None:
            made = {name: group(**{f: given.pop(f) for f in fields}) for name, (group, fields) in groups.items()}
            function(**given, **made)

        in_order = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        command.__signature__ = inspect.Signature(in_order)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in in_order}
        return command

    return decorated

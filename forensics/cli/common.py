"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from forensics.cli.output import check_output
from forensics.report.style import TRACKERS

Format = Annotated[
    str,
    typer.Option(
        "--format", "-f", help="text, brief, issue, markdown, html, json, jsonl, csv, sarif, junit or github.", metavar="FORMAT"
    ),
]


OutputPath = Annotated[Path | None, typer.Option("--output", "-o", help="Write the report to this file instead of stdout.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the report to this file instead of stdout.", callback=check_output)
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
Tracker = Annotated[str, typer.Option("--tracker", help=f"What an issue is written for: {', '.join(TRACKERS)}.")]
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

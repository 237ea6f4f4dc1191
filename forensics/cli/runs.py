"""`forensics runs`: the captured runs as a table; `runs show|open|remove N`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from forensics.cli.app import Commands
from forensics.cli.common import Format, Output
from forensics.cli.output import OutputOptions, capture_settings, check_choice, check_format, save, say, table_text, write
from forensics.core.errors import UsageError

Run = Annotated[str, typer.Argument(metavar="RUN", help="A number of the list, or the folder of a run.")]
Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="Numbers of the list, or folders of runs.")]
LISTED_RUNS = 20  # chosen by hand: they fit on one screen; --all lists the others


def register(app: typer.Typer) -> None:
    """Add the group of commands; without one of them it lists."""
    group = typer.Typer(cls=Commands, name="runs", rich_markup_mode=None, invoke_without_command=True)
    group.callback()(list_)
    for command in (show, open_, remove_):
        group.command(command.__name__.rstrip("_"))(command)
    app.add_typer(group)


def list_(
    context: typer.Context,
    folder: Annotated[str, typer.Option("--folder", help="Only runs whose working folder is this one or below it.")] = "",
    job: Annotated[str, typer.Option("--job", help="Only runs of this Slurm job, or with this word in their command.")] = "",
    since: Annotated[str, typer.Option("--since", help="Only runs that began after: 2026-11-28, 2d.")] = "",
    until: Annotated[str, typer.Option("--until", help="Only runs that began before this.")] = "",
    every: Annotated[bool, typer.Option("--all", help=f"List all, not only the newest {LISTED_RUNS}.")] = False,
    form: Annotated[str, typer.Option("--format", "-f", help="text, json or csv.")] = "text",
    output: Output = None,
) -> None:
    """List the captured runs: when, which command, how it ended and why. The numbers go with show, open, remove and why.

    \b
    Examples:
      forensics runs
      forensics runs --folder . --since 2d
      forensics runs show 1          # the same as: forensics why 1
      forensics runs open 2          # the report as a page in the browser
      forensics runs remove 3 4
    """
    if context.invoked_subcommand is None:
        capture_settings()
        _list((folder, job, since, until), every, form, output)


def _list(wanted: tuple[str, str, str, str], every: bool, form: str, output: Path | None) -> None:
    from forensics.capture.bundle import state_folder
    from forensics.cli.captured_runs import RUN_COLUMNS, captured_runs, chosen, short_command

    check_choice(form, ("text", "json", "csv"))
    found = chosen(captured_runs(), *wanted)
    shown = found if every or form != "text" else found[:LISTED_RUNS]
    rows = [run.row() | ({"command": short_command(run.command)} if form == "text" else {}) for run in shown]
    if not rows and form == "text":
        why = "no run matches" if any(wanted) else f"no captured run in {state_folder()}"
        say(f"forensics: {why}; forensics run -- COMMAND captures one")
        return
    write(table_text(rows, (*RUN_COLUMNS, *(("folder", "bundle") if form == "csv" else ())), form), output)
    if len(shown) < len(found):
        say(f"{len(found) - len(shown)} older ones are listed with --all")


def show(run: Run, form: Format = "text", output: Output = None) -> None:
    """Show the report of one run, as `forensics why RUN` does."""
    from forensics.cli.captured_runs import named_run
    from forensics.cli.why import show_report

    capture_settings()
    check_format(form)
    show_report(named_run(run), OutputOptions(form, output))


def open_(
    run: Run,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it; otherwise only its path is printed.")] = True,
) -> None:
    """Write the report of one run as a page into its folder, open it in the browser, and print its path."""
    from forensics.cli.captured_runs import is_packed, named_run
    from forensics.cli.why import report_on

    capture_settings()
    bundle = named_run(run)
    page = bundle.with_name(bundle.name + ".html") if is_packed(bundle) else bundle / "report.html"
    save(report_on(bundle, "html", False, False), page)
    print(page)
    if browser and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def remove_(runs: Runs, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False) -> None:
    """Delete the folders of runs; asks first. A run that goes on is never removed."""
    from forensics.capture.bundle import is_running
    from forensics.cli.captured_runs import named_run, remove

    capture_settings()
    bundles = list(dict.fromkeys(named_run(run) for run in runs))
    if going := [b for b in bundles if is_running(str(b))]:
        raise UsageError("this run is still going; nothing is removed", str(going[0]))
    for bundle in bundles:
        say(str(bundle))
    if not yes and not (sys.stdin and sys.stdin.isatty() and typer.confirm(f"Remove {len(bundles)} of them?", err=True)):
        raise UsageError("nothing is removed", advice="--yes removes them without a question")
    for bundle in bundles:
        remove(bundle)

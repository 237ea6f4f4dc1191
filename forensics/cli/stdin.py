"""`dmesg | forensics stdin`: one report on standard input."""

import typer

from forensics.cli.common import ExitCode, Format, Output, check_format, finish
from forensics.model import Warning


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def stdin(form: Format = "text", output: Output = None, exit_code: ExitCode = False) -> None:
        """Say why the run died, from the log on standard input.

        Example: dmesg -T | forensics stdin
        """
        from forensics import pipeline, sources

        check_format(form)
        noted: list[Warning] = []
        given = sources.open_stdin(noted.append)
        finish(pipeline.analyze(given, "stdin", pipeline.database(), noted), form, output, exit_code)

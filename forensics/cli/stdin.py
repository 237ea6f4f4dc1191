"""`dmesg | forensics stdin`: one report on standard input."""

import typer

from forensics.cli.common import ExitCode, Format, Output, check_format, finish


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def stdin(form: Format = "text", output: Output = None, exit_code: ExitCode = False) -> None:
        """Say why the run died, from the log on standard input.

        Example: dmesg -T | forensics stdin
        """
        from forensics import pipeline, sources

        check_format(form)
        finish(pipeline.analyze([sources.open_stdin()], "stdin", pipeline.database()), form, output, exit_code)

"""`forensics analyze PATH...`: one report on everything that was given."""

from pathlib import Path
from typing import Annotated

import typer

from forensics.cli.common import ExitCode, Format, Output, check_format, finish


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def analyze(
        paths: Annotated[list[Path], typer.Argument(help="Log files and folders; folders are read with all below them.")],
        form: Format = "text",
        output: Output = None,
        exit_code: ExitCode = False,
    ) -> None:
        """Say why the run died, from the logs in PATHS.

        Examples: forensics analyze ./logs; forensics analyze train.log dmesg.txt --format markdown -o report.md
        """
        from forensics import pipeline

        check_format(form)
        report = pipeline.analyze_paths(paths, paths[0].resolve().name, pipeline.database())
        finish(report, form, output, exit_code)

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
        from forensics import pipeline, sources
        from forensics.model import Warning

        check_format(form)
        noted: list[Warning] = []
        opened = sources.open_paths(paths, noted.append)
        finish(pipeline.analyze(opened, paths[0].resolve().name, pipeline.database(), noted), form, output, exit_code)

"""`forensics batch FOLDER`: one report for each sub-folder, in order of name."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from forensics.cli.common import ExitCode, Format, Output, check_format, write
from forensics.errors import SourceError, UsageError


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def batch(
        folder: Annotated[Path, typer.Argument(help="Each sub-folder is a case; files directly in it are none.")],
        form: Format = "jsonl",
        output: Output = None,
        exit_code: ExitCode = False,
    ) -> None:
        """Analyse each sub-folder of FOLDER as a case of its own.

        Example: forensics batch ./incidents --format jsonl > reports.jsonl
        """
        from forensics import pipeline
        from forensics.report import render

        check_format(form)
        if not folder.is_dir():
            raise UsageError("no such folder", str(folder))
        if not any(p.is_dir() for p in folder.iterdir()):
            raise SourceError("no sub-folders, so no cases", str(folder), "use `forensics analyze` for one case")
        texts: list[str] = []
        crashed = False
        for report in pipeline.analyze_folders(folder, pipeline.database()):
            crashed = crashed or report.verdict == "crash"
            print(f"{report.case}: {report.causes[0].id}", file=sys.stderr)
            if output is None:
                write(render(report, form), None)
            else:
                texts.append(render(report, form))
        if output is not None:
            write("".join(texts), output)
        if exit_code and crashed:
            raise typer.Exit(1)

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
        from forensics import pipeline, sources
        from forensics.model import Source, Warning
        from forensics.report import render

        check_format(form)
        if not folder.is_dir():
            raise UsageError("no such folder", str(folder))
        cases = sorted(p for p in folder.iterdir() if p.is_dir())
        if not cases:
            raise SourceError("no sub-folders, so no cases", str(folder), "use `forensics analyze` for one case")
        knowledge = pipeline.database()
        texts: list[str] = []
        crashed = False
        for case in cases:
            noted: list[Warning] = []
            opened: list[Source] = []
            try:
                opened = sources.open_paths([case], noted.append)
            except SourceError as error:
                noted.append(Warning("unreadable", str(error), case.name))
            report = pipeline.analyze(opened, case.name, knowledge, noted)
            crashed = crashed or report.verdict == "crash"
            text = render(report, form)
            if output is None:
                write(text, None)
            else:
                texts.append(text)
            print(f"{case.name}: {report.causes[0].id}", file=sys.stderr)
        if output is not None:
            write("".join(texts), output)
        if exit_code and crashed:
            raise typer.Exit(1)

"""What commands share: the options of the report and writing it out."""

import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from forensics.errors import UsageError
from forensics.model import Report

Format = Annotated[str, typer.Option("--format", "-f", help="text, markdown, json or jsonl.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write the report to this file instead of stdout.")]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when a crash was found.")]


def check_format(form: str) -> str:
    """`form` when it is a format; raises UsageError that lists them otherwise."""
    from forensics.report import formats

    if form not in formats():
        raise UsageError(f"unknown format {form!r}", advice=f"choose one of {', '.join(formats())}")
    return form


def write(text: str, output: Path | None) -> None:
    """The report to stdout or, whole or not at all, to `output`; raises UsageError when that cannot be written."""
    if output is None:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.flush()
        return
    try:
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=".forensics-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "replace"))
            Path(name).chmod(0o644)
            Path(name).replace(output)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        raise UsageError(f"the report could not be written there ({error.strerror}) and went to stdout", str(output)) from error


def finish(report: Report, form: str, output: Path | None, exit_code: bool) -> None:
    """Write the report and leave with the status that was asked for."""
    from forensics.report import render

    write(render(report, form), output)
    if exit_code and report.verdict == "crash":
        raise typer.Exit(1)

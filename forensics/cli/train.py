"""`forensics dev train CORPUS... -o FILE`: train the weights of the classifier on your own labelled incidents."""

from pathlib import Path
from typing import Annotated

import typer

from forensics.cli.common import Signatures
from forensics.core.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def train(
        corpora: Annotated[
            list[Path], typer.Argument(help="Folders with labels.jsonl and a sub-folder per case, or of sample logs.")
        ],
        output: Annotated[Path, typer.Option("--output", "-o", help="Write the weights to this file.")],
        folds: Annotated[int, typer.Option(min=2, help="Number of folds for out-of-fold predictions.")] = 5,
        emphasised: Annotated[
            list[str] | None, typer.Option("--emphasis", help="NAME=FACTOR: how much more the cases of a corpus count.")
        ] = None,
        signatures: Signatures = None,
    ) -> None:
        """Train the weights of evidence and words on the labelled incidents in CORPORA and the signatures' examples.

        \b
        A line of labels.jsonl: {"id": "c1", "primary": "storage.full", "accept": [], "source": "ticket 17"}
        Example:
          forensics dev train ./incidents -o my.weights
          forensics dev train ./read ./by_script --emphasis read=2.5 -o my.weights
          FORENSICS_MODEL=my.weights forensics analyze ./job.log
        """
        if not output.parent.is_dir():
            raise UsageError("no such folder to write to", str(output.parent))
        from forensics import pipeline
        from forensics.decision.model import model_to_bytes
        from forensics.train import fit
        from forensics.train.cases import read_corpora

        emphasis = dict(map(_factor, emphasised or ()))
        knowledge = pipeline.database(signatures or ())
        cases = read_corpora(corpora, knowledge)
        typer.echo(f"{len(cases)} cases read; learning takes a minute or two", err=True)
        made = model_to_bytes(fit.train(cases, knowledge, folds, emphasis))
        try:
            output.write_bytes(made)
        except OSError as error:
            raise UsageError(f"cannot be written ({error.strerror})", str(output)) from error
        typer.echo(f"{len(made)} bytes written to {output}", err=True)


def _factor(text: str) -> tuple[str, float]:
    """Name and number of `read=2.5`; raises UsageError for other text."""
    name, _, number = text.partition("=")
    try:
        factor = float(number)
    except ValueError:
        factor = 0.0
    if not name or not 0 < factor <= 100:
        raise UsageError(f"--emphasis {text!r} is not NAME=FACTOR", advice="as in --emphasis incidents=2.5")
    return name, factor

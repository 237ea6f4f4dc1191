"""`forensics dev rates CORPUS...`: in which labelled incidents each signature fires."""

from pathlib import Path
from typing import Annotated

import typer

from forensics.cli.common import Signatures
from forensics.cli.output import save, write
from forensics.core.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def rates(
        corpora: Annotated[
            list[Path], typer.Argument(help="Folders with labels.jsonl and a sub-folder per case, or of sample logs.")
        ],
        output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the table to this file.")] = None,
        signatures: Signatures = None,
    ) -> None:
        """Count in which labelled incidents each signature fires: healthy ones, ones of its cause, ones of other causes.

        The table has the form of signatures/rates.csv: counts, weighted so that no origin counts as more than a few logs, and
        the log odds that follow from them.

        Example: forensics dev rates ./incidents -o signatures/rates.csv
        """
        from forensics import pipeline
        from forensics.train import outcome_fit
        from forensics.train.cases import read_corpora
        from forensics.train.rates import count_firings

        cases = read_corpora(corpora, pipeline.database(signatures or ()))
        if not cases:
            raise UsageError("no case in it", str(corpora[0]))
        table = count_firings(cases, outcome_fit.case_weights(cases)).csv()
        if output is None:
            write(table, None)
        else:
            save(table, output)

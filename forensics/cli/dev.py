"""`forensics dev train|evaluate|rates`: for those who change the answers: learn weights, measure how often they are right."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.app import Commands
from forensics.cli.common import Signatures
from forensics.cli.output import save, write
from forensics.core.errors import UsageError

if TYPE_CHECKING:
    from forensics.database import Database
    from forensics.train.cases import Case
    from forensics.train.measure import Prediction


def add_train(app: typer.Typer) -> None:
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
        from forensics.train import fit
        from forensics.train.cases import read_corpora
        from forensics.train.model_file import model_to_bytes

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


def add_rates(app: typer.Typer) -> None:
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


Corpora = Annotated[list[Path], typer.Argument(help="Folders with labels.jsonl and a sub-folder per case, or of sample logs.")]


def add_evaluate(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def evaluate(
        corpora: Corpora,
        misses: Annotated[bool, typer.Option("--misses", help="Show each wrong answer and the features that caused it.")] = False,
        folds: Annotated[int, typer.Option(help="Cross-validate with so many folds: train on all others, test on one.")] = 0,
        signatures: Signatures = None,
    ) -> None:
        """Compare the answers on the cases in CORPORA with their labels, and with a simple rival.

        The rival takes the last line that looks like an error and reads it by a small table. With --folds 5 each case is
        answered by weights and rates that were learned without any case of its origin.

        \b
        healthy, failed   cases of either label
        alarm, crash      healthy ones with another answer, and with the answer crash; >=0.8: alarms of 0.8 or more
        missed            failed ones with the answer healthy
        top1, top3, hard  shares of failed ones whose cause is named first, among the first three, and first of hard ones
        evidence          share of right answers that show a labelled line
        ece, brier        calibration of the probabilities; wrong>=.95: wrong answers with 0.95 or more
        """
        from forensics import pipeline
        from forensics.train.cases import read_corpora

        if folds == 1 or folds < 0:
            raise UsageError("--folds needs two parts or more")
        knowledge = pipeline.database(signatures or ())
        cases = read_corpora(corpora, knowledge)
        if not cases:
            raise UsageError("no case in it", str(corpora[0]))
        write(evaluation_tables(answers_of(cases, knowledge, folds), misses), None)


def answers_of(cases: "Sequence[Case]", knowledge: "Database", folds: int) -> "list[Prediction]":
    """The answer for each case: by the current model, or with `folds` by models that were trained without its origin."""
    from forensics.decision.model import active_model
    from forensics.decision.structure import precedence_of
    from forensics.train import fit
    from forensics.train.measure import predict
    from forensics.train.rows import rates_without

    rules = precedence_of(knowledge)
    if folds:
        blind = zip(cases, fit.cross_validated(cases, knowledge, folds), rates_without(cases), strict=True)
        return [predict(case, model, rules, knowledge, rates) for case, model, rates in blind]
    model, amiss = active_model()
    if amiss:
        raise UsageError(amiss, advice="make one with forensics dev train, or use --folds 5")
    return [predict(case, model, rules, knowledge) for case in cases]


def evaluation_tables(answers: "Sequence[Prediction]", misses: bool) -> str:
    """The tables: of the decision, of the rival, the calibration, and with `misses` the wrong answers."""
    from forensics.train import measure
    from forensics.train.measure import by_rival, lines_of

    rival = [by_rival(a.case, lines_of(a.case.question.lanes)) for a in answers]
    parts = [
        "The decision",
        measure.measures_table(answers),
        "",
        "The rival: the last line that looks like an error",
        measure.measures_table(rival),
        "",
        "probability   right  cases",
        *(f"{said:11.3f} {right:7.3f} {count:6d}" for count, said, right in measure.reliability_bins(answers)),
    ]
    if misses:
        parts += ["", "Wrong answers", measure.misses_text(answers) or "none"]
    return "\n".join(parts) + "\n"


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        rich_markup_mode=None,
        help="For developers: train weights, measure answers, count firings, on labelled incidents.",
    )
    for add in (add_train, add_evaluate, add_rates):
        add(group)
    app.add_typer(group, name="dev")

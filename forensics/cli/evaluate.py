"""`forensics dev evaluate CORPUS...`: how often answers on labelled incidents are right, and how well probabilities are
calibrated."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Signatures
from forensics.cli.output import write
from forensics.core.errors import UsageError

if TYPE_CHECKING:
    from forensics.database import Database
    from forensics.train.cases import Case
    from forensics.train.measure import Prediction

Corpora = Annotated[list[Path], typer.Argument(help="Folders with labels.jsonl and a sub-folder per case, or of sample logs.")]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def evaluate(
        corpora: Corpora,
        misses: Annotated[bool, typer.Option("--misses", help="Show each wrong answer and the features that caused it.")] = False,
        folds: Annotated[int, typer.Option(help="Cross-validate with so many folds: train on all others, test on one.")] = 0,
        pictures: Annotated[Path | None, typer.Option(help="Draw confusion.png and reliability.png into this folder.")] = None,
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

        if pictures and not pictures.is_dir():
            raise UsageError("no such folder to draw into", str(pictures))
        if folds == 1 or folds < 0:
            raise UsageError("--folds needs two parts or more")
        knowledge = pipeline.database(signatures or ())
        cases = read_corpora(corpora, knowledge)
        if not cases:
            raise UsageError("no case in it", str(corpora[0]))
        answers = answers_of(cases, knowledge, folds)
        if pictures:
            draw_pictures(answers, pictures)
        write(evaluation_tables(answers, misses), None)


def answers_of(cases: "Sequence[Case]", knowledge: "Database", folds: int) -> "list[Prediction]":
    """The answer for each case: by the current model, or with `folds` by models that were trained without its origin."""
    from forensics.decision.model import active_model
    from forensics.decision.precedence import precedence_of
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


def draw_pictures(answers: "Sequence[Prediction]", folder: Path) -> None:
    """Both pictures into `folder`."""
    from forensics.train import pictures

    pictures.confusion_matrix(answers, folder / "confusion.png")
    pictures.reliability_curve({"decision": answers}, folder / "reliability.png")


def evaluation_tables(answers: "Sequence[Prediction]", misses: bool) -> str:
    """The tables: of the decision, of the rival, the calibration, and with `misses` the wrong answers."""
    from forensics.train import measure
    from forensics.train.rival import by_rival, lines_of

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

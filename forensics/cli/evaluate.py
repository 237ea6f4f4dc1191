"""`forensics evaluate CORPUS...`: how often answers on labelled incidents are right, and if probabilities are true."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forensics.cli.common import Signatures, write
from forensics.errors import UsageError

if TYPE_CHECKING:
    from forensics.database import Database
    from forensics.train.cases import Case
    from forensics.train.measure import Answer


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def evaluate(
        corpora: Annotated[
            list[Path], typer.Argument(help="Folders with labels.jsonl and a sub-folder a case, or of sample logs.")
        ],
        pictures: Annotated[Path | None, typer.Option(help="Draw confusion.png and reliability.png into this folder.")] = None,
        folds: Annotated[int, typer.Option(help="Learn anew from all but one of so many parts, and ask about the rest.")] = 0,
        signatures: Signatures = None,
    ) -> None:
        """Compare what is said of the cases in CORPORA with their labels: by formula, by words alone, and by the whole.

        With --folds 5 each case is answered by weights that were learned without any case of its source. The last table
        answers each case as if no signature knew its cause.
        """
        from forensics import pipeline
        from forensics.train.cases import read_corpora

        if folds:
            from forensics.cli.train import needs_learner

            needs_learner()
        if pictures and not pictures.is_dir():
            raise UsageError("no such folder to draw into", str(pictures))
        knowledge = pipeline.database(signatures or ())
        cases = read_corpora(corpora, knowledge)
        if not cases:
            raise UsageError("no case in it", str(corpora[0]))
        write(told(cases, knowledge, folds, pictures), None)


def told(cases: "Sequence[Case]", knowledge: "Database", folds: int, pictures: Path | None) -> str:
    """All tables, and the pictures where `pictures` is a folder."""
    from forensics.diagnose.model import chosen
    from forensics.train import fit
    from forensics.train.cases import without_its_cause
    from forensics.train.measure import by_formula, by_model, by_words

    model, amiss = (None, "") if folds else chosen()  # what is learned anew needs no weights that fit
    models = fit.cross_validated(cases, knowledge, folds) if folds else [model] * len(cases)
    if amiss or not all(models):
        raise UsageError(amiss or "there is no trained model", advice="make one with forensics train, or use --folds 5")
    sure = [(c, m) for c, m in zip(cases, models, strict=True) if m]
    blind = [(without_its_cause(c), m) for c, m in sure if not c.healthy]
    whole = [by_model(c, knowledge, m) for c, m in sure]
    parts = [
        ("whole", whole),
        ("without model (plain formula)", [by_formula(c, knowledge) for c in cases]),
        ("without signatures (words alone)", [by_words(c, m) for c, m in sure]),
        ("own cause unknown to signatures", [by_model(c, knowledge, m) for c, m in blind]),
        ("  the same, plain formula", [by_formula(c, knowledge) for c, _ in blind]),
    ]
    if pictures:
        from forensics.train import pictures as draw

        draw.confusion(whole, pictures / "confusion.png")
        draw.reliability_curve(dict(parts[:2]), pictures / "reliability.png")
    return (
        "\n".join([*_causes(whole), "", *_bins(whole), "", *(line for name, a in parts if a for line in _line(name, a))]) + "\n"
    )


def _causes(answers: "Sequence[Answer]") -> list[str]:
    from forensics.train.measure import by_cause

    rows = [f"{c:32s} {n:5d} {_number(p)} {_number(r)}" for c, (n, p, r) in by_cause(answers).items()]
    return [f"{'cause':32s} cases precision recall", *rows]


def _bins(answers: "Sequence[Answer]") -> list[str]:
    from forensics.train.measure import reliability

    rows = [f"{said:11.3f} {right:7.3f} {count:6d}" for count, said, right in reliability(answers)]
    return ["probability   right  cases", *rows]


def _line(name: str, answers: "Sequence[Answer]") -> list[str]:
    from forensics.train.measure import measure

    return [f"{name}:", f"  {measure(answers)}"]


def _number(share: float) -> str:
    return "     -" if share != share else f"{share:6.2f}"

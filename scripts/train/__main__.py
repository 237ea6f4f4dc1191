"""Learn weights, measure how often they are right, count firings, on labelled incidents: python -m scripts.train COMMAND

    python -m scripts.train learn ./incidents -o my.weights
    python -m scripts.train learn ./read ./by_script --emphasis read=2.5 -o my.weights
    python -m scripts.train evaluate ./incidents --folds 5
    python -m scripts.train rates ./incidents -o signatures/rates.csv

A corpus is a folder with labels.jsonl and a sub-folder for each case, or of sample logs. A line of labels.jsonl:

    {"id": "c1", "primary": "storage.full", "accept": [], "source": "ticket 17"}
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from forensics import pipeline
from forensics.core.errors import ForensicsError, UsageError
from forensics.database import Database
from forensics.decision.model import active_model
from forensics.decision.structure import precedence_of
from scripts.train import fit, measure, outcome_fit
from scripts.train.cases import Case, read_corpora
from scripts.train.measure import Prediction, by_rival, lines_of, predict
from scripts.train.model_file import model_to_bytes
from scripts.train.rates import count_firings
from scripts.train.rows import rates_without

MAX_EMPHASIS = 100.0  # chosen by hand: no set counts more than all others together, as far as was tried


def learn(given: argparse.Namespace) -> None:
    """Train the weights of evidence and words on the labelled incidents and the signatures' examples.

    FORENSICS_MODEL=my.weights forensics analyze job.log answers with them.
    """
    if not given.output.parent.is_dir():
        raise UsageError("no such folder to write to", str(given.output.parent))
    emphasis = dict(map(_factor, given.emphasis))
    knowledge = pipeline.database()
    cases = read_corpora(given.corpora, knowledge)
    print(f"{len(cases)} cases read; learning takes a minute or two", file=sys.stderr)
    made = model_to_bytes(fit.train(cases, knowledge, given.folds or 5, emphasis))
    given.output.write_bytes(made)
    print(f"{len(made)} bytes written to {given.output}", file=sys.stderr)


def _factor(text: str) -> tuple[str, float]:
    """Name and number of `read=2.5`; raises UsageError for other text."""
    name, _, number = text.partition("=")
    try:
        factor = float(number)
    except ValueError:
        factor = 0.0
    if not name or not 0 < factor <= MAX_EMPHASIS:
        raise UsageError(f"--emphasis {text!r} is not NAME=FACTOR", advice="as in --emphasis incidents=2.5")
    return name, factor


def rates(given: argparse.Namespace) -> None:
    """Count in which labelled incidents each signature fires: healthy ones, ones of its cause, ones of other causes.

    The table has the form of signatures/rates.csv: counts, weighted so that no origin counts as more than a few logs, and the
    log odds that follow from them.
    """
    cases = _cases(given.corpora, pipeline.database())
    table = count_firings(cases, outcome_fit.case_weights(cases)).csv()
    if given.output is None:
        print(table, end="")
    else:
        given.output.write_text(table, encoding="utf-8")


def evaluate(given: argparse.Namespace) -> None:
    """Compare the answers on the cases with their labels, and with a simple rival.

    The rival takes the last line that looks like an error and reads it by a small table. With --folds 5 each case is answered
    by weights and rates that were learned without any case of its origin.

    healthy, failed   cases of either label
    alarm, crash      healthy ones with another answer, and with the answer crash; >=0.8: alarms of 0.8 or more
    missed            failed ones with the answer healthy
    top1, top3, hard  shares of failed ones whose cause is named first, among the first three, and first of hard ones
    evidence          share of right answers that show a labelled line
    ece, brier        calibration of the probabilities; wrong>=.95: wrong answers with 0.95 or more
    """
    knowledge = pipeline.database()
    answers = answers_of(_cases(given.corpora, knowledge), knowledge, given.folds)
    print(evaluation_tables(answers, given.misses))


def _cases(corpora: Sequence[Path], knowledge: Database) -> list[Case]:
    """The cases of all corpora; raises UsageError if there is none."""
    cases = read_corpora(corpora, knowledge)
    if not cases:
        raise UsageError("no case in it", str(corpora[0]))
    return cases


def answers_of(cases: Sequence[Case], knowledge: Database, folds: int) -> list[Prediction]:
    """The answer for each case: by the current model, or with `folds` by models that were trained without its origin."""
    rules = precedence_of(knowledge)
    if folds:
        blind = zip(cases, fit.cross_validated(cases, knowledge, folds), rates_without(cases), strict=True)
        return [predict(case, model, rules, knowledge, own_rates) for case, model, own_rates in blind]
    model, amiss = active_model()
    if amiss:
        raise UsageError(amiss, advice="make one with python -m scripts.train learn, or use --folds 5")
    return [predict(case, model, rules, knowledge) for case in cases]


def evaluation_tables(answers: Sequence[Prediction], misses: bool) -> str:
    """The tables: of the decision, of the rival, the calibration, and with `misses` the wrong answers."""
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
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the arguments say; an error is one line and the exit status 2."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m scripts.train", description=__doc__, formatter_class=form)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for does in (learn, evaluate, rates):
        also = ["train"] if does is learn else []
        command = commands.add_parser(does.__name__, aliases=also, description=does.__doc__, formatter_class=form)
        command.add_argument("corpora", type=Path, nargs="+", metavar="CORPUS")
        command.set_defaults(does=does)
        if does is not evaluate:
            command.add_argument("-o", "--output", type=Path, required=does is learn, help="write to this file")
        if does is not rates:
            command.add_argument("--folds", type=int, default=0, help="train so many times on all parts of the cases but one")
        if does is learn:
            command.add_argument("--emphasis", action="append", default=[], metavar="NAME=FACTOR", help="cases of a corpus count")
        if does is evaluate:
            command.add_argument("--misses", action="store_true", help="show each wrong answer and the features that caused it")
    given = parser.parse_args(arguments)
    try:
        if getattr(given, "folds", 0) == 1:
            raise UsageError("--folds needs two parts or more")
        given.does(given)
    except (ForensicsError, OSError) as error:
        sys.exit(_told(error))


def _told(error: Exception) -> int:
    print(f"python -m scripts.train: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()

"""Make the weights of the decision from feature rows: python -m scripts.retrain [-o FILE] [--check | --outcome | --rows CORPUS]

    python -m scripts.retrain                     benchmarks/rows.xz, outcome.weights -> forensics/decision/model.weights
    python -m scripts.retrain --outcome -o MINE   the same, with the outcome learned from the rows as well
    python -m scripts.retrain --check             are these the shipped weights? if not, 1 is the exit status
    python -m scripts.retrain --rows CORPUS...    the rows of these labelled logs anew, those of all other origins as they are

The rows hold numbers and words of the vocabulary, and no text of a log (scripts/train/rows.py). The text model, the lines and
the ranker are learned from them, the ranker's weights towards scripts/train/prior.csv. The outcome - trees and words of an
ending - is that of benchmarks/outcome.weights, learned from 8,639 logs: the rows hold the 3,707 that can be had again, and trees
of these alone overlook more failures (docs/model-card.md). Each processor and each version of numpy and scipy makes the same
bytes: the regressions are solved to more digits than are stored, and the trees are grown by sums of whole numbers. (Stopping as
scikit-learn does by default gave other weights on each processor: its sums are in another order.)

After a change of readers or signatures the rows of all logs at hand are made anew, and then the weights:

    python -m scripts.lay_out_corpus MIRRORS LAID      the public logs, of repositories that were fetched
    python -m scripts.retrain --rows sample_logs CORPORA/{dev,calibration,healthy,failed,captures} LAID/{unseen_9,unseen_10}
    python -m scripts.retrain

A set that is to measure the weights is not given. The folder of a set has its name, by which EMPHASIS weighs its cases.
"""

import argparse
import json
import sys
import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from forensics import pipeline
from forensics.decision.model import BUILT_IN, read_model
from scripts.row_file import rows_from_bytes, rows_to_bytes
from scripts.train import fit
from scripts.train.cases import Case, read_corpora
from scripts.train.model_file import model_to_bytes
from scripts.train.rows import with_new_rows

ROWS = Path(__file__).parents[1] / "benchmarks" / "rows.xz"
OUTCOME = ROWS.with_name("outcome.weights")
FOLDS = 3  # in which text models are learned without a case's origin: each takes seconds
MAX_CASES_PER_ORIGIN = 36  # all together weigh as a third of them (outcome_fit.MAX_ORIGIN_WEIGHT): more add little but bytes
# How much more the cases of a set count than those that a script labelled: people read them, or caused them on purpose.
EMPHASIS = {
    **dict.fromkeys(("healthy", "failed", "captures", "sample_logs", "own_runs", "own_healthy", "own_failed"), 2.5),
    **dict.fromkeys(("dev", "calibration"), 2.0),
    **dict.fromkeys(("extra", *(f"unseen{n}" for n in ("", "_2", "_3", "_4", "_5a", "_5b", "_6a", "_6b", "_7a", "_7b"))), 1.3),
    **dict.fromkeys(("unseen_8", "unseen_9", "unseen_10"), 1.3),
}


def some_of_each_origin(cases: Sequence[Case]) -> list[Case]:
    """All cases that people read or caused, and an even sample of those of an origin that has more than MAX_CASES_PER_ORIGIN."""
    of_origin: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        of_origin[case.id if case.corpus in EMPHASIS else case.source].append(case)
    kept = {id(c) for own in of_origin.values() for c in own[:: -(-len(own) // MAX_CASES_PER_ORIGIN)]}
    return [c for c in cases if id(c) in kept]


def make_rows(corpora: Sequence[Path]) -> None:
    """Write the rows of the labelled logs in `corpora` anew."""
    knowledge = pipeline.database()
    cases = some_of_each_origin(read_corpora(corpora, knowledge))
    rows = with_new_rows(rows_from_bytes(ROWS.read_bytes()), cases, knowledge, EMPHASIS)
    data = rows_to_bytes(rows)
    ROWS.write_bytes(data)
    print(f"{len(cases)} of {len(rows.cases)} cases anew, {len(data)} bytes")


def numbers_of(weights: bytes) -> tuple[object, bytes]:
    """What stands in a file of weights, before it was compressed: another zlib may make other bytes of it."""
    head, _, body = weights.partition(b"\n")
    return {**json.loads(head), "sha256": ""}, zlib.decompress(body)


def main() -> None:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=BUILT_IN, help="write the weights to this file")
    parser.add_argument("--check", action="store_true", help="write nothing; tell whether the file has these weights")
    parser.add_argument("--outcome", action="store_true", help="learn the outcome from the rows, too")
    parser.add_argument("--rows", type=Path, nargs="+", metavar="CORPUS", help="make rows anew, and no weights")
    given = parser.parse_args()
    if given.rows:
        make_rows(given.rows)
        return
    kept = None if given.outcome else read_model(OUTCOME)
    made = model_to_bytes(fit.learn(rows_from_bytes(ROWS.read_bytes()), FOLDS, kept))
    if not given.check:
        given.output.write_bytes(made)
    elif numbers_of(made) != numbers_of(given.output.read_bytes()):
        sys.exit(f"{given.output.name} is not what {ROWS.name} and {OUTCOME.name} teach: python -m scripts.retrain")


if __name__ == "__main__":
    main()

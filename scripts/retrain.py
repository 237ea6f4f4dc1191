"""Make weights of the decision from feature rows: python -m scripts.retrain -o FILE [--outcome]

    python -m scripts.retrain -o my.weights       benchmarks/rows.xz -> my.weights
    python -m scripts.retrain --rows CORPUS...    make the rows anew from labelled logs

The rows hold numbers and words of the vocabulary, and no text of a log (forensics/train/rows.py). Learned from them are the text
model, the lines that decide and the ranker (towards forensics/train/prior.csv). The trees of the outcome and the words of the end
are those of model.weights, which were learned from 8,639 logs; the rows hold the 3,489 that could be had again, and the trees of
these alone raise more alarms. `--outcome` learns these parts, too. Shipped weights are not made here: of 1,202 logs those made
here answer as many rightly, but a few in another way.

Libraries choose among kernels by the processor and by the number of cores, and sums in another order are other sums: both are
fixed before they are loaded, for processors of the x86-64 kind with AVX2.
"""

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from forensics import pipeline
from forensics.decision.model import BUILT_IN, model_to_bytes, read_model
from forensics.train import fit
from forensics.train.cases import Case, read_corpora
from forensics.train.row_file import rows_from_bytes, rows_to_bytes
from forensics.train.rows import rows_of

ROWS = Path(__file__).parents[1] / "benchmarks" / "rows.xz"
FOLDS = 3  # in which text models are learned without a case's origin: each takes seconds
MAX_CASES_PER_ORIGIN = 36  # all together weigh as a third of them (outcome_fit.MAX_ORIGIN_WEIGHT): more add little but bytes
# How much more the cases of a set count than those that a script labelled: people read them, or caused them on purpose.
EMPHASIS = {
    **dict.fromkeys(("healthy", "failed", "captures", "sample_logs", "own_runs", "own_healthy", "own_failed"), 2.5),
    **dict.fromkeys(("dev", "calibration"), 2.0),
    **dict.fromkeys(("extra", *(f"unseen{n}" for n in ("", "_2", "_3", "_4", "_5a", "_5b", "_6a", "_6b", "_7a", "_7b"))), 1.3),
    **dict.fromkeys(("unseen_8", "unseen_9", "unseen_10"), 1.3),
}
# The kernels of OpenBLAS and numpy, and one thread: sums in another order are other sums.
SAME_EVERYWHERE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
}


def some_of_each_origin(cases: Sequence[Case]) -> list[Case]:
    """All cases that people read or caused, and an even sample of those of an origin that has more than MAX_CASES_PER_ORIGIN."""
    of_origin: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        of_origin[case.id if case.corpus in EMPHASIS else case.source].append(case)
    kept = {id(c) for own in of_origin.values() for c in own[:: -(-len(own) // MAX_CASES_PER_ORIGIN)]}
    return [c for c in cases if id(c) in kept]


def make_rows(corpora: Sequence[Path]) -> None:
    """Write the rows of the labelled logs in `corpora`."""
    knowledge = pipeline.database()
    cases = some_of_each_origin(read_corpora(corpora, knowledge))
    data = rows_to_bytes(rows_of(cases, knowledge, EMPHASIS))
    ROWS.write_bytes(data)
    print(f"{len(cases)} cases, {len(data)} bytes")


def main() -> None:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, help="write the weights to this file")
    parser.add_argument("--rows", type=Path, nargs="+", metavar="CORPUS", help="make the rows anew, and no weights")
    parser.add_argument("--outcome", action="store_true", help="learn the outcome from the rows, too")
    given = parser.parse_args()
    if given.rows:
        make_rows(given.rows)
        return
    if not given.output:
        parser.error("-o FILE or --rows CORPUS... is needed")
    if any(os.environ.get(name) != value for name, value in SAME_EVERYWHERE.items()):
        os.execve(sys.executable, [sys.executable, "-m", "scripts.retrain", *sys.argv[1:]], {**os.environ, **SAME_EVERYWHERE})
    rows, kept = rows_from_bytes(ROWS.read_bytes()), None if given.outcome else read_model(BUILT_IN)
    made = model_to_bytes(fit.learn(rows, FOLDS, kept))
    given.output.write_bytes(made)


if __name__ == "__main__":
    main()

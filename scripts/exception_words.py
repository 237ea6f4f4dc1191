"""Learns which cause the words of an exception's message name, and writes signatures/tables/exception_words.csv.

    python -m scripts.exception_words            learns from signatures/tables/exception_messages.csv and the signatures' examples
    python -m scripts.exception_words --folds    says how often it is right of the packages that it did not learn from

benchmarks/producers.py leaves these messages out of what it draws. `labelled`: `read` by a person or model that saw the
message alone, or sorted by a `rule` for a few plain words, which is right in four of five and counts little. A row added to the
table counts with the next run.
"""

import argparse
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from msgspec import Struct

from forensics.database import builtin_folder
from forensics.readers.python.exception_words import INTERCEPT, likeliest, stems_of

TABLES = builtin_folder() / "tables"
MESSAGES, WEIGHTS = TABLES / "exception_messages.csv", TABLES / "exception_words.csv"
FINAL_LINE = re.compile(r"\b((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Iteration|Interrupt|NotFound)): (.*)")
WORTH = {"read": 1.0, "rule": 0.3, "example": 0.3}
LEAST_MESSAGES = 2  # that a word must stand in
INVERSE_PENALTY = 2.0  # scikit-learn's C
FOLDS = 8


class Row(Struct, frozen=True):
    """A message: the class of the exception, its text, the cause, where it comes from, and how it was labelled."""

    exception: str
    text: str
    cause: str
    package: str
    labelled: str


def main() -> None:
    """Learn and write, or measure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--folds", action="store_true", help="measure with the packages of each fold left out")
    rows = list(read_messages())
    causes = {row.cause for row in rows}
    rows += list(examples(causes))
    if arguments.parse_args().folds:
        measure(rows)
    else:
        write(*fitted(rows))


def read_messages() -> Iterator[Row]:
    """The rows of the table."""
    with MESSAGES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield Row(row["exception"], row["message"], row["cause"], row["package"], row["labelled"])


def examples(causes: set[str]) -> Iterator[Row]:
    """What the signatures of these causes give as examples, where it is an exception's last line."""
    for path in sorted(builtin_folder().glob("*/*.yaml")):
        content = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        if content.get("cause") in causes:
            for signature in content["signatures"]:
                for example in signature["examples"]["match"]:
                    found = FINAL_LINE.search(example if isinstance(example, str) else example["text"])
                    if found:
                        yield Row(found[1], found[2], content["cause"], "", "example")


def fitted(rows: Sequence[Row]) -> tuple[list[str], dict[str, list[float]]]:
    """The causes, and for each stem, INTERCEPT included, a number for each cause: log odds that are added up."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    stems = [set(stems_of(row.exception, row.text)) for row in rows]
    seen = Counter(stem for found in stems for stem in found)
    kept = [dict.fromkeys((s for s in found if seen[s] >= LEAST_MESSAGES), 1.0) for found in stems]
    names = DictVectorizer()
    matrix: Any = names.fit_transform(kept)
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=500)
    model.fit(matrix, [row.cause for row in rows], sample_weight=[WORTH[row.labelled] for row in rows])
    table = {INTERCEPT: [round(float(x), 2) for x in model.intercept_]}
    for stem, column in sorted(names.vocabulary_.items()):
        table[stem] = [round(float(x), 2) for x in model.coef_[:, column]]
    return list(model.classes_), table


def write(causes: list[str], table: dict[str, list[float]]) -> None:
    """Write the weights; a stem that says nothing is left out."""
    with WEIGHTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("stem", *causes))
        writer.writerows((stem, *(f"{x:g}" for x in row)) for stem, row in table.items() if any(row))


def measure(rows: Sequence[Row]) -> None:
    """Print how many of the messages that were read are named rightly, by least probability and by cause."""
    packages = sorted({row.package for row in rows if row.labelled == "read"})
    answers: list[tuple[float, bool, str, str]] = []
    for fold in range(FOLDS):
        left_out = set(packages[fold::FOLDS])
        causes, table = fitted([row for row in rows if row.package not in left_out])
        for row in rows:
            if row.package in left_out and row.labelled == "read":
                best, probability = likeliest(stems_of(row.exception, row.text), causes, table)
                answers.append((probability, best == row.cause, row.cause, best))
    for least in (0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        sure = [right for probability, right, *_ in answers if probability >= least]
        print(f"at {least:.1f}: {len(sure)} of {len(answers)} messages, {sum(sure)} right, {100 * sum(sure) / len(sure):.1f} %")
    for cause in sorted({cause for *_, cause, _ in answers}):
        own, named = [a for a in answers if a[2] == cause], [a for a in answers if a[3] == cause]
        found = sum(a[1] for a in own)
        print(f"{cause:20} {found:4} of {len(own):4} found, {found:4} of {len(named):4} named rightly")


if __name__ == "__main__":
    main()

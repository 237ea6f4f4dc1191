"""Learn which causes the words of a question mean: python -m scripts.fit_questions [--check]

Writes forensics/explain/question.weights anew from signatures/; with --check it only tells whether that would change the file.
The texts are titles of public issues with the causes that answer them (signatures/tables/questions.csv; `nothing` stands for
titles that name no cause), the phrases of words.csv, the causes' own titles, and the messages of their signatures. Features are
weighted by inverse document frequency, and a linear support vector machine separates each cause from all others. Weights that are
nearly zero are left out: of six bounds, this one kept all questions right that the whole model has right.
"""

import math
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Set

import msgspec

from forensics import pipeline
from forensics.database import Cause, Database, read_rows
from forensics.database.entries import HEALTHY
from forensics.explain.words import NOTHING, PIECE, STEP, WEIGHTS_PATH, Weights, features_of, parts_of

QUESTION_STRENGTH = 0.2  # scikit-learn's C; from .1 to 1 five-fold cross-validation over questions.csv differs by a hundredth
CAUSE_TEXT_WEIGHT, PHRASE_WEIGHT, MESSAGE_WEIGHT = 1.0, 0.8, 0.4  # a question counts as 1; the best of a few that were compared
SECOND_WEIGHT = 0.5  # of every further cause that a question may mean, beside the first one
MAX_MESSAGES = 2  # of a signature: its other wordings differ little
LEAST_WEIGHT = 0.05  # of a feature that is kept
LEVEL = 9  # of zlib

Text = tuple[str, str, float]  # text, cause, weight


def texts_of(database: Database) -> Iterator[Text]:
    """All texts about causes, once for each cause that a text may mean; `none.healthy` is left out: no question means it."""
    known = {NOTHING, *database.causes} - {HEALTHY}
    for cause in database.causes.values():
        if cause.id != HEALTHY:
            yield from _own_texts(cause)
    for row in read_rows("words"):
        named = [c for c in row["causes"].split() if c in known]
        for phrase in (row["term"], *row["phrases"].split(";")):
            yield from ((phrase, c, PHRASE_WEIGHT if i == 0 else PHRASE_WEIGHT * 0.3 / i) for i, c in enumerate(named))
    for row in read_rows("questions"):
        named = [c for c in row["causes"].split() if c in known]
        yield from ((row["question"], c, 1.0 if i == 0 else SECOND_WEIGHT) for i, c in enumerate(named))


def _own_texts(cause: Cause) -> Iterator[Text]:
    own = (cause.id.replace(".", " ").replace("_", " "), cause.title, cause.means)
    yield from ((text, cause.id, CAUSE_TEXT_WEIGHT) for text in own)
    for signature in cause.signatures:
        yield from ((message, cause.id, MESSAGE_WEIGHT) for message in signature.messages[:MAX_MESSAGES])


def fitted(database: Database) -> Weights:
    """The weights that the texts of `database` teach."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.svm import LinearSVC

    texts = list(texts_of(database))
    features = [features_of(text) for text, _, _ in texts]
    seen = Counter(name for found in features for name in found)
    frequency = {
        name: round((math.log((1 + len(texts)) / (1 + count)) + 1) / STEP)
        for name, count in seen.items()
        if count > 1 or name[0] != PIECE
    }
    table = DictVectorizer()
    columns = table.fit_transform([_values(found, frequency) for found in features])
    columns.indices, columns.indptr = columns.indices.astype("int32"), columns.indptr.astype("int32")
    learner = LinearSVC(C=QUESTION_STRENGTH, random_state=0)
    learner.fit(columns, [cause for _, cause, _ in texts], sample_weight=[weight for _, _, weight in texts])
    kept: dict[str, tuple[int, tuple[tuple[int, int], ...]]] = {}
    for name, weights in zip(table.get_feature_names_out(), learner.coef_.T, strict=True):
        large = tuple((i, round(float(w) / STEP)) for i, w in enumerate(weights) if abs(w) >= LEAST_WEIGHT)
        if large:
            kept[str(name)] = (frequency[name], large)
    return Weights(tuple(map(str, learner.classes_)), tuple(round(float(b), 3) for b in learner.intercept_), kept)


def _values(found: Set[str], frequency: dict[str, int]) -> dict[str, float]:
    values: dict[str, float] = {}
    for part in parts_of(found & frequency.keys()):
        length = math.sqrt(sum(frequency[name] ** 2 for name in part))
        values |= {name: frequency[name] / length for name in part}
    return values


def main() -> None:
    """Write the file, or compare it."""
    made = zlib.compress(msgspec.msgpack.encode(fitted(pipeline.database())), LEVEL)
    is_same = WEIGHTS_PATH.exists() and WEIGHTS_PATH.read_bytes() == made
    if "--check" in sys.argv:
        sys.exit(0 if is_same else "question.weights is of other texts: python -m scripts.fit_questions")
    WEIGHTS_PATH.write_bytes(made)
    print(f"{len(made) / 1000:.0f} kB, {'as before' if is_same else 'changed'}")


if __name__ == "__main__":
    main()

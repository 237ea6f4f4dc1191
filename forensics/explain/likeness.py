"""The causes that a question in words may mean: a linear model over all texts that are known about causes.

"VRAM still occupied after the run" -> gpu_memory.leak, gpu_memory.other_process
"Training stops at epoch 3"         -> nothing: these words name no cause

The texts are titles of public issues with the causes that answer them (signatures/tables/questions.csv; `nothing` stands for
titles that name no cause), the phrases of words.csv, the causes' own titles, and the messages of their signatures. The features
of a text are its words (as stems), its pairs of neighbouring words, and the pieces of three to five letters of its words, so that
a misspelt word still counts. They are weighted by inverse document frequency, and a linear support vector machine separates each
cause from all others. The model is fitted when the first question is asked; a row that is added is used at once.
"""

import functools
import itertools
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from forensics.database import Cause, Database, read_rows
from forensics.database.entries import HEALTHY
from forensics.explain.words import stems

NOTHING = "nothing"  # in questions.csv and words.csv: the words name no cause
PIECE_CHARS = (3, 5)  # shortest and longest piece of a word
QUESTION_STRENGTH = 0.2  # scikit-learn's C; from .1 to 1 five-fold cross-validation over questions.csv differs by a hundredth
CAUSE_TEXT_WEIGHT, PHRASE_WEIGHT, MESSAGE_WEIGHT = 1.0, 0.8, 0.4  # a question counts as 1; the best of a few that were compared
SECOND_WEIGHT = 0.5  # of every further cause that a question may mean, beside the first one
MAX_MESSAGES = 2  # of a signature: its other wordings differ little


def likely_causes(question: str, database: Database, most: int) -> tuple[str, ...]:
    """Ids of the causes that a question may mean, most likely first; NOTHING alone if its words name none.

    Empty if none of its words is known.
    """
    scores = _fitted(tuple(_texts(database))).scores(question)
    ranked = sorted(scores, key=lambda c: (-scores[c], c))
    return (NOTHING,) if ranked[:1] == [NOTHING] else tuple(c for c in ranked if c != NOTHING)[:most]


class _Model(Struct, frozen=True):
    """`words`: the vocabulary. `pipeline`: scikit-learn's; its `decision_function` scores each of `causes`."""

    causes: tuple[str, ...]
    words: frozenset[str]
    pipeline: Any

    def scores(self, question: str) -> dict[str, float]:
        """Cause -> above 0 if the question means it, about -1 if not; empty if no word of it is known."""
        if self.words.isdisjoint(stems(question)):
            return {}
        return dict(zip(self.causes, map(float, self.pipeline.decision_function([question])[0]), strict=True))


Text = tuple[str, str, float]  # text, cause, weight


@functools.lru_cache(maxsize=2)
def _fitted(texts: tuple[Text, ...]) -> _Model:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.svm import LinearSVC

    words = TfidfVectorizer(analyzer=_words_and_pairs, binary=True)
    pieces = TfidfVectorizer(analyzer="char_wb", preprocessor=_stemmed, ngram_range=PIECE_CHARS, binary=True, min_df=2)
    pipeline = make_pipeline(make_union(words, pieces), LinearSVC(C=QUESTION_STRENGTH))
    pipeline.fit([t for t, _, _ in texts], [c for _, c, _ in texts], linearsvc__sample_weight=[w for _, _, w in texts])
    return _Model(tuple(map(str, pipeline.classes_)), frozenset(words.vocabulary_), pipeline)


def _words_and_pairs(text: str) -> list[str]:
    words = list(stems(text))
    return words + [" ".join(pair) for pair in itertools.pairwise(words)]


def _stemmed(text: str) -> str:
    return " ".join(stems(text))


def _texts(database: Database) -> Iterator[Text]:
    """All texts about causes, once for each cause that a text may mean.

    `none.healthy` is left out: no question means it.
    """
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

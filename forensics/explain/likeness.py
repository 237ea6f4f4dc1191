"""The causes that a question in words may mean: a linear model over all texts that are known about causes.

"VRAM still occupied after the run" -> gpu_memory.leak, gpu_memory.other_process
"Training stops at epoch 3"         -> nothing: these words name no cause

The texts are titles of public issues with the causes that answer them (signatures/tables/questions.csv; `nothing` stands for
titles that name no cause), the phrases of words.csv, and the causes' own titles. The features of a text are its words (as stems),
its pairs of neighbouring words, and the pieces of three to five letters of its words, so that a misspelt word still counts. They
are weighted by inverse document frequency, and ridge regression gives each cause a weight for each text. The model is fitted when
the first question is asked; a row that is added is used at once.
"""

import functools
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from forensics.database import Database, read_rows
from forensics.database.entries import HEALTHY
from forensics.explain.words import Term, stems, terms_in

NOTHING = "nothing"  # in questions.csv and words.csv: the words name no cause
PIECE_CHARS = (3, 5)  # shortest and longest piece of a word
RIDGE = 3.0  # the penalty of the weights; the best of .3, 1, 3 in five-fold cross-validation over questions.csv
LEAST_SCORE = 0.2  # of the best cause, about 1 for a text that was learned; below it most answers are wrong
TERM_SCORE = 0.1  # what the likeliest cause of the first term adds: a phrase of words.csv stands in the question
CAUSE_TEXT_WEIGHT, PHRASE_WEIGHT = 0.5, 0.4  # of one text; a question of users counts as 1, shared by its causes


def likely_causes(question: str, database: Database, most: int) -> tuple[str, ...]:
    """Ids of the causes that a question may mean, most likely first; NOTHING alone if its words name none.

    Empty if none of its words is known.
    """
    model = _fitted(tuple((c.id, c.title, c.means) for c in database.causes.values()))
    terms = terms_in(question)
    scores = model.scores(question)
    if not terms and not scores:
        return ()
    for cause, score in _of_terms(terms):
        if cause in (NOTHING, *database.causes):
            scores[cause] = scores.get(cause, 0.0) + score
    ranked = sorted(scores, key=lambda c: (-scores[c], c))
    if not ranked or ranked[0] == NOTHING or scores[ranked[0]] < LEAST_SCORE:
        return (NOTHING,)
    return tuple(c for c in ranked if c != NOTHING)[:most]


def _of_terms(terms: Iterable[Term]) -> Iterator[tuple[str, float]]:
    named: set[str] = set()
    for i, term in enumerate(terms):
        for j, cause in enumerate(term.causes):
            if cause not in named:
                named.add(cause)
                yield cause, TERM_SCORE / (1 + i) / (1 + 0.6 * j)


class _Model(Struct, frozen=True):
    """`words`: the vocabulary. `pipeline`: scikit-learn's; its `predict` gives a score for each of `causes`."""

    causes: tuple[str, ...]
    words: frozenset[str]
    pipeline: Any

    def scores(self, question: str) -> dict[str, float]:
        """Cause -> about 1 if the question means it, about 0 if not; empty if no word of it is known."""
        if self.words.isdisjoint(stems(question)):
            return {}
        return dict(zip(self.causes, map(float, self.pipeline.predict([question])[0]), strict=True))


@functools.lru_cache(maxsize=2)
def _fitted(causes: tuple[tuple[str, str, str], ...]) -> _Model:
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.pipeline import make_pipeline, make_union

    texts = list(_texts(causes))
    names = tuple(sorted({cause for _, meant, _ in texts for cause in meant}))
    wanted = np.array([[meant.get(name, 0.0) for name in names] for _, meant, _ in texts])
    words = TfidfVectorizer(analyzer=_words_and_pairs, binary=True)
    pieces = TfidfVectorizer(analyzer="char_wb", preprocessor=_stemmed, ngram_range=PIECE_CHARS, binary=True)
    pipeline = make_pipeline(make_union(words, pieces), KernelRidge(alpha=RIDGE))
    pipeline.fit([text for text, _, _ in texts], wanted, kernelridge__sample_weight=[weight for _, _, weight in texts])
    return _Model(names, frozenset(words.vocabulary_), pipeline)


def _words_and_pairs(text: str) -> list[str]:
    words = list(stems(text))
    return words + [" ".join(pair) for pair in itertools.pairwise(words)]


def _stemmed(text: str) -> str:
    return " ".join(stems(text))


def _texts(causes: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, dict[str, float], float]]:
    """(text, how much it means each cause from 0 to 1, weight) of all texts about causes, without messages.

    `none.healthy` is left out: no question means it.
    """
    known = set()
    for name, title, means in causes:
        if name != HEALTHY:
            known.add(name)
            own = (name.replace(".", " ").replace("_", " "), title, means)
            yield from ((text, {name: 1.0}, CAUSE_TEXT_WEIGHT) for text in own)
    for row in read_rows("words"):
        named = [c for c in row["causes"].split() if c in known or c == NOTHING]
        meant = {name: 1.0 if i == 0 else 0.3 / i for i, name in enumerate(named)}
        yield from ((phrase, meant, PHRASE_WEIGHT) for phrase in (row["term"], *row["phrases"].split(";")))
    for row in read_rows("questions"):
        names = [c for c in row["causes"].split() if c in known or c == NOTHING]
        yield row["question"], {name: 1.0 / math.sqrt(len(names)) for name in names}, 1.0

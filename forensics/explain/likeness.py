"""The causes that a question in words may mean: a linear model over all texts that are known about causes.

"VRAM still occupied after the run" -> gpu_memory.leak, gpu_memory.other_process
"Training stops at epoch 3"         -> nothing: these words name no cause

The texts are titles of public issues with the causes that answer them (signatures/tables/questions.csv; `nothing` stands for
titles that name no cause), the phrases of words.csv, and the causes' own titles. The features of a text are its words (as stems),
its pairs of neighbouring words, and the pieces of three to five letters of its words, so that a misspelt word still counts. They
are weighted by inverse document frequency, and ridge regression gives each cause a weight for each feature (scikit-learn's
TfidfVectorizer and Ridge do the same). The model is fitted when the first question is asked, in about a second; a row that is
added is used at once.
"""

import functools
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from forensics.database import Database, read_rows
from forensics.database.entries import HEALTHY
from forensics.explain.words import Term, stems, terms_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOTHING = "nothing"  # in questions.csv and words.csv: the words name no cause
PIECE_CHARS = (3, 4, 5)  # of the pieces of words
RIDGE = 3.0  # the penalty of the weights; the best of .3, 1, 3 in five-fold cross-validation over questions.csv
LEAST_SCORE = 0.2  # of the best cause, about 1 for a text that was learned; below it most answers are wrong
TERM_SCORE = 0.1  # what the likeliest cause of the first term adds: a phrase of words.csv stands in the question
CAUSE_TEXT_WEIGHT, PHRASE_WEIGHT = 0.5, 0.4  # of one text; a question of users counts as 1, shared by its causes

Feature = tuple[str, str]


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


def features(text: str) -> tuple[set[Feature], set[Feature]]:
    """The words and pairs of words of a text, and the pieces of its words."""
    words = list(stems(text))
    pairs = {("pair", " ".join(pair)) for pair in itertools.pairwise(words)}
    marked = [f" {w} " for w in words]
    pieces = {("piece", w[i : i + n]) for w in marked for n in PIECE_CHARS for i in range(max(1, len(w) - n + 1))}
    return {("word", w) for w in words} | pairs, pieces


class _Model(Struct, frozen=True):
    """`columns`: the number of each feature. `idf`: its inverse document frequency. `weights`: of each feature for each cause."""

    causes: tuple[str, ...]
    columns: dict[Feature, int]
    idf: "NDArray[np.float64]"
    weights: "NDArray[np.float64]"

    def scores(self, question: str) -> dict[str, float]:
        """Cause -> about 1 if the question means it, about 0 if not; empty if no word of it is known."""
        if not any(("word", w) in self.columns for w in stems(question)):
            return {}
        rows = list(_weighted(features(question), self.columns, self.idf))
        total = sum(value * self.weights[column] for column, value in rows)
        return dict(zip(self.causes, map(float, total), strict=True))


def _weighted(
    groups: Iterable[set[Feature]], columns: dict[Feature, int], idf: "NDArray[np.float64]"
) -> Iterator[tuple[int, float]]:
    """(column, value) of the known features of a text; the words, and the pieces, have the length 1 together."""
    for group in groups:
        known = [columns[f] for f in group if f in columns]
        length = math.sqrt(sum(float(idf[c]) ** 2 for c in known))
        yield from ((c, float(idf[c]) / length) for c in known)


@functools.lru_cache(maxsize=2)
def _fitted(causes: tuple[tuple[str, str, str], ...]) -> _Model:
    import numpy as np

    texts = list(_texts(causes))
    names = tuple(sorted({cause for _, meant, _ in texts for cause in meant}))
    split = [features(text) for text, _, _ in texts]
    counted = Counter(f for groups in split for group in groups for f in group)
    columns = {f: i for i, f in enumerate(counted)}
    idf = np.array([math.log((1 + len(texts)) / (1 + n)) + 1 for n in counted.values()])
    rows = [list(_weighted(groups, columns, idf)) for groups in split]
    having: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for i, row in enumerate(rows):
        for column, value in row:
            having[column].append((i, value))
    products = np.zeros((len(texts), len(texts)))
    for found in having.values():
        at, values = np.array([i for i, _ in found]), np.array([v for _, v in found])
        products[np.ix_(at, at)] += np.outer(values, values)
    wanted = np.zeros((len(texts), len(names)))
    for i, (_, meant, _) in enumerate(texts):
        for cause, share in meant.items():
            wanted[i, names.index(cause)] = share
    penalty = np.diag([RIDGE / weight for _, _, weight in texts])
    shares = np.linalg.solve(products + penalty, wanted)
    weights = np.zeros((len(columns), len(names)))
    for i, row in enumerate(rows):
        at, values = np.array([c for c, _ in row], dtype=int), np.array([v for _, v in row])
        weights[at] += np.outer(values, shares[i])
    return _Model(names, columns, idf, weights)


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

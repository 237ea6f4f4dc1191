"""The causes whose texts are most similar to a question: earlier questions, the phrases of words.csv, the causes' own texts.

"VRAM still occupied after the run" -> gpu_memory.leak, gpu_memory.other_process

The features of a question are its words (as stems), its pairs of neighbouring words, and the four-letter pieces of its words, so
that a misspelt word still counts. A feature is evidence for the causes whose texts have it more often than all texts together:
the logarithms of these ratios are added (naive Bayes without negative evidence, because a short question lacks nearly all
features). signatures/tables/questions.csv has titles of public issues with the causes that answer them; a row added there is
used at once.
"""

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

from forensics.database import Database, read_rows
from forensics.database.entries import HEALTHY
from forensics.explain.words import Term, stems, terms_in

PIECE_CHARS = 4  # a stem in a longer word, "alloc" in "reallocation"; chosen by hand, measured on titles not learned from
SHARES = {"word": 1.0, "pair": 1.0, "piece": 0.4}  # of a feature's evidence; pieces overlap each other and their word
SMOOTHING_TEXTS = 10.0  # texts that are added to each cause, with the features of all texts
PRIOR_SHARE = 0.6  # of the logarithm of how often a cause is asked for
QUESTION_WEIGHT = 6.0  # a question counts as much as this many phrases
TERM_SCORE = 10.0  # what the likeliest cause of the first term adds: a phrase that stands in the question is worth some words
LEAST_LOG_RATIO = 1.5  # of the most telling word, below which nothing is like the question; pieces alone prove nothing

Feature = tuple[str, str]


def likely_causes(question: str, database: Database, most: int) -> tuple[str, ...]:
    """Ids of the causes that a question may mean, most likely first; empty if no word of it is related to a cause."""
    texts = _Texts.of(database)
    terms = terms_in(question)
    scores = texts.scores(question)
    if not terms and texts.most_telling_word(question) < LEAST_LOG_RATIO:
        return ()
    for cause, score in _of_terms(terms):
        if cause in database.causes:
            scores[cause] = scores.get(cause, 0.0) + score
    ranked = sorted(scores, key=lambda c: (-scores[c] - texts.prior(c), c))
    return tuple(ranked[:most])


def _of_terms(terms: Iterable[Term]) -> Iterator[tuple[str, float]]:
    named: set[str] = set()
    for i, term in enumerate(terms):
        for j, cause in enumerate(term.causes):
            if cause not in named:
                named.add(cause)
                yield cause, TERM_SCORE / (1 + i) / (1 + 0.6 * j)


def features(text: str) -> set[Feature]:
    """The words, pairs of words and pieces of words of a text."""
    words = list(stems(text))
    pairs = {("pair", " ".join(sorted(pair))) for pair in itertools.pairwise(words)}
    pieces = {("piece", f"_{w}_"[i : i + PIECE_CHARS]) for w in words if len(w) >= PIECE_CHARS for i in range(len(w) - 1)}
    return {("word", w) for w in words} | pairs | pieces


class _Texts:
    """How often each feature occurs in the texts of each cause."""

    def __init__(self, texts: Iterable[tuple[str, str, float]]) -> None:
        self.by_feature: dict[Feature, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.by_cause: dict[str, float] = defaultdict(float)
        for text, cause, weight in texts:
            self.by_cause[cause] += weight
            for feature in features(text):
                self.by_feature[feature][cause] += weight
        self.total = sum(self.by_cause.values())

    @classmethod
    def of(cls, database: Database) -> "_Texts":
        return _read(tuple((c.id, c.title, c.means) for c in database.causes.values()))

    def prior(self, cause: str) -> float:
        return PRIOR_SHARE * math.log(self.by_cause.get(cause, 1.0) / self.total)

    def scores(self, question: str) -> dict[str, float]:
        """Cause -> the sum of the evidence of the question's features for it."""
        scores: dict[str, float] = defaultdict(float)
        for feature in features(question):
            for cause, ratio in self._log_ratios(feature):
                scores[cause] += SHARES[feature[0]] * ratio
        return scores

    def most_telling_word(self, question: str) -> float:
        """The largest log ratio of a word of the question; 0 if no text has any of its words."""
        ratios = (ratio for word in stems(question) for _, ratio in self._log_ratios(("word", word)))
        return max(ratios, default=0.0)

    def _log_ratios(self, feature: Feature) -> Iterator[tuple[str, float]]:
        """(cause, natural logarithm of how much more often its texts have the feature than all texts), at least 0."""
        counts = self.by_feature.get(feature, {})
        share = sum(counts.values()) / self.total
        for cause, count in counts.items():
            own = (count + SMOOTHING_TEXTS * share) / (self.by_cause[cause] + SMOOTHING_TEXTS)
            yield cause, max(0.0, math.log(own / share))


@functools.lru_cache(maxsize=2)
def _read(causes: tuple[tuple[str, str, str], ...]) -> _Texts:
    return _Texts(_texts(causes))


def _texts(causes: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, float]]:
    """(text, cause, weight) of all texts about causes, without messages. `none.healthy` is left out: no question means it."""
    known = set()
    for name, title, means in causes:
        if name != HEALTHY:
            known.add(name)
            yield name.replace(".", " ").replace("_", " "), name, 1.0
            yield title, name, 2.0
            yield means, name, 1.0
    for row in read_rows("words"):
        for i, name in enumerate(c for c in row["causes"].split() if c in known):
            weight = 1.0 if i == 0 else 0.3 / i
            yield row["means"], name, weight / 2
            for phrase in (row["term"], *row["phrases"].split(";")):
                yield phrase, name, weight
    for row in read_rows("questions"):
        names = [c for c in row["causes"].split() if c in known]
        for name in names:
            yield row["question"], name, QUESTION_WEIGHT / len(names)

"""Estimate from the last words of a log whether it ended badly: a learned model, for endings that no phrase matches.

    error: aborting due to 2 previous errors  ->  last:error, last:aborting, last:N, last:previous errors ...  ->  1.75
    All done in 12.4 s                        ->  last:all, last:done, last:all done ...                       -> -8.16

The log odds are those of the shipped weights for a log of that one line.

The words come from the last lines of the lane that ends worst, and from its last lines of trouble. Paths, addresses, dates and
times are left out; a number counts as 0, 1 or N. Each word is hashed to one of ENDING_ROWS rows, so the model file holds numbers
and no text. The log odds are one feature of the model of the outcome (features.py).
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import sqrt
from zlib import crc32

from msgspec import Struct

from forensics.line_formats import unlabelled
from forensics.model.verdicts import Lane
from forensics.readers.words import words_and_counts

ENDING_ROWS = 1 << 16  # a power of two, so that the hash's bits choose a row; the weights of so many rows are 256 KiB
LAST_TROUBLE_LINES = 3  # chosen by hand: the last error and the lines that close its message
MAX_ENDING_CHARS = 300  # the meaning of a message is in its first words; values follow


class EndingModel(Struct, frozen=True):
    """A logistic regression: `weights` [ENDING_ROWS], times `unit`, and `intercept` give log odds that the log ended badly."""

    weights: Sequence[float]
    intercept: float
    unit: float = 1.0

    def log_odds(self, rows: Sequence[int]) -> float:
        """Log odds for hashed words, see ending_rows."""
        return self.intercept + self.unit * sum(self.weights[r] for r in rows) / (sqrt(len(rows)) or 1.0)


UNTRAINED_ENDING_MODEL = EndingModel((0.0,) * ENDING_ROWS, 0.0)


def ending_rows(lane: Lane | None) -> tuple[int, ...]:
    """The rows of the words with which `lane` ends, sorted; empty if there is no lane."""
    return tuple(sorted({hashed_row(word, ENDING_ROWS) for word in ending_words(lane)})) if lane else ()


def ending_words(lane: Lane) -> set[str]:
    """The words and pairs of words with which `lane` ends, each prefixed with its place: `last:`, `end:`, `trouble:`."""
    last = [unlabelled(line.text) for line in lane.last_lines if line.text.strip()]
    trouble = (unlabelled(line.text) for line in lane.trouble_lines[-LAST_TROUBLE_LINES:])
    return words_at("last", last[-1:]) | words_at("end", last) | words_at("trouble", trouble)


def hashed_row(word: str, rows: int) -> int:
    """The row of `word` among `rows`, a power of two."""
    return crc32(word.encode()) & (rows - 1)


def words_at(place: str, lines: Iterable[str]) -> set[str]:
    """The words and pairs of words of `lines`, each as `place:words`."""
    found: set[str] = set()
    for text in lines:
        tokens = words_and_counts(text[:MAX_ENDING_CHARS])
        found.update(f"{place}:{t}" for t in tokens)
        found.update(f"{place}:{a} {b}" for a, b in pairwise(tokens))
    return found


def first_word(text: str) -> set[str]:
    """The word that `text` begins with, as `first:word`."""
    return {f"first:{word}" for word in words_and_counts(text[:MAX_ENDING_CHARS])[:1]}

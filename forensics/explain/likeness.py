"""The causes that a question in words may mean: a linear model over all texts that are known about causes.

"VRAM still occupied after the run" -> gpu_memory.leak, gpu_memory.other_process
"Training stops at epoch 3"         -> nothing: these words name no cause

The features of a text are its words (as stems), its pairs of neighbouring words, and the pieces of three to five letters of its
words, so that a misspelt word still counts. Each has a weight for the causes that it speaks for or against. `python -m
scripts.fit_questions` learns the weights (question.weights); nothing is fitted when a question is asked.
"""

import functools
import itertools
import math
import zlib
from collections.abc import Iterator, Set
from pathlib import Path

import msgspec

from forensics.database import Database
from forensics.explain.words import is_plain, stems

NOTHING = "nothing"  # in questions.csv and words.csv: the words name no cause
PIECE_CHARS = (3, 5)  # shortest and longest piece of a word
PIECE = "#"  # stands before each piece of a word, and before no word
WEIGHTS_PATH = Path(__file__).with_name("question.weights")
SURE_SCORE = -0.35  # of 45 lines of programs that nobody knows, all but 3 are below it
LIKELY_SCORE = -0.6  # of plain words; of 241 questions, no right one is below it
STEP = 0.01  # of the whole numbers in which weights are kept


class Weights(msgspec.Struct, frozen=True):
    """The model as it is kept: `bias` of each of `causes`; of each feature its inverse document frequency and its weights, both
    in steps of STEP, as pairs of a cause's number and the weight."""

    causes: tuple[str, ...]
    bias: tuple[float, ...]
    features: dict[str, tuple[int, tuple[tuple[int, int], ...]]]


def likely_causes(question: str, database: Database, most: int) -> tuple[str, ...]:
    """Ids of the causes that a question may mean, most likely first; NOTHING alone if its words name none.

    Empty if none of its words is known. Causes that were not there when the weights were learned are never among them.
    """
    scores = _scores(question)
    ranked = sorted(scores, key=lambda c: (-scores[c], c))
    return (NOTHING,) if ranked[:1] == [NOTHING] else tuple(c for c in ranked if c in database.causes)[:most]


def is_sure(question: str) -> bool:
    """Are the words of a question so like those that are said of a cause that this is more than a guess?"""
    return max(_scores(question).values(), default=-1.0) >= (LIKELY_SCORE if is_plain(question) else SURE_SCORE)


def features_of(text: str) -> Set[str]:
    """The features of a text: words, pairs of words, and pieces of words behind PIECE."""
    words = list(stems(text))
    found = {*words, *map(" ".join, itertools.pairwise(words))}
    for word in words:
        padded = f" {word} "
        for size in range(PIECE_CHARS[0], PIECE_CHARS[1] + 1):
            found.update(PIECE + padded[i : i + size] for i in range(len(padded) - size + 1))
    return found


def parts_of(features: Set[str]) -> Iterator[list[str]]:
    """Words with pairs, and pieces: each is brought to length 1 by itself."""
    yield sorted(f for f in features if f[0] != PIECE)
    yield sorted(f for f in features if f[0] == PIECE)


@functools.cache
def kept_weights() -> Weights:
    """The weights that were learned."""
    return msgspec.msgpack.decode(zlib.decompress(WEIGHTS_PATH.read_bytes()), type=Weights)


def _scores(question: str) -> dict[str, float]:
    """Cause -> above 0 if the question means it, about -1 if not; empty if no word of it is known."""
    kept = kept_weights()
    words, pieces = parts_of(features_of(question) & kept.features.keys())
    if not words:
        return {}
    scores = list(kept.bias)
    for part in (words, pieces):
        length = math.sqrt(sum(kept.features[name][0] ** 2 for name in part))
        for name in part:
            frequency, weights = kept.features[name]
            for number, weight in weights:
                scores[number] += STEP * weight * frequency / length
    return dict(zip(kept.causes, scores, strict=True))

"""The trained model: the outcome, the probability of each cause by words, and the weight of each feature of a candidate.

    {"shutting down", "killed", ...} -> {"process.worker_died": 0.61, "host_memory.oom_global": 0.2, ...}

It has five parts. `outcome`: decision trees over the features of outcome/features.py. `ending`: the last words of a log, see
outcome/ending_words.py. `lines`: which lines give the reason, see outcome/deciding_lines.py. `text`: multinomial logistic
regression over the words of the lines of trouble, weighted by inverse document frequency (TF-IDF without counts, length 1), as
scikit-learn's LogisticRegression computes it. `rank`: a conditional logit, which gives each candidate one utility with the same
weights for all causes, and the softmax of these. The weights are a file of numbers and words, without code:

    one line of JSON (format, causes, vocabulary, names and values of the features' weights, calibration and sizes of the trees,
    sha256 of the rest), then, compressed, little-endian numbers: of 16 bits coefficients [words][causes] in units of
    COEFFICIENT_UNIT, the weights of the ending [ENDING_ROWS] and of the words of lines [WORD_ROWS] in units of WORD_UNIT; of 32
    bits idf [words], intercepts [causes], the intercept of the ending, the weights of the structure of lines; for the boosted
    and for the random trees roots, features, right children, numbers

A text has some fifty words, so the rounding of a coefficient is lost among them. As they are learned, with 32 bits each, the
numbers take four times as much.

The standard library is enough to read it: to import numpy would take longer than the whole decision.
"""

import functools
import os
import sys
import zlib
from array import array
from collections.abc import Collection, Mapping, Sequence
from math import exp, isfinite, sqrt
from pathlib import Path
from typing import Any, Literal

from msgspec import DecodeError, Struct
from msgspec.json import decode

from forensics.core.digest import sha256
from forensics.core.errors import UsageError
from forensics.data_files import cache
from forensics.decision.candidates import FEATURE_NAMES
from forensics.outcome import features as outcome_features
from forensics.outcome.deciding_lines import STRUCTURE, UNTRAINED_LINE_WEIGHTS, WORD_ROWS, LineWeights
from forensics.outcome.ending_words import ENDING_ROWS, UNTRAINED_ENDING_MODEL, EndingModel
from forensics.outcome.trees import Forest, Trees

MODEL_FORMAT = "forensics-model/6"
KEPT_FORMAT = 2  # of what is kept of a model on this machine
BUILT_IN = Path(__file__).parent / "model.weights"
MAX_MODEL_BYTES = 64 << 20  # many times the built-in one: a larger file is no model, and is not read into memory
COEFFICIENT_UNIT = 1 / 32  # 16 bits reach from -1,024 to 1,024
CHANGED = "damaged: its numbers are not those that were written"
WORD_UNIT = 1 / 1024  # 16 bits reach from -32 to 32
MAX_KEPT_TEXTS = 16  # chosen by hand: subjects of one case whose words are asked for again, incident by incident

_kept_texts: dict[tuple[str, tuple[int, ...]], Mapping[str, float]] = {}  # (hash of the model, rows) -> see Model.text


class ForeignModelError(ValueError):
    """The file has no weights that this version can use; the text says why."""


class Model(Struct, frozen=True):
    """All weights.

    `vocabulary`: word -> its row. `idf` [words]: inverse document frequency. `intercepts` [causes], `coefficients` [words *
    causes], row by row, in units of `unit`. `feature_weights`: in the order of candidates.FEATURE_NAMES. `outcome`: see Trees.
    `ending`: see EndingModel. `lines`: see LineWeights. `hash`: sha256 of the file's head, in which that of its body stands.
    """

    causes: tuple[str, ...]
    vocabulary: Mapping[str, int]
    idf: Sequence[float]
    intercepts: Sequence[float]
    coefficients: Sequence[float]
    feature_weights: tuple[float, ...]
    outcome: Trees
    ending: EndingModel = UNTRAINED_ENDING_MODEL
    lines: LineWeights = UNTRAINED_LINE_WEIGHTS
    unit: float = 1.0
    hash: str = ""

    def text(self, words: Collection[str]) -> Mapping[str, float]:
        """Cause -> its probability by `words`; the sum is 1. Incidents of one subject often have the same words."""
        rows = tuple(sorted([self.vocabulary[w] for w in words if w in self.vocabulary]))
        known = _kept_texts.get((self.hash, rows)) if self.hash else None
        if known is None:
            known = self.text_of_rows(rows)
            if len(_kept_texts) >= MAX_KEPT_TEXTS:
                _kept_texts.clear()
            _kept_texts[self.hash, rows] = known
        return known

    def text_of_rows(self, rows: Sequence[int]) -> dict[str, float]:
        """Cause -> its probability by the words of these rows of the vocabulary, in ascending order."""
        length = sqrt(sum(self.idf[r] ** 2 for r in rows)) or 1.0
        sums, width = list(self.intercepts), len(self.causes)
        for row in rows:
            factor = self.idf[row] / length * self.unit
            part = self.coefficients[row * width : (row + 1) * width]
            sums = [s + factor * c for s, c in zip(sums, part, strict=True)]
        return dict(zip(self.causes, softmax(sums), strict=True))

    def utilities(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """The utility of each candidate; `rows`: the features of each, in the order of candidates.FEATURE_NAMES."""
        return [sum(w * x for w, x in zip(self.feature_weights, row, strict=True)) for row in rows]


def softmax(utilities: Sequence[float]) -> list[float]:
    """exp(u) / sum of all exp(u)."""
    most = max(utilities)
    powers = [exp(u - most) for u in utilities]
    total = sum(powers)
    return [p / total for p in powers]


def read_model(path: Path) -> Model:
    """The Model in `path`; raises ForeignModelError if it is absent, damaged, or made for other features."""
    try:
        found = path.stat()
        if found.st_size > MAX_MODEL_BYTES:
            raise ForeignModelError("larger than any model")
        data = path.read_bytes()
    except OSError as error:
        raise ForeignModelError(f"cannot be read ({error.strerror})") from error
    state = (
        MODEL_FORMAT,
        KEPT_FORMAT,
        cache.CACHE_FORMAT,
        str(path.absolute()),
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )
    key = sha256(repr(state).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    kept = cache.read(key)  # of a file that was found to be whole, and has not changed since
    model = model_from_bytes(data, kept[0] if kept else None)
    forests = model.outcome.boosted, model.outcome.random
    if kept and len(kept) == 1 + len(forests):
        for forest, means in zip(forests, kept[1:], strict=True):
            forest.use_means(means)
    elif kept is None:
        cache.write(key, [_body(data), *(forest.means_to_bytes() for forest in forests)])
    return model


def model_from_bytes(data: bytes, whole_body: bytes | None = None) -> Model:
    """The Model in bytes of `model_to_bytes`; ForeignModelError for other bytes. `whole_body`: its numbers, read before."""
    end = max(data.find(b"\n"), 0)
    try:
        head = decode(data[:end], type=_Head)
    except DecodeError as error:
        raise ForeignModelError("no model file") from error
    causes, words, outcome = head.causes, head.vocabulary, head.outcome
    if (
        head.form != MODEL_FORMAT
        or tuple(head.features) != FEATURE_NAMES
        or outcome.names != outcome_features.OUTCOME_FEATURES
        or head.structure != STRUCTURE
    ):
        raise ForeignModelError("made for another version")
    wide, tall = len(causes), len(words)
    body = whole_body or _checked_body(head, data, end + 1)
    parts = _Parts(memoryview(body))  # a copy would take more memory than a short run
    coefficients, ending, line_words = parts.taken("h", tall * wide), parts.taken("h", ENDING_ROWS), parts.taken("h", WORD_ROWS)
    idf, intercepts, ending_intercept = parts.taken("f", tall), parts.taken("f", wide), parts.taken("f", 1)[0]
    structure = parts.taken("f", len(STRUCTURE))
    boosted, random = (parts.forest(trees, nodes) for trees, nodes in outcome.trees)
    base, *calibration = outcome.numbers
    return Model(
        causes=causes,
        vocabulary=dict(zip(words, range(tall), strict=True)),
        idf=idf,
        intercepts=intercepts,
        coefficients=coefficients,
        feature_weights=tuple(head.features.values()),
        outcome=Trees(outcome.names, base, boosted, random, *calibration),
        ending=EndingModel(ending, ending_intercept, WORD_UNIT),
        lines=LineWeights(line_words, structure, WORD_UNIT),
        unit=COEFFICIENT_UNIT,
        hash=sha256(data[:end]).hexdigest(),
    )


def _checked_body(head: "_Head", data: bytes, start: int) -> bytes:
    """The numbers of the file `data`, which begin at `start`; ForeignModelError if they are not those of `head`."""
    causes, words = head.causes, head.vocabulary
    wide, tall = len(causes), len(words)
    if sha256(memoryview(data)[start:]).hexdigest() != head.sha256:
        raise ForeignModelError(CHANGED)
    numbers = tall + wide + 1 + len(STRUCTURE) + sum(trees + 3 * nodes for trees, nodes in head.outcome.trees)
    size = 2 * (tall * wide + ENDING_ROWS + WORD_ROWS) + 4 * numbers
    body = _body(data, size)
    if len(body) != size:
        raise ForeignModelError(CHANGED)
    if not causes or len(set(causes)) < wide or len(set(words)) < tall or not all(map(isfinite, head.features.values())):
        raise ForeignModelError("damaged: a name stands in it twice, or a weight is no number")
    return body


class _HeadOfTrees(Struct):
    names: tuple[str, ...]
    numbers: tuple[float, float, float, float, float, float]
    trees: tuple[tuple[int, int], tuple[int, int]]


class _Head(Struct):
    form: str
    sha256: str
    features: dict[str, float]
    causes: tuple[str, ...]
    structure: tuple[str, ...]
    vocabulary: list[str]
    outcome: _HeadOfTrees


class _Parts:
    """Reads the numbers of a model file's body one part after the other."""

    def __init__(self, body: memoryview) -> None:
        self.left = body

    def forest(self, trees: int, nodes: int) -> Forest:
        roots, feature, right = (self.taken("i", count) for count in (trees, nodes, nodes))
        return Forest(roots, feature, right, self.taken("f", nodes))

    def taken(self, kind: Literal["h", "i", "f"], count: int) -> Any:
        numbers: Any = array(kind)
        size = count * numbers.itemsize
        numbers.frombytes(self.left[:size])
        self.left = self.left[size:]
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers


def _body(data: bytes, most: int = MAX_MODEL_BYTES) -> bytes:
    """The numbers behind the first line of a model file, at most one byte more than `most`."""
    try:
        return zlib.decompressobj().decompress(data[data.find(b"\n") + 1 :], most + 1)
    except zlib.error as error:
        raise ForeignModelError(CHANGED) from error


def active_model() -> tuple[Model, str]:
    """The model to use, read once, and a problem: `$FORENSICS_MODEL`, or the built-in one and why the former cannot be used.

    The problem is empty if there is none. Raises UsageError if the built-in model is damaged.
    """
    return _active_model(os.environ.get("FORENSICS_MODEL", ""))


@functools.cache
def _active_model(named: str) -> tuple[Model, str]:
    problem = ""
    if named:
        path = Path(named).expanduser()
        try:
            return read_model(path), ""
        except ForeignModelError as error:
            problem = f"{path.name}: {error}; the built-in model decides"
    try:
        return read_model(BUILT_IN), problem
    except ForeignModelError as error:
        raise UsageError(f"the built-in model {error}", str(BUILT_IN), "reinstall the package") from error

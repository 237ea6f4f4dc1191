"""The trained model: the outcome, the probability of each cause by words, and the weight of each feature of a candidate.

    {"shutting down", "killed", ...} -> {"process.worker_died": 0.61, "host_memory.oom_global": 0.2, ...}

It has five parts. `outcome`: decision trees over the features of outcome/features.py. `ending`: the last words of a log, see
outcome/ending_words.py. `lines`: which lines give the reason, see outcome/deciding_lines.py. `text`: multinomial logistic
regression over the words of the lines of trouble, weighted by inverse document frequency (TF-IDF without counts, length 1), as
scikit-learn's LogisticRegression computes it. `rank`: a conditional logit, which gives each candidate one utility with the same
weights for all causes, and the softmax of these. The weights are a file of numbers and words, without code:

    one line of JSON (format, causes, vocabulary, names and values of the features' weights, calibration and sizes of the trees,
    sha256 of the rest), then 32-bit little-endian numbers: idf [words], intercepts [causes], coefficients [words][causes],
    intercept and weights [ENDING_ROWS] of the ending, weights of the words [WORD_ROWS] and of the structure of lines; for the
    boosted and for the random trees roots, features, right children, numbers

The standard library is enough to read it: to import numpy would take longer than the whole decision.
"""

import functools
import hashlib
import json
import os
import sys
from array import array
from collections.abc import Collection, Mapping, Sequence
from math import exp, isfinite, sqrt
from pathlib import Path
from typing import Any, Literal

from msgspec import DecodeError, Struct
from msgspec.json import decode

from forensics.core.errors import UsageError
from forensics.data_files import cache
from forensics.decision.candidates import FEATURE_NAMES
from forensics.outcome import features as outcome_features
from forensics.outcome.deciding_lines import STRUCTURE, UNTRAINED_LINE_WEIGHTS, WORD_ROWS, LineWeights
from forensics.outcome.ending_words import ENDING_ROWS, UNTRAINED_ENDING_MODEL, EndingModel
from forensics.outcome.trees import Forest, Trees

MODEL_FORMAT = "forensics-model/5"
BUILT_IN = Path(__file__).parent / "model.weights"
MAX_MODEL_BYTES = 64 << 20  # many times the built-in one: a larger file is no model, and is not read into memory


class ForeignModelError(ValueError):
    """The file has no weights that this version can use; the text says why."""


class Model(Struct, frozen=True):
    """All weights.

    `vocabulary`: word -> its row. `idf` [words]: inverse document frequency. `intercepts` [causes], `coefficients` [words *
    causes], row by row. `feature_weights`: in the order of candidates.FEATURE_NAMES. `outcome`: see Trees. `ending`: see
    EndingModel. `lines`: see LineWeights. `hash`: sha256 of the file's head, in which that of its body stands.
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
    hash: str = ""

    def text(self, words: Collection[str]) -> dict[str, float]:
        """Cause -> its probability by `words`; the sum is 1."""
        rows = sorted(self.vocabulary[w] for w in words if w in self.vocabulary)
        length = sqrt(sum(self.idf[r] ** 2 for r in rows)) or 1.0
        sums, width = list(self.intercepts), len(self.causes)
        for row in rows:
            factor = self.idf[row] / length
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


def model_to_bytes(model: Model) -> bytes:
    """The file of `model`."""
    ending, outcome = model.ending, model.outcome
    floats = [*model.idf, *model.intercepts, *model.coefficients, ending.intercept, *ending.weights]
    floats += [*model.lines.words, *model.lines.structure]
    body = _bytes("f", floats) + _of_forest(outcome.boosted) + _of_forest(outcome.random)
    head = {
        "form": MODEL_FORMAT,
        "sha256": hashlib.sha256(body).hexdigest(),
        "features": dict(zip(FEATURE_NAMES, model.feature_weights, strict=True)),
        "causes": model.causes,
        "structure": STRUCTURE,
        "vocabulary": sorted(model.vocabulary, key=lambda w: model.vocabulary[w]),
        "outcome": {
            "names": outcome.names,
            "numbers": (outcome.base, outcome.slope, outcome.shift, outcome.terminal, outcome.status_zero, outcome.status_other),
            "trees": [(len(f.roots), len(f.feature)) for f in (outcome.boosted, outcome.random)],
        },
    }
    return json.dumps(head, ensure_ascii=True).encode() + b"\n" + body


def read_model(path: Path) -> Model:
    """The Model in `path`; raises ForeignModelError if it is absent, damaged, or made for other features."""
    try:
        found = path.stat()
        if found.st_size > MAX_MODEL_BYTES:
            raise ForeignModelError("larger than any model")
        data = path.read_bytes()
    except OSError as error:
        raise ForeignModelError(f"cannot be read ({error.strerror})") from error
    state = MODEL_FORMAT, str(path.absolute()), found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    key = hashlib.sha256(repr(state).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    kept = cache.read(key)  # of a file that was found to be whole, and has not changed since
    model = model_from_bytes(data, is_whole=kept is not None)
    forests = model.outcome.boosted, model.outcome.random
    if kept and len(kept) == 2 * len(forests):
        for forest, *sums in zip(forests, kept[::2], kept[1::2], strict=True):
            forest.use_sums(*sums)
    elif kept is None:
        cache.write(key, [part for forest in forests for part in forest.sums_to_bytes()])
    return model


def model_from_bytes(data: bytes, is_whole: bool = False) -> Model:
    """The Model in bytes of `model_to_bytes`; ForeignModelError for other bytes. `is_whole`: they are known to be no others."""
    end = max(data.find(b"\n"), 0)
    body = memoryview(data)[end + 1 :]  # a copy would take more memory than a short run
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
    floats = tall + wide + tall * wide + 1 + ENDING_ROWS + WORD_ROWS + len(STRUCTURE)
    size = floats + sum(trees + 3 * nodes for trees, nodes in outcome.trees)
    if len(body) != 4 * size or not (is_whole or hashlib.sha256(body).hexdigest() == head.sha256):
        raise ForeignModelError("damaged: its numbers are not those that were written")
    if not causes or len(set(causes)) < wide or len(set(words)) < tall or not all(map(isfinite, head.features.values())):
        raise ForeignModelError("damaged: a name stands in it twice, or a weight is no number")
    parts = _Parts(body)
    idf, intercepts, coefficients = parts.floats(tall), parts.floats(wide), parts.floats(tall * wide)
    ending_intercept, ending = parts.floats(1)[0], parts.floats(ENDING_ROWS)
    lines = LineWeights(parts.floats(WORD_ROWS), parts.floats(len(STRUCTURE)))
    boosted, random = (parts.forest(trees, nodes) for trees, nodes in outcome.trees)
    base, *calibration = outcome.numbers
    return Model(
        causes=causes,
        vocabulary={w: i for i, w in enumerate(words)},
        idf=idf,
        intercepts=intercepts,
        coefficients=coefficients,
        feature_weights=tuple(head.features.values()),
        outcome=Trees(outcome.names, base, boosted, random, *calibration),
        ending=EndingModel(ending, ending_intercept),
        lines=lines,
        hash=hashlib.sha256(data[:end]).hexdigest(),
    )


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


def _of_forest(forest: Forest) -> bytes:
    whole = (forest.roots, forest.feature, forest.right)
    return b"".join(_bytes("i", part) for part in whole) + _bytes("f", forest.number)


class _Parts:
    """Reads the numbers of a model file's body one part after the other."""

    def __init__(self, body: memoryview) -> None:
        self.left = body

    def floats(self, count: int) -> Sequence[float]:
        found: Sequence[float] = self._taken("f", count)
        return found

    def forest(self, trees: int, nodes: int) -> Forest:
        roots, feature, right = (self._taken("i", count) for count in (trees, nodes, nodes))
        return Forest(roots, feature, right, self.floats(nodes))

    def _taken(self, kind: Literal["f", "i"], count: int) -> Any:
        numbers: Any = array(kind)
        numbers.frombytes(self.left[: 4 * count])
        self.left = self.left[4 * count :]
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers


def _bytes(kind: str, values: Sequence[float]) -> bytes:
    numbers = array(kind, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


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

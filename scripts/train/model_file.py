"""Write a trained model as the file that decision/model.py reads."""

import json
import sys
import zlib
from array import array
from collections.abc import Sequence

from forensics.core.digest import sha256
from forensics.decision.candidates import FEATURE_NAMES
from forensics.decision.model import COEFFICIENT_UNIT, MODEL_FORMAT, WORD_UNIT, Model
from forensics.outcome.deciding_lines import STRUCTURE
from forensics.outcome.trees import Forest


def model_to_bytes(model: Model) -> bytes:
    """The file of `model`."""
    ending, lines, outcome = model.ending, model.lines, model.outcome
    body = _rounded(model.coefficients, model.unit / COEFFICIENT_UNIT)
    body += _rounded(ending.weights, ending.unit / WORD_UNIT) + _rounded(lines.words, lines.unit / WORD_UNIT)
    body += _bytes("f", [*model.idf, *model.intercepts, ending.intercept, *lines.structure])
    body = zlib.compress(body + _of_forest(outcome.boosted) + _of_forest(outcome.random), 9)
    head = {
        "form": MODEL_FORMAT,
        "sha256": sha256(body).hexdigest(),
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


def _of_forest(forest: Forest) -> bytes:
    whole = (forest.roots, forest.feature, forest.right)
    return b"".join(_bytes("i", part) for part in whole) + _bytes("f", forest.number)


def _rounded(numbers: Sequence[float], factor: float) -> bytes:
    """The numbers times `factor` as whole ones of 16 bits; the greatest there is stands for those that are greater."""
    most = (1 << 15) - 1
    return _bytes("h", [max(-most, min(most, round(x * factor))) for x in numbers])


def _bytes(kind: str, values: Sequence[float]) -> bytes:
    numbers = array(kind, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()

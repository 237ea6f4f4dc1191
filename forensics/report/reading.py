"""A document of schema `forensics-report/1` back to the Report it was made of, so that a saved report can be shown again.

{"schema": "forensics-report/1", "case": "run7", "verdict": "crash", "causes": [...], ...} -> Report(case="run7", ...)

The types of the model say what may stand where. Fields that later versions add are ignored, those that earlier versions did not
write get their defaults.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from forensics.errors import UsageError
from forensics.model import Report
from forensics.report.document import SCHEMA

# Names in the document where they differ from those of the model.
NAMES = {
    ("Finding", "proofs"): "evidence",
    ("Finding", "advice"): "remediations",
    ("Proof", "uncertainty_s"): "time_uncertainty_s",
    ("Line", "number"): "line",
}


def report_of(document: object, name: str) -> Report:
    """The Report that `document`, read from `name`, was written from; raises UsageError when it is no such document."""
    try:
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise ValueError(f"no document of schema {SCHEMA}")
        report = cast(Report, _made(Report, document))
        if not report.causes:
            raise ValueError("it names no cause")
        return report
    except (KeyError, ValueError) as error:
        what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise UsageError(
            f"this is no report: {what}", name, "give a file that `forensics analyze --format json` wrote"
        ) from error


def _made(hint: Any, value: Any) -> Any:
    """`value` as the type `hint` wants it; raises ValueError where it does not fit."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _one_of(args, value)
    if origin is Literal:
        return value if value in args else _misfit(hint, value)
    if origin is tuple and isinstance(value, list):
        if args[-1] is ...:
            return tuple(_made(args[0], v) for v in value)
        return tuple(_made(a, v) for a, v in zip(args, value, strict=True))
    if isinstance(value, dict):
        if is_dataclass(hint):
            return _dataclass(hint, value)
        return {k: _made(args[1], v) for k, v in value.items()} if origin is Mapping else _misfit(hint, value)
    return _plain(hint, value)


def _plain(hint: Any, value: Any) -> Any:
    if hint is datetime and isinstance(value, str):
        time = datetime.fromisoformat(value)
        return time if time.tzinfo else _misfit(hint, value)
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else _misfit(hint, value)
    if hint in (str, int, bool, NoneType) and type(value) is hint:
        return value
    return _misfit(hint, value)


def _one_of(hints: tuple[Any, ...], value: Any) -> Any:
    for hint in hints:
        try:
            return _made(hint, value)
        except ValueError:
            continue
    return _misfit(hints[0], value)


def _dataclass(kind: Any, given: Mapping[str, Any]) -> Any:
    hints = get_type_hints(kind)
    made: dict[str, Any] = {}
    for field in fields(kind):
        name = NAMES.get((kind.__name__, field.name), field.name)
        if name in given or (field.default is MISSING and field.default_factory is MISSING):
            made[field.name] = _made(hints[field.name], given[name])
    return kind(**made)


def _misfit(hint: Any, value: Any) -> Any:
    raise ValueError(f"{value!r:.40} where {getattr(hint, '__name__', hint)} is wanted")

"""Cause files to entries: reads signatures/<family>/<cause>.yaml, keeps every fault with its path and line.

A faulty file never half-loads: its faults are collected so that one run shows them all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from forensics.database.entries import HEALTHY, WEIGHTS, Cause, Example, Missing, Remedy, Signature, Weight, Who

MAX_FILE_BYTES = 1 << 20
LINE = "__line__"
CAUSE_KEYS = {"cause", "title", "means", "explains", "fallback", "summary", "signatures", "remedies", "missing"}
SIGNATURE_KEYS = {"id", "weight", "anchor", "pattern", "unless", "since", "source", "examples"}
REMEDY_KEYS = {"do", "who", "why", "commands", "when", "unless", "source"}
MISSING_KEYS = {"what", "why", "command", "unless"}

_Base = cast(Any, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class _LineLoader(_Base):  # type: ignore[misc, valid-type]
    """Safe loader that notes each mapping's line number and refuses a key written twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"line {node.start_mark.line + 1}: key {key!r} is written twice")
        mapping = cast(dict[Any, Any], super().construct_mapping(node, deep=True))
        mapping[LINE] = node.start_mark.line + 1
        return mapping


_LineLoader.add_constructor("tag:yaml.org,2002:map", _LineLoader.construct_mapping)


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """What is wrong in a cause file, and where."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        """`path:line: what`, as compilers print it."""
        return f"{self.path}:{self.line}: {self.what}"


class _BadError(Exception):
    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line, self.what = line, what


def cause_files(folder: Path) -> list[Path]:
    """Every cause file below `folder`, in a stable order."""
    return sorted(p for p in folder.rglob("*.yaml") if p.is_file())


def read_causes(folder: Path) -> tuple[list[Cause], list[Fault]]:
    """All causes that could be read below `folder`, and the faults of those that could not."""
    causes: list[Cause] = []
    faults: list[Fault] = []
    for path in cause_files(folder):
        try:
            causes.append(read_cause(path))
        except _BadError as bad:
            faults.append(Fault(str(path), bad.line, bad.what))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            mark = getattr(error, "problem_mark", None)
            faults.append(Fault(str(path), mark.line + 1 if mark else 1, " ".join(str(error).split())))
    return causes, faults


def read_cause(path: Path) -> Cause:
    """One cause file; raises `_BadError` with the line of the first fault."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise _BadError(1, f"larger than {MAX_FILE_BYTES} bytes")
    data = yaml.load(path.read_text(encoding="utf-8"), _LineLoader)
    _keys(data, CAUSE_KEYS, {"cause", "title", "means", "signatures"}, 1)
    cause = _text(data, "cause")
    expected = f"{path.parent.name}.{path.stem}"
    if cause != expected:
        raise _BadError(data[LINE], f"cause is {cause!r} but the file's place says {expected!r}")
    return Cause(
        id=cause,
        title=_text(data, "title"),
        means=" ".join(_text(data, "means").split()),
        explains=_texts(data, "explains"),
        fallback=bool(data.get("fallback", False)),
        summary=tuple(_sentences(data)),
        signatures=tuple(_signature(cause, s) for s in _list(data, "signatures")),
        remedies=tuple(_remedy(r) for r in _list(data, "remedies", needed=cause != HEALTHY)),
        missing=tuple(_missing(m) for m in _list(data, "missing", needed=False)),
    )


def _signature(cause: str, data: Any) -> Signature:
    _keys(data, SIGNATURE_KEYS, {"id", "weight", "anchor", "pattern", "source", "examples"})
    if data["weight"] not in WEIGHTS:
        raise _BadError(data[LINE], f"weight {data['weight']!r} is none of {', '.join(WEIGHTS)}")
    examples = data["examples"]
    _keys(examples, {"match", "no_match"}, {"match", "no_match"})
    return Signature(
        cause=cause,
        name=_text(data, "id"),
        weight=cast(Weight, data["weight"]),
        anchors=_texts(data, "anchor"),
        pattern=_text(data, "pattern").strip(),
        unless=_texts(data, "unless"),
        since=str(data.get("since", "")),
        source=_text(data, "source"),
        match=tuple(_example(e, {"text", "fields"}) for e in _list(examples, "match")),
        no_match=tuple(_example(e, {"text", "why"}) for e in _list(examples, "no_match")),
    )


def _example(data: Any, keys: set[str]) -> Example:
    _keys(data, keys, {"text"})
    fields = data.get("fields") or {}
    return Example(
        text=_text(data, "text"),
        fields={str(k): str(v) for k, v in fields.items() if k != LINE},
        why=str(data.get("why", "")),
    )


def _remedy(data: Any) -> Remedy:
    _keys(data, REMEDY_KEYS, {"do", "who", "why"})
    if data["who"] not in ("user", "admin"):
        raise _BadError(data[LINE], f"who {data['who']!r} is neither user nor admin")
    return Remedy(
        do=_one_line(data, "do"),
        who=cast(Who, data["who"]),
        why=_one_line(data, "why"),
        commands=_texts(data, "commands"),
        when=_texts(data, "when"),
        unless=_texts(data, "unless"),
        source=str(data.get("source", "")),
    )


def _missing(data: Any) -> Missing:
    _keys(data, MISSING_KEYS, {"what", "why", "command"})
    return Missing(
        what=_one_line(data, "what"),
        why=_one_line(data, "why"),
        command=_text(data, "command"),
        unless=_texts(data, "unless"),
    )


def _sentences(data: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for sentence in _list(data, "summary", needed=False):
        alternatives = sentence if isinstance(sentence, list) else [sentence]
        if not all(isinstance(a, str) for a in alternatives):
            raise _BadError(data[LINE], "summary holds sentences or lists of alternative sentences")
        yield tuple(" ".join(a.split()) for a in alternatives)


def _keys(data: Any, known: set[str], needed: set[str], line: int | None = None) -> None:
    if not isinstance(data, dict):
        raise _BadError(line or 1, f"expected a mapping with {', '.join(sorted(needed))}, found {type(data).__name__}")
    given = set(data) - {LINE}
    if unknown := given - known:
        raise _BadError(data[LINE], f"unknown key {', '.join(sorted(map(str, unknown)))}; known are {', '.join(sorted(known))}")
    if lacking := needed - given:
        raise _BadError(data[LINE], f"missing key {', '.join(sorted(lacking))}")


def _text(data: dict[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str) or not value:
        raise _BadError(data[LINE], f"{key} must be a text, found {value!r}")
    return value


def _one_line(data: dict[str, Any], key: str) -> str:
    return " ".join(_text(data, key).split())


def _texts(data: dict[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts; a single text counts as a list of one."""
    value = data.get(key) or []
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
        raise _BadError(data[LINE], f"{key} must be a text or a list of texts, found {value!r}")
    return tuple(v.strip("\n") for v in values)


def _list(data: dict[str, Any], key: str, needed: bool = True) -> list[Any]:
    value = data.get(key) or []
    if not isinstance(value, list) or (needed and not value):
        raise _BadError(data[LINE], f"{key} must be a list with at least one entry" if needed else f"{key} must be a list")
    return value

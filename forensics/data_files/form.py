"""Parse the YAML of a cause file and check its form. Each mapping gets the number of its line.

    - {do: Mend it, who: user}   ->   {"do": "Mend it", "who": "user", "__line__": 12}

Files may come from strangers: aliases are rejected (a small file could become huge), and so is a key that is written twice.
"""

import reprlib
from typing import Any, cast

import yaml
from msgspec import Struct

LINE_KEY = "__line__"
MAX_NESTING = 20  # a cause file needs less than half; thousands of brackets would end Python by recursion
_Base = cast(Any, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class Fault(Struct, frozen=True, order=True):
    """A fault in a cause file, with path and line."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        """`path:line: what`, as compilers print it."""
        return f"{self.path}:{self.line}: {self.what}"


class BadFormError(Exception):
    """A value does not have the required form."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line, self.what = line, what


class WrittenMapping(dict[str, Any]):
    """A mapping of a file, which knows at which line each of its keys stands."""

    key_lines: dict[str, int]


def line_of(data: dict[str, Any], key: str) -> int:
    """The line of a key; that of its mapping where that is not known."""
    line: int = data[LINE_KEY]
    return data.key_lines.get(key, line) if isinstance(data, WrittenMapping) else line


def with_instead(instead: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """`data` with a value of `instead` for each key that it lacks; its lines stay known."""
    made = WrittenMapping(instead | data)
    made.key_lines = data.key_lines if isinstance(data, WrittenMapping) else {}
    return made


class _LineLoader(_Base):  # type: ignore[misc, valid-type]
    """Safe loader that notes the line number of each mapping and of its keys, and refuses a key written twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key.value, str) or key.value in seen:
                trouble = "is written twice" if isinstance(key.value, str) else "must be a plain word"
                raise BadFormError(key.start_mark.line + 1, f"key {brief(key.value)} {trouble}")
            seen.add(key.value)
        mapping = WrittenMapping(super().construct_mapping(node, deep=True))
        mapping[LINE_KEY] = node.start_mark.line + 1
        mapping.key_lines = {key.value: key.start_mark.line + 1 for key, _ in node.value}
        return mapping


_LineLoader.add_constructor("tag:yaml.org,2002:map", _LineLoader.construct_mapping)


def parse(text: str) -> Any:
    """The document of `text`; raises BadFormError, with its line, for invalid YAML or YAML features that are not allowed."""
    try:
        _guard(text)
        return yaml.load(text, _LineLoader)
    except yaml.MarkedYAMLError as error:
        line = getattr(error.problem_mark, "line", 0) + 1
        raise BadFormError(line, str(error.problem or error.context)) from error
    except (yaml.YAMLError, ValueError) as error:
        raise BadFormError(1, " ".join(str(error).split())[:300]) from error
    except RecursionError as error:
        raise BadFormError(1, "nested too deeply") from error


def _guard(text: str) -> None:
    """Reject aliases and deep nesting, with which a small text can cost much time and memory."""
    depth = 0
    for event in yaml.parse(text, _Base):
        line = getattr(event.start_mark, "line", 0) + 1
        if isinstance(event, yaml.AliasEvent):
            raise BadFormError(line, "YAML aliases are not read")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_NESTING:
            raise BadFormError(line, "nested too deeply")


def brief(value: Any) -> str:
    """`value` as it is written in Python, cut short."""
    return reprlib.repr(value)


def keys(data: Any, known: set[str], needed: set[str], line: int = 1) -> None:
    """Check that `data` is a mapping with all `needed` and only `known` keys. `line`: for the fault if it is not a mapping."""
    for bad in key_faults(data, known, needed, line):
        raise bad


def key_faults(data: Any, known: set[str], needed: set[str], line: int = 1) -> list[BadFormError]:
    """The faults of the keys of `data`; raises one if it is no mapping."""
    if not isinstance(data, dict):
        raise BadFormError(line, f"expected a mapping with {', '.join(sorted(needed or known))}, found {brief(data)}")
    given = {str(k) for k in data} - {LINE_KEY}
    unknown, lacking = sorted(given - known), sorted(needed - given)
    found = [f"unknown key {', '.join(unknown[:5])}; known are {', '.join(sorted(known))}"] if unknown else []
    found += [f"missing key {', '.join(lacking)}"] if lacking else []
    lines = [line_of(data, name) for name in unknown[:1]] + [data[LINE_KEY]]
    return [BadFormError(line, what) for line, what in zip(lines, found, strict=False)]


def text(data: dict[str, Any], key: str, longest: int = 0) -> str:
    """The text under `key`, not empty, of at most `longest` characters (0: any)."""
    value = data[key]
    if not isinstance(value, str) or not value.strip():
        raise BadFormError(line_of(data, key), f"{key} must be a text, found {brief(value)}")
    return _bounded(data, key, value, longest)


def one_line(data: dict[str, Any], key: str) -> str:
    """The text under `key` with its line breaks as spaces."""
    return " ".join(text(data, key).split())


def texts(data: dict[str, Any], key: str, longest: int = 0) -> tuple[str, ...]:
    """A list of texts; a single text counts as a list of one, no key as an empty one."""
    value = data.get(key) or []
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
        raise BadFormError(line_of(data, key), f"{key} must be a text or a list of texts, found {brief(value)}")
    return tuple(_bounded(data, key, v.strip("\n"), longest) for v in values)


def entries(data: dict[str, Any], key: str, needed: bool = True) -> list[Any]:
    """The list under `key`; where it is `needed` it has at least one entry."""
    value = data.get(key) or []
    if not isinstance(value, list) or (needed and not value):
        raise BadFormError(
            line_of(data, key), f"{key} must be a list with at least one entry" if needed else f"{key} must be a list"
        )
    return value


def _bounded(data: dict[str, Any], key: str, value: str, longest: int) -> str:
    if longest and len(value) > longest:
        raise BadFormError(line_of(data, key), f"{key} has {len(value)} characters; {longest} is the limit")
    return value

"""Go through all texts of a Report: to read them, or to change each of them."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import astuple, replace

T = TypeVar("T")
NO_TEXT = (type(None), int, float, datetime)  # most values of a report; tested first, because a test for Mapping is slow


def texts(value: Any) -> list[str]:
    """Every text inside structs, tuples and mappings in their order; without keys of mappings, which come from no log."""
    found: list[str] = []
    _gather(value, found.append)
    return found


def fields_with_texts(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Every text inside structs, tuples and mappings with its field: `Proof.text`, of a mapping `Finding.facts.host`."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, tuple):
        for item in value:
            yield from fields_with_texts(item, field)
    elif isinstance(value, Struct):
        kind = type(value).__name__
        for name, item in zip(value.__struct_fields__, astuple(value), strict=True):
            yield from fields_with_texts(item, f"{kind}.{name}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from fields_with_texts(item, f"{field}.{key}")


def _gather(value: Any, take: Callable[[str], None]) -> None:
    if isinstance(value, str):
        take(value)
    elif isinstance(value, NO_TEXT):
        pass
    elif isinstance(value, tuple):
        for item in value:
            _gather(item, take)
    elif isinstance(value, Struct):
        for item in astuple(value):
            _gather(item, take)
    elif isinstance(value, Mapping):
        for item in value.values():
            _gather(item, take)


def changed(value: T, change: Callable[[str], str]) -> T:
    """The same value with every text changed; a part without a change stays the same object."""
    return cast(T, _changed(value, change))


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, NO_TEXT):
        return value
    if isinstance(value, tuple):
        made = tuple(_changed(v, change) for v in value)
        return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
    if isinstance(value, Struct):
        fields = zip(value.__struct_fields__, astuple(value), strict=True)
        touched = {name: made for name, given in fields if (made := _changed(given, change)) is not given}
        return replace(value, **touched) if touched else value
    if isinstance(value, Mapping):
        return {k: _changed(v, change) for k, v in value.items()}
    return value

"""Every text of a Report, for those who look at all of them or change all of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

T = TypeVar("T")


def texts(value: Any) -> Iterator[str]:
    """Every text inside dataclasses, tuples and mappings (keys of mappings are our own words)."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from texts(item)
    elif isinstance(value, Mapping):
        yield from texts(tuple(value.values()))
    elif is_dataclass(value):
        for field in fields(value):
            yield from texts(getattr(value, field.name))


def changed(value: T, change: Callable[[str], str]) -> T:
    """The same value with every text changed; what no change touches stays the same object."""
    return cast(T, _changed(value, change))


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        made = tuple(_changed(v, change) for v in value)
        return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
    if isinstance(value, Mapping):
        return {k: _changed(v, change) for k, v in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        new = {f.name: _changed(getattr(value, f.name), change) for f in fields(value)}
        touched = {k: v for k, v in new.items() if v is not getattr(value, k)}
        return replace(value, **touched) if touched else value
    return value

"""Every text of a Report, for those who look at all of them or change all of them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

T = TypeVar("T")


def texts(value: Any) -> Iterator[str]:
    """Every text inside structs, tuples and mappings (keys of mappings are our own words)."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from texts(item)
    elif isinstance(value, Mapping):
        yield from texts(tuple(value.values()))
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from texts(getattr(value, name))


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
    if isinstance(value, Struct):
        new = {n: _changed(getattr(value, n), change) for n in value.__struct_fields__}
        touched = {k: v for k, v in new.items() if v is not getattr(value, k)}
        return replace(value, **touched) if touched else value
    return value

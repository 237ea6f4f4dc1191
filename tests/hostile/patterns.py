"""Every compiled pattern of the package, wherever it stands: a constant of a module, in a tuple, a dictionary, a struct."""

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from typing import Any

import regex
from msgspec import Struct

import forensics
from forensics.core import lazy

Pattern = re.Pattern[str] | re.Pattern[bytes]
KINDS = (re.Pattern, type(regex.compile("")), type(lazy.regex("")))


def all_patterns() -> dict[str, Any]:
    """`forensics.core.text.ANSI` or `forensics.x.RULES[3].pattern` -> the pattern; each once, under its first name."""
    found: dict[str, Any] = {}
    seen: set[tuple[str | bytes, int]] = set()
    for module in sorted(
        m.name for m in pkgutil.walk_packages(forensics.__path__, "forensics.") if not m.name.endswith("__main__")
    ):
        try:
            held = vars(importlib.import_module(module))
        except ModuleNotFoundError:
            if module.startswith("forensics.adapters."):  # what it is an adapter for is not installed
                continue
            raise
        for name, value in sorted(held.items()):
            for place, pattern in _inside(value, f"{module}.{name}", set()):
                key = (pattern.pattern, pattern.flags)
                if key not in seen:
                    seen.add(key)
                    found[place] = pattern
    return found


def _inside(value: object, place: str, on_the_way: set[int]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, KINDS):
        yield place, value
        return
    if id(value) in on_the_way or len(on_the_way) > 6:
        return
    inner = on_the_way | {id(value)}
    if isinstance(value, (list, tuple, set, frozenset)):
        for i, item in enumerate(value):
            yield from _inside(item, f"{place}[{i}]", inner)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _inside(item, f"{place}[{key!r}]", inner)
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from _inside(getattr(value, name, None), f"{place}.{name}", inner)
    elif hasattr(value, "__closure__") and not isinstance(value, type):  # a search made by a function that keeps its pattern
        for cell in value.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:
                continue
            yield from _inside(held, f"{place}()", inner)
    elif callable(getattr(value, "__self__", None)) or isinstance(getattr(value, "__self__", None), KINDS):
        yield from _inside(value.__self__, place, inner)  # PATTERN.search as a constant

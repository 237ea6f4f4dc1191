"""Containers of records to lines of text, each line with its number in the original.

    {"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.1Z"}  ->  2026-08-22T03:00:07.1Z Killed

Each module of this package is one container: it exports FORMATS, a tuple of Format. Being there is being registered. What is
no record inside a container passes as it stands.
"""

import functools
import importlib
import pkgutil

from forensics.sources.formats.base import Format, Head

__all__ = ["Format", "Head", "all_formats", "recognise"]

TOOLS = ("base", "entry", "documents", "stamps")


@functools.cache
def all_formats() -> tuple[Format, ...]:
    """Every format of this package, in the order in which they are asked; raises ValueError for a name used twice."""
    found: list[Format] = []
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in TOOLS):
        found += importlib.import_module(f"{__name__}.{module}").FORMATS
    names = [f.name for f in found]
    if len(set(names)) < len(names):
        raise ValueError(f"format defined twice: {', '.join(sorted({n for n in names if names.count(n) > 1}))}")
    return tuple(sorted(found, key=lambda f: f.rank))


def recognise(head: Head, raw: bool) -> Format | None:
    """The format that `head` is written in, among those read raw or among those read as text; None for plain text."""
    return next((f for f in all_formats() if f.raw == raw and f.recognises(head)), None)

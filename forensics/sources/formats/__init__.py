"""Convert container formats of log records to lines of text; each line keeps its number in the original file.

    {"log":"Killed\\n","stream":"stderr","time":"2026-08-22T03:00:07.1Z"}  ->  2026-08-22T03:00:07.1Z Killed

Each module of this package handles one kind of container and exports FORMATS, a tuple of Format. Every module in this folder is
registered, except those in NOT_FORMATS. Most formats pass lines that are not records unchanged.
"""

import functools
import importlib

from forensics.core.errors import RegistrationError
from forensics.core.modules import modules
from forensics.sources.formats.base import Format, Head

NOT_FORMATS = {"base", "documents", "entry", "stamps"}


@functools.cache
def all_formats() -> tuple[Format, ...]:
    """Every format of this package, in the order in which they are tried.

    Raises RegistrationError, which says what to do, for a module without formats and for a name that is used twice.
    """
    found: dict[str, tuple[str, Format]] = {}
    for module in sorted(modules(__path__).keys() - NOT_FORMATS):
        place = f"{__name__}.{module}"
        formats = getattr(importlib.import_module(place), "FORMATS", None)
        if formats is None:
            raise RegistrationError(
                "no FORMATS", place, f"export a tuple of Format, or name the module in {__name__}.NOT_FORMATS"
            )
        for form in formats:
            if form.name in found:
                where = f"{found[form.name][0]} and {place}"
                raise RegistrationError(f"both define the format {form.name!r}", where, "rename one")
            found[form.name] = place, form
    return tuple(sorted((form for _, form in found.values()), key=lambda form: form.rank))


def recognise(head: Head, raw: bool) -> Format | None:
    """The first format that recognises `head`, among those with this value of `raw`; None for plain text."""
    return next((f for f in _formats(raw) if f.recognises(head)), None)


@functools.cache
def _formats(raw: bool) -> tuple[Format, ...]:
    return tuple(f for f in all_formats() if f.raw == raw)

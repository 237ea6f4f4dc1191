"""Understand: hits and regions become Events with named fields.

A record parser is a module of this package with a `TRIGGER` (or `TRIGGERS`) and `read(region) -> Record | None`. Being
there is being registered. What a record decides replaces the hits inside it; what it only describes lends them its fields. A
hit of none.healthy silences the hits that overlap it in its line.
"""

import functools
import importlib
import pkgutil
from types import ModuleType

from forensics.model import Event, Scan, Trigger
from forensics.records.base import Record
from forensics.records.events import to_events

__all__ = ["read", "triggers"]

HELPERS = {"base", "events", "owner", "units"}


@functools.cache
def _parsers() -> dict[str, ModuleType]:
    modules = (importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__) if m.name not in HELPERS)
    return {_triggers_of(m)[0].kind: m for m in modules}


def _triggers_of(module: ModuleType) -> tuple[Trigger, ...]:
    return tuple(module.TRIGGERS) if hasattr(module, "TRIGGERS") else (module.TRIGGER,)


def triggers() -> tuple[Trigger, ...]:
    """What every record parser wants the scanner to look for."""
    return tuple(t for _, m in sorted(_parsers().items()) for t in _triggers_of(m))


def read(scan: Scan) -> list[Event]:
    """The events of one source, in order of their lines."""
    records: list[Record] = []
    for kind, parser in sorted(_parsers().items()):
        past = 0
        for region in sorted(scan.regions.get(kind, ()), key=lambda r: r.number):
            if region.number <= past:  # inside the record before it
                continue
            record = parser.read(region)
            if record:
                records.append(record)
                past = record.last if record.decides else region.number
    return to_events(scan, records)

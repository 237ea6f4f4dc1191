"""Understand: hits and regions become Observations with named fields.

A record parser is a module of this package with a `TRIGGER` (or `TRIGGERS`, all of one kind) and `read(region) -> Record |
None`. Being there is being registered. It may have `join(records) -> records` where several places of one source say together
what none says alone, and `FOLDS = True` where equal ones of several lines are to be counted as one. What a record decides
replaces the hits inside it; what it only describes lends them its fields. A hit of none.healthy silences the hits that
overlap it in its line.
"""

import functools
import importlib
import pkgutil
from collections.abc import Sequence
from types import ModuleType

from forensics.core.errors import unexpected
from forensics.detectors.across import together
from forensics.detectors.base import Record
from forensics.detectors.events import to_events
from forensics.detectors.fold import fold
from forensics.detectors.xid_context import settle
from forensics.model import Observation, Region, Scan, Trigger, Warn, Warning

__all__ = ["read", "together", "triggers"]

NOT_DETECTORS = {
    "across",
    "base",
    "captured_account",
    "xid_context",
    "events",
    "fold",
    "culprit_rank",
    "units",
}


@functools.cache
def _parsers() -> dict[str, ModuleType]:
    """By kind, in order of it. Raises TypeError for a module that lacks something, ValueError for a kind that two have."""
    found: dict[str, ModuleType] = {}
    for name in sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in NOT_DETECTORS):
        module = importlib.import_module(f"{__name__}.{name}")
        if not (hasattr(module, "TRIGGER") or hasattr(module, "TRIGGERS")) or not hasattr(module, "read"):
            raise TypeError(
                f"{module.__name__} lacks TRIGGER or read(): add them, or name the module in {__name__}.NOT_DETECTORS"
            )
        kind = _triggers_of(module)[0].kind
        if kind in found:
            raise ValueError(f"kind {kind!r} is that of {found[kind].__name__} and of {module.__name__}: rename one")
        found[kind] = module
    return dict(sorted(found.items()))


def _triggers_of(module: ModuleType) -> tuple[Trigger, ...]:
    return tuple(module.TRIGGERS) if hasattr(module, "TRIGGERS") else (module.TRIGGER,)


def triggers() -> tuple[Trigger, ...]:
    """What every record parser wants the scanner to look for."""
    return tuple(t for m in _parsers().values() for t in _triggers_of(m))


def read(scan: Scan, warn: Warn | None = None) -> list[Observation]:
    """The events of one source, in order of their lines. `warn` hears of a place that made a parser fail; without it, that
    raises."""
    found = {k: _records(parser, scan.regions[k], warn) for k, parser in _parsers().items() if scan.regions.get(k)}
    folded: list[Record] = []
    for kind, records in settle(found).items():
        longer = getattr(_parsers()[kind], "FOLDS", False)
        folded += fold(records, len(scan.regions[kind]), scan.totals.get(kind, 0), longer)
    return to_events(scan, folded)


def _records(parser: ModuleType, regions: Sequence[Region], warn: Warn | None) -> list[Record]:
    records: list[Record] = []
    past = 0
    for region in sorted(regions, key=lambda r: r.number):
        if region.number <= past:  # inside the record before it
            continue
        record = _record(parser, region, warn)
        if record:
            records.append(record)
            past = record.last if record.decides else region.number
    joined: list[Record] = parser.join(records) if hasattr(parser, "join") else records
    return joined


def _record(parser: ModuleType, region: Region, warn: Warn | None) -> Record | None:
    try:
        record: Record | None = parser.read(region)
        return record
    except Exception as error:
        if warn is None:
            raise
        warn(Warning("internal", f"the record here was not read: {unexpected(error)}", region.source, region.number))
        return None

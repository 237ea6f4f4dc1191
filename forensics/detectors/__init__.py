"""Understand: hits and regions become Observations with named fields.

A record parser is a module of this package with a `TRIGGER` (or `TRIGGERS`, all of one kind), `OUTCOMES` and `read(region) ->
Record | None`. Being there is being registered. A record tells one of the outcomes; signatures/records.yaml says
which cause that proves. The module may have `join(records) -> records` where several places of one source say together what none
says alone, and `FOLDS = True` where equal ones of several lines are to be counted as one. What a record decides
replaces the hits inside it; what it only describes lends them its fields. A hit of none.healthy silences the hits that
overlap it in its line.
"""

import functools
import importlib
import pkgutil
from collections.abc import Sequence
from functools import partial
from types import ModuleType

from forensics.core.errors import unexpected
from forensics.database import Database, Records
from forensics.detectors.base import Record, with_cause
from forensics.detectors.events import to_events
from forensics.detectors.fold import fold
from forensics.detectors.nccl_timeouts import together
from forensics.detectors.xid_context import settle
from forensics.model import Observation, Region, Scan, Trigger, Warn, Warning

__all__ = ["outcomes", "read", "together", "triggers"]

NOT_DETECTORS = {
    "nccl_timeouts",
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


def outcomes() -> dict[str, tuple[str, ...]]:
    """The words for what each kind of record can tell, in which signatures/records.yaml names the causes."""
    return {kind: tuple(m.OUTCOMES) for kind, m in _parsers().items()}


def read(scan: Scan, knowledge: Database, warn: Warn | None = None) -> list[Observation]:
    """The events of one source, in order of their lines. `knowledge` says which cause a record proves; `warn` hears of a place
    that made a parser fail; without it, that raises."""
    told = partial(_records, proves=knowledge.records, warn=warn)
    found = {k: told(parser, scan.regions[k]) for k, parser in _parsers().items() if scan.regions.get(k)}
    folded: list[Record] = []
    for kind, records in settle(found, knowledge).items():
        longer = getattr(_parsers()[kind], "FOLDS", False)
        folded += fold(records, len(scan.regions[kind]), scan.totals.get(kind, 0), longer)
    return to_events(scan, folded)


def _records(parser: ModuleType, regions: Sequence[Region], proves: Records, warn: Warn | None) -> list[Record]:
    records: list[Record] = []
    past = 0
    for region in sorted(regions, key=lambda r: r.number):
        if region.number <= past:  # inside the record before it
            continue
        one = _record(parser, region, warn)
        if one:
            record = with_cause(one, proves)
            records.append(record)
            past = record.last if record.decides else region.number
    return [with_cause(r, proves) for r in parser.join(records)] if hasattr(parser, "join") else records


def _record(parser: ModuleType, region: Region, warn: Warn | None) -> Record | None:
    try:
        record: Record | None = parser.read(region)
        return record
    except Exception as error:
        if warn is None:
            raise
        warn(Warning("internal", f"the record here was not read: {unexpected(error)}", region.source, region.number))
        return None

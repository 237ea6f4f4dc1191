"""Readers: lines become Observations with named fields. What a program prints is parsed here, in one module, and nowhere else.

A folder holds what one producer prints, a module one form of it. A module of records has a `TRIGGER` (or `TRIGGERS`, all of one
kind), `OUTCOMES` and `read(region) -> Record | None`; it is registered by being in a folder. A record has one of the outcomes, or
None if it proves nothing by itself; signatures/records.yaml says which cause each outcome proves. A module may also have
`join(records) -> records`, for findings that need several places of a source together, and `FOLDS = True`, if equal records of
several lines count as one. A record with an outcome replaces the hits inside it; a record without one adds its fields to them. A
hit of none.healthy suppresses the hits that overlap it in its line. The other modules read what a report tells beside the
evidence: the environment, the numbers, the place; what they need of a scan is named by their `TRIGGER`, too.
"""

import functools
import importlib
import pkgutil
from collections.abc import Sequence
from functools import partial
from types import ModuleType

from forensics.core.errors import RegistrationError, unexpected
from forensics.database import Database, Records
from forensics.model import Observation, Region, Scan, Trigger, Warn, Warning
from forensics.readers.base import Record, with_cause
from forensics.readers.capture.own_message import resolve_told
from forensics.readers.events import to_events
from forensics.readers.fold import fold_records
from forensics.readers.gpu.xid_context import resolve_xids
from forensics.readers.python.exception_words import read_exceptions
from forensics.readers.torch.nccl_timeouts import merge_nccl_timeouts

__all__ = ["merge_nccl_timeouts", "outcomes", "read", "triggers"]


@functools.cache
def _modules() -> tuple[ModuleType, ...]:
    """All modules of the folders of producers, in order of name."""
    names = sorted(m.name for m in pkgutil.walk_packages(__path__, f"{__name__}.") if not m.ispkg)
    return tuple(importlib.import_module(name) for name in names)


@functools.cache
def _parsers() -> dict[str, ModuleType]:
    """The modules of records by kind. Raises RegistrationError for an incomplete module and for a kind of two modules."""
    found: dict[str, ModuleType] = {}
    for module in _modules():
        if not hasattr(module, "OUTCOMES"):
            continue
        if not _triggers_of(module) or not hasattr(module, "read"):
            raise RegistrationError("no TRIGGER or no read()", module.__name__, "add them, or leave OUTCOMES out")
        kind = _triggers_of(module)[0].kind
        if kind in found:
            where = f"{found[kind].__name__} and {module.__name__}"
            raise RegistrationError(f"both have the kind {kind!r}", where, "rename one")
        found[kind] = module
    return dict(sorted(found.items()))


def _triggers_of(module: ModuleType) -> tuple[Trigger, ...]:
    return tuple(module.TRIGGERS) if hasattr(module, "TRIGGERS") else (module.TRIGGER,) if hasattr(module, "TRIGGER") else ()


def triggers() -> tuple[Trigger, ...]:
    """What the scanner has to look for, for all readers, each once. Raises RegistrationError, see `_parsers`."""
    _parsers()
    return tuple(dict.fromkeys(t for m in _modules() for t in _triggers_of(m)))


def outcomes() -> dict[str, tuple[str, ...]]:
    """The outcomes that each kind of record can have; signatures/records.yaml gives the cause of each."""
    return {kind: tuple(m.OUTCOMES) for kind, m in _parsers().items()}


def read(scan: Scan, knowledge: Database, warn: Warn | None = None) -> list[Observation]:
    """The events of one source, in order of line. `knowledge`: the database, with the cause that each outcome proves. `warn`: is
    called with a Warning for each place where a parser failed; without it, the parser's exception is raised."""
    read_records = partial(_records, proves=knowledge.records, warn=warn)
    found = {k: read_records(parser, scan.regions[k]) for k, parser in _parsers().items() if scan.regions.get(k)}
    folded: list[Record] = []
    for kind, records in resolve_xids(resolve_told(found, knowledge), knowledge).items():
        longer = getattr(_parsers()[kind], "FOLDS", False)
        folded += fold_records(records, len(scan.regions[kind]), scan.totals.get(kind, 0), longer)
    return read_exceptions(to_events(scan, folded), knowledge)


def _records(parser: ModuleType, regions: Sequence[Region], proves: Records, warn: Warn | None) -> list[Record]:
    records: list[Record] = []
    past = 0
    for region in sorted(regions, key=lambda r: r.number):
        if region.number <= past:  # it is inside the previous record
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

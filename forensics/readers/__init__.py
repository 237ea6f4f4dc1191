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
from collections.abc import Iterable, Sequence
from functools import partial
from types import ModuleType

from msgspec import Struct
from msgspec.structs import replace

from forensics.core.errors import RegistrationError, unexpected
from forensics.core.modules import modules
from forensics.data_files.cached_data import kept
from forensics.data_files.named_parts import part_rows
from forensics.database import Database, Records
from forensics.model import Observation, Region, Scan, Trigger, Warn, Warning
from forensics.readers.base import Record, with_cause
from forensics.readers.capture.own_message import resolve_told
from forensics.readers.events import to_events
from forensics.readers.fold import fold_records
from forensics.readers.python.exception_words import read_exceptions
from forensics.readers.python.quoted_source import Quotes
from forensics.readers.torch.nccl_watchdog import merge_nccl_timeouts


class _Reader(Struct, frozen=True):
    """A module of a folder of producers: what it looks for, and the kind of its records, empty if it makes none."""

    module: str
    triggers: tuple[Trigger, ...]
    kind: str


@functools.cache
def _readers() -> tuple[_Reader, ...]:
    """All modules that look for something, in order of name. As long as no file of them changes, none is imported for that."""
    files = modules(__path__)
    states = ((n, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for n, s in ((n, f.stat()) for n, f in files.items()))
    return kept((*__path__, tuple(states)), tuple[_Reader, ...], lambda: find_readers(files))


def find_readers(names: Iterable[str]) -> tuple[_Reader, ...]:
    """The readers among the modules `names` of this package, which are imported. Raises RegistrationError for an incomplete one
    and for a kind of two modules."""
    found: list[_Reader] = []
    of_kind: dict[str, str] = {}
    for module in (importlib.import_module(f"{__name__}.{name}") for name in names):
        triggers, kind = _triggers_of(module), ""
        if hasattr(module, "OUTCOMES"):
            if not triggers or not hasattr(module, "read"):
                raise RegistrationError("no TRIGGER or no read()", module.__name__, "add them, or leave OUTCOMES out")
            kind = triggers[0].kind
            if kind in of_kind:
                where = f"{of_kind[kind]} and {module.__name__}"
                raise RegistrationError(f"both have the kind {kind!r}", where, "rename one")
            of_kind[kind] = module.__name__
        if triggers:
            found.append(_Reader(module.__name__, triggers, kind))
    return tuple(found)


def _triggers_of(module: ModuleType) -> tuple[Trigger, ...]:
    return tuple(module.TRIGGERS) if hasattr(module, "TRIGGERS") else (module.TRIGGER,) if hasattr(module, "TRIGGER") else ()


@functools.cache
def _kinds() -> dict[str, str]:
    """The name of the module of each kind of records."""
    return dict(sorted((r.kind, r.module) for r in _readers() if r.kind))


def _parser(kind: str) -> ModuleType:
    return importlib.import_module(_kinds()[kind])


def triggers() -> tuple[Trigger, ...]:
    """What the scanner has to look for, for all readers, each once. Raises RegistrationError, see `find_readers`."""
    return tuple(dict.fromkeys(with_texts(t) for r in _readers() for t in r.triggers))


def with_texts(trigger: Trigger) -> Trigger:
    """`trigger` with the texts of the group that it names."""
    return replace(trigger, anchors=part_rows(trigger.of)[0].texts, of="") if trigger.of else trigger


def outcomes() -> dict[str, tuple[str, ...]]:
    """The outcomes that each kind of record can have; signatures/records.yaml gives the cause of each."""
    return {kind: tuple(_parser(kind).OUTCOMES) for kind in _kinds()}


def read(scan: Scan, knowledge: Database, warn: Warn | None = None) -> list[Observation]:
    """The events of one source, in order of line. `knowledge`: the database, with the cause that each outcome proves. `warn`: is
    called with a Warning for each place where a parser failed; without it, the parser's exception is raised."""
    read_records = partial(_records, quotes=Quotes(scan), proves=knowledge.records, warn=warn)
    found = {k: read_records(_parser(k), scan.regions[k]) for k in _kinds() if scan.regions.get(k)}
    found = resolve_told(found, knowledge)
    if "xid" in found:
        from forensics.readers.gpu.xid import resolve_xids

        found = resolve_xids(found, knowledge)
    folded: list[Record] = []
    for kind, records in found.items():
        longer = getattr(_parser(kind), "FOLDS", False)
        folded += fold_records(records, len(scan.regions[kind]), scan.totals.get(kind, 0), longer)
    return read_exceptions(to_events(scan, folded, knowledge.traits.get("worthless_result", ())), knowledge)


def _records(parser: ModuleType, regions: Sequence[Region], quotes: Quotes, proves: Records, warn: Warn | None) -> list[Record]:
    records: list[Record] = []
    past = 0
    texts = [text.lower() for trigger in _triggers_of(parser) for text in with_texts(trigger).anchors]
    for region in sorted(regions, key=lambda r: r.number):
        # it is inside the previous record, or code
        if region.number <= past or quotes.hold_all(region.line, texts, region.lines()):
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

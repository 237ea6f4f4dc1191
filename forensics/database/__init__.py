"""The knowledge: cause files and tables, loaded, checked and compiled once, cached on disk.

signatures/host_memory/oom_cgroup.yaml -> Cause, its Signatures, and one Hyperscan database of all their anchors
"""

import csv
import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import hyperscan

from forensics.database import cache
from forensics.database.confirm import Confirmer
from forensics.database.entries import HEALTHY, Cause, Missing, Remedy, Signature
from forensics.errors import DatabaseError
from forensics.model import Trigger

__all__ = ["HEALTHY", "Cause", "Confirmer", "Database", "Missing", "Remedy", "Signature", "builtin_folder", "load", "read_table"]

FORMAT = 1  # of the cached document; raised when entries.py changes


@dataclass(frozen=True)
class Database:
    """All causes, and all anchors compiled.

    `anchors[i]` calls for the signatures `signature_ids[i]` (indices of `confirmers`) and for the triggers
    `trigger_ids[i]` (indices of `triggers`). `hash` names the content.
    """

    causes: dict[str, Cause]
    confirmers: tuple[Confirmer, ...]
    triggers: tuple[Trigger, ...]
    anchors: tuple[str, ...]
    signature_ids: tuple[tuple[int, ...], ...]
    trigger_ids: tuple[tuple[int, ...], ...]
    matcher: Any
    hash: str

    def explains(self, root: str, other: str) -> bool:
        """Does `root` name `other` (or its family) among what follows from it?"""
        cause = self.causes.get(root)
        return cause is not None and root != other and bool({other, other.split(".")[0] + ".*"} & set(cause.explains))


def builtin_folder() -> Path:
    """The signatures that come with the package: inside the wheel, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_data" / "signatures"
    return packaged if packaged.is_dir() else package.parent / "signatures"


def load(folder: Path | None = None, triggers: Sequence[Trigger] = ()) -> Database:
    """The database below `folder` (default: the built-in one) with the anchors of `triggers`.

    Raises DatabaseError with path and line of the first fault. Uses the cache where it fits.
    """
    folder = folder or builtin_folder()
    digest = _digest(folder)
    key = hashlib.sha256(
        repr(
            (FORMAT, digest, importlib.metadata.version("hyperscan"), platform.machine(), [t.anchors for t in triggers])
        ).encode()
    ).hexdigest()[:32]
    cached = cache.read(key)
    if cached:
        causes = [_from_json(c) for c in json.loads(cached[0])]
        try:
            matcher = hyperscan.loadb(cached[1], hyperscan.HS_MODE_BLOCK)
            matcher.scratch = hyperscan.Scratch(matcher)
            return _assemble(causes, tuple(triggers), digest, matcher)
        except hyperscan.HyperscanError:
            pass  # compiled for another processor: built again below
    causes = _read(folder)
    database = _assemble(causes, tuple(triggers), digest, None)
    document = json.dumps([asdict(_without_examples(c)) for c in causes]).encode()
    cache.write(key, document, hyperscan.dumpb(database.matcher))
    return database


def read_table(name: str, folder: Path | None = None) -> dict[str, dict[str, str]]:
    """The rows of signatures/tables/<name>.csv by their first column."""
    path = (folder or builtin_folder()) / "tables" / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise DatabaseError(f"table cannot be read: {error.strerror}", str(path)) from error
    return {next(iter(row.values())): row for row in rows}


def _read(folder: Path) -> list[Cause]:
    from forensics.database.causefiles import read_causes
    from forensics.database.check import check

    causes, faults = read_causes(folder)
    if not causes and not faults:
        raise DatabaseError("no cause files", str(folder), "reinstall the package")
    faults += check(causes, {c.id: str(folder / (c.id.replace(".", "/", 1) + ".yaml")) for c in causes})
    if faults:
        raise DatabaseError(faults[0].what, f"{faults[0].path}:{faults[0].line}", f"{len(faults)} faults in all")
    return causes


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".yaml", ".csv")):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _assemble(causes: list[Cause], triggers: tuple[Trigger, ...], digest: str, matcher: Any) -> Database:
    confirmers = tuple(Confirmer(s) for c in causes for s in c.signatures)
    calls: dict[str, tuple[list[int], list[int]]] = {}
    for i, confirmer in enumerate(confirmers):
        for anchor in confirmer.anchors:
            calls.setdefault(anchor, ([], []))[0].append(i)
    for i, trigger in enumerate(triggers):
        for anchor in trigger.anchors:
            calls.setdefault(anchor.lower(), ([], []))[1].append(i)
    return Database(
        causes={c.id: c for c in causes},
        confirmers=confirmers,
        triggers=triggers,
        anchors=tuple(calls),
        signature_ids=tuple(tuple(s) for s, _ in calls.values()),
        trigger_ids=tuple(tuple(t) for _, t in calls.values()),
        matcher=matcher or _compile(tuple(calls)),
        hash=digest,
    )


def _compile(anchors: tuple[str, ...]) -> Any:
    matcher = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    # Hex escapes: anchors are bytes to Hyperscan, whatever their script; each place is wanted, so no SINGLEMATCH.
    expressions = [b"".join(b"\\x%02x" % byte for byte in a.encode()) for a in anchors]
    matcher.compile(expressions=expressions, ids=list(range(len(anchors))), flags=[hyperscan.HS_FLAG_CASELESS] * len(anchors))
    return matcher


def _without_examples(cause: Cause) -> Cause:
    return replace(cause, signatures=tuple(replace(s, match=(), no_match=()) for s in cause.signatures))


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def _from_json(data: dict[str, Any]) -> Cause:
    made = {k: _tuples(v) for k, v in data.items() if k not in ("signatures", "remedies", "missing")}
    return Cause(
        **made,
        signatures=tuple(Signature(**{k: _tuples(v) for k, v in s.items()}) for s in data["signatures"]),
        remedies=tuple(Remedy(**{k: _tuples(v) for k, v in r.items()}) for r in data["remedies"]),
        missing=tuple(Missing(**{k: _tuples(v) for k, v in m.items()}) for m in data["missing"]),
    )

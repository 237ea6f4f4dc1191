"""A Database to the document that the cache keeps, and back without making what nobody asks for.

The document is JSON, one value a line: the anchors and whom they call for; then each cause without its signatures; then each
signature without its examples. Reading it splits lines; a cause or signature is parsed when it is first used. Of some
thousand signatures, a run uses a few dozen.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar, overload

from forensics.database.compiled import Database
from forensics.database.confirm import Confirmer
from forensics.database.entries import Cause, Missing, Remedy, Signature
from forensics.model import Trigger

T = TypeVar("T")
NOT_KEPT = {"place", "match", "no_match"}


class Lazy(Sequence[T]):
    """A sequence whose items are made from their lines when they are first asked for."""

    def __init__(self, lines: Sequence[bytes], make: Callable[[Any], T]) -> None:
        self._lines, self._make = lines, make
        self._made: dict[int, T] = {}

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        if at not in self._made:
            self._made[at] = self._make(json.loads(self._lines[at]))
        return self._made[at]


class LazyCauses(Mapping[str, Cause]):
    """Causes by id, made when they are first asked for."""

    def __init__(self, ids: Sequence[str], causes: Sequence[Cause]) -> None:
        self._at = {name: i for i, name in enumerate(ids)}
        self._causes = causes

    def __getitem__(self, cause: str) -> Cause:
        return self._causes[self._at[cause]]

    def __contains__(self, cause: object) -> bool:
        return cause in self._at

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)


def dump(database: Database) -> bytes:
    """The document of `database`."""
    causes = list(database.causes.values())
    firsts = [0]
    for cause in causes:
        firsts.append(firsts[-1] + len(cause.signatures))
    head = {
        "causes": [c.id for c in causes],
        "firsts": firsts,
        "anchors": database.anchors,
        "signature_ids": database.signature_ids,
        "trigger_ids": database.trigger_ids,
    }
    lines = [head, *(_kept(c, "signatures") for c in causes), *(_kept(s.signature) for s in database.confirmers)]
    return b"\n".join(json.dumps(line).encode() for line in lines)


def restore(document: bytes, triggers: tuple[Trigger, ...], digest: str, matcher: Any) -> Database:
    """The Database of a document; raises ValueError, KeyError or TypeError for one that `dump` did not write."""
    first, *lines = document.split(b"\n")
    head = json.loads(first)
    ids: list[str] = head["causes"]
    firsts: list[int] = head["firsts"]
    if len(lines) != len(ids) + firsts[-1] or len(firsts) != len(ids) + 1:
        raise ValueError("lines are missing")
    confirmers = Lazy(lines[len(ids) :], lambda data: Confirmer(_signature(data)))
    at = {name: i for i, name in enumerate(ids)}

    def cause(data: Any) -> Cause:
        i = at[data["id"]]
        return _cause(data, tuple(c.signature for c in confirmers[firsts[i] : firsts[i + 1]]))

    return Database(
        causes=LazyCauses(ids, Lazy(lines[: len(ids)], cause)),
        confirmers=confirmers,
        triggers=triggers,
        anchors=tuple(head["anchors"]),
        signature_ids=head["signature_ids"],
        trigger_ids=head["trigger_ids"],
        matcher=matcher,
        hash=digest,
    )


def _kept(entry: Any, *without: str) -> dict[str, Any]:
    return {k: v for k, v in asdict(entry, dict_factory=_plain).items() if k not in without}


def _plain(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {k: v for k, v in pairs if k not in NOT_KEPT}


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def _signature(data: dict[str, Any]) -> Signature:
    return Signature(**{k: _tuples(v) for k, v in data.items()})


def _cause(data: dict[str, Any], signatures: tuple[Signature, ...]) -> Cause:
    made = {k: _tuples(v) for k, v in data.items() if k not in ("remedies", "missing")}
    return Cause(
        **made,
        signatures=signatures,
        remedies=tuple(Remedy(**{k: _tuples(v) for k, v in r.items()}) for r in data["remedies"]),
        missing=tuple(Missing(**{k: _tuples(v) for k, v in m.items()}) for m in data["missing"]),
    )

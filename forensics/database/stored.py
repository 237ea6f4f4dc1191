"""Convert a Database to the document in the cache, and back, with entries that are parsed at their first use.

The document is JSON, one value per line: the anchors with their signatures; then each cause without its signatures; then each
signature without its examples. Reading it only splits lines; a cause or signature is parsed at its first use. Of some thousand
signatures a run uses a few dozen.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any, TypeVar, cast, overload

import hyperscan
from msgspec import Struct, json
from msgspec.structs import replace

from forensics.database.compiled import Database
from forensics.database.confirm import Confirmer
from forensics.database.entries import NO_PLACE, Cause, Signature
from forensics.database.literals import compile_anchors
from forensics.database.proven import ProvenCause
from forensics.model import Trigger

G = TypeVar("G")
T = TypeVar("T")


class LazySequence(Sequence[T]):
    """A sequence whose items are created from their `given` values at their first use."""

    def __init__(self, given: Sequence[G], make: Callable[[G], T]) -> None:
        self._given, self._make = given, cast("Callable[[Any], T]", make)
        self._made: dict[int, T] = {}

    def __len__(self) -> int:
        return len(self._given)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        if at not in self._made:
            self._made[at] = self._make(self._given[at])
        return self._made[at]


class LazyCauses(Mapping[str, Cause]):
    """Causes by id, created at their first use."""

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


class _Head(Struct, frozen=True):
    """The first line. `firsts`: the index of the first signature of each cause, and the total number."""

    causes: tuple[str, ...]
    firsts: tuple[int, ...]
    anchors: tuple[str, ...]
    cuts: tuple[int, ...]
    signature_ids: tuple[tuple[int, ...], ...]
    trigger_ids: tuple[tuple[int, ...], ...]
    phrases: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    rates: dict[str, tuple[float, float]]
    precedence: tuple[tuple[str, str, str], ...]
    records: dict[str, dict[str, ProvenCause]]


def database_document(database: Database) -> bytes:
    """The document of `database`."""
    causes = list(database.causes.values())
    firsts = tuple(accumulate((len(c.signatures) for c in causes), initial=0))
    signature_ids, trigger_ids = tuple(map(tuple, database.signature_ids)), tuple(map(tuple, database.trigger_ids))
    ids, anchors, phrases = tuple(c.id for c in causes), tuple(database.anchors), dict(database.phrases)
    head = _Head(
        ids,
        firsts,
        anchors,
        tuple(database.cuts),
        signature_ids,
        trigger_ids,
        phrases,
        dict(database.rates),
        tuple(database.precedence),
        {record: dict(outcomes) for record, outcomes in database.records.items()},
    )
    bare = [_bare(c) for c in causes]
    signatures = [replace(c.signature, match=(), no_match=(), place=NO_PLACE) for c in database.confirmers]
    return b"\n".join(map(json.encode, (head, *bare, *signatures)))


def database_parts(database: Database) -> list[bytes]:
    """The parts for the cache: Database.once, the document, and the other matchers; a missing matcher is empty."""
    others = (database.matcher, database.phrase_matcher, *database.thin_matchers)
    return [_serialised(database.once()), database_document(database), *map(_serialised, others)]


def database_of_parts(
    parts: Sequence[bytes], triggers: tuple[Trigger, ...], digest: str, read_once: Callable[[], bytes]
) -> Database:
    """The Database of all `parts` but the first, which `read_once` reads when a flood asks for it; empty where it is gone.

    Raises ValueError or hyperscan.HyperscanError for parts that `database_parts` did not make.
    """
    document, *serialised = parts
    matcher, phrase_matcher, *thin = map(_deserialised, serialised)
    head, causes, confirmers = _knowledge(document)

    @functools.cache
    def once() -> Any:
        with suppress(hyperscan.HyperscanError):
            if kept := _deserialised(read_once()):
                return kept
        return compile_anchors(head.anchors, head.cuts, hyperscan.HS_FLAG_SINGLEMATCH)

    return Database(
        causes=causes,
        confirmers=confirmers,
        triggers=triggers,
        anchors=head.anchors,
        cuts=head.cuts,
        signature_ids=head.signature_ids,
        trigger_ids=head.trigger_ids,
        matcher=matcher,
        hash=digest,
        once=once,
        phrases=head.phrases,
        rates=head.rates,
        precedence=head.precedence,
        records=head.records,
        phrase_matcher=phrase_matcher,
        thin_matchers=tuple(thin),
    )


def _serialised(matcher: Any) -> bytes:
    return b"" if matcher is None else bytes(hyperscan.dumpb(matcher))


def _deserialised(part: bytes) -> Any:
    return hyperscan.loadb(part, hyperscan.HS_MODE_BLOCK) if part else None


def _knowledge(document: bytes) -> tuple[_Head, Mapping[str, Cause], Sequence[Confirmer]]:
    first, *lines = document.split(b"\n")
    head = json.decode(first, type=_Head)
    firsts, count = head.firsts, len(head.causes)
    if len(firsts) != count + 1 or len(lines) != count + firsts[-1]:
        raise ValueError("lines are missing")
    signature = json.Decoder(Signature).decode
    confirmers = LazySequence(lines[count:], lambda line: Confirmer(signature(line)))
    at = {name: i for i, name in enumerate(head.causes)}
    bare = json.Decoder(Cause).decode

    def cause(line: bytes) -> Cause:
        made = bare(line)
        i = at[made.id]
        own = range(firsts[i], firsts[i + 1])  # most of what asks for a cause asks for its own words only
        return replace(made, signatures=LazySequence(own, lambda at: confirmers[at].signature))

    return head, LazyCauses(head.causes, LazySequence(lines[:count], cause)), confirmers


def _bare(cause: Cause) -> Cause:
    """`cause` without its signatures, which have lines of their own, and without its place."""
    remedies = tuple(replace(r, place=NO_PLACE) for r in cause.remedies)
    missing = tuple(replace(m, place=NO_PLACE) for m in cause.missing)
    return replace(cause, signatures=(), remedies=remedies, missing=missing, place=NO_PLACE)

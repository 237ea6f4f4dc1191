"""Convert a Database to the document in the cache, and back, with entries that are parsed at their first use.

The document is JSON, one value per line: the anchors with their signatures, and how long the other lines are; then each cause
without its signatures; then each signature without its examples. A cause or signature is cut out and parsed at its first use. Of
some thousand signatures a run uses a few dozen.
"""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, chain
from typing import Any, TypeVar, cast, overload

import hyperscan
from msgspec import Struct, json
from msgspec.structs import replace

from forensics.database.compiled import Database, compile_anchors
from forensics.database.confirm import Confirmer
from forensics.database.entries import NO_PLACE, Cause, ProvenCause, Signature
from forensics.model import Trigger

G = TypeVar("G")
T = TypeVar("T")
S = TypeVar("S", tuple[int, ...], memoryview)


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
    """The first line. `firsts`: the index of the first signature of each cause, and the total number. `ends`: of each other
    line, counted from the end of this one. `signatures_end`, `triggers_end`: where in `signature_ids` and `trigger_ids` those of
    each anchor end."""

    causes: tuple[str, ...]
    traits: dict[str, tuple[str, ...]]
    firsts: tuple[int, ...]
    anchors: tuple[str, ...]
    cuts: tuple[int, ...]
    twins: dict[int, tuple[int, ...]]
    signature_ids: tuple[int, ...]
    signatures_end: tuple[int, ...]
    trigger_ids: tuple[int, ...]
    triggers_end: tuple[int, ...]
    ends: tuple[int, ...]
    phrases: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    rates: dict[str, tuple[float, float]]
    precedence: tuple[tuple[str, str, str], ...]
    records: dict[str, dict[str, ProvenCause]]
    faults: tuple[tuple[str, int, str], ...] = ()


def database_document(database: Database) -> bytes:
    """The document of `database`."""
    causes = list(database.causes.values())
    firsts = tuple(accumulate((len(c.signatures) for c in causes), initial=0))
    bare = [_bare(c) for c in causes]
    signatures = [replace(c.signature, match=(), no_match=(), place=NO_PLACE) for c in database.confirmers]
    lines = [json.encode(value) for value in (*bare, *signatures)]
    ids, anchors, phrases = tuple(c.id for c in causes), tuple(database.anchors), dict(database.phrases)
    head = _Head(
        ids,
        {trait: tuple(found) for trait, found in database.traits.items()},
        firsts,
        anchors,
        tuple(database.cuts),
        {first: tuple(others) for first, others in database.twins.items()},
        *_joined(database.signature_ids),
        *_joined(database.trigger_ids),
        tuple(accumulate(1 + len(line) for line in lines)),
        phrases,
        dict(database.rates),
        tuple(database.precedence),
        {record: dict(outcomes) for record, outcomes in database.records.items()},
        database.faults,
    )
    return b"\n".join([json.encode(head), *lines])


def _joined(groups: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The members of all groups, and where each group ends among them."""
    return tuple(chain.from_iterable(groups)), tuple(accumulate(map(len, groups)))


def _groups(joined: S, ends: Sequence[int]) -> LazySequence[S]:
    """The groups of which `_joined` made these."""
    return LazySequence(range(len(ends)), lambda i: joined[ends[i - 1] if i else 0 : ends[i]])


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
        traits=head.traits,
        confirmers=confirmers,
        triggers=triggers,
        anchors=head.anchors,
        cuts=head.cuts,
        twins=head.twins,
        signature_ids=_groups(head.signature_ids, head.signatures_end),
        trigger_ids=_groups(head.trigger_ids, head.triggers_end),
        matcher=matcher,
        hash=digest,
        once=once,
        phrases=head.phrases,
        rates=head.rates,
        precedence=head.precedence,
        records=head.records,
        phrase_matcher=phrase_matcher,
        thin_matchers=tuple(thin),
        faults=head.faults,
    )


def _serialised(matcher: Any) -> bytes:
    return b"" if matcher is None else bytes(hyperscan.dumpb(matcher))


def _deserialised(part: bytes) -> Any:
    return hyperscan.loadb(part, hyperscan.HS_MODE_BLOCK) if part else None


def _knowledge(document: bytes) -> tuple[_Head, Mapping[str, Cause], Sequence[Confirmer]]:
    start = document.index(b"\n")
    head = json.decode(memoryview(document)[:start], type=_Head)
    firsts, count = head.firsts, len(head.causes)
    if len(firsts) != count + 1 or len(head.ends) != count + firsts[-1] or start + head.ends[-1] != len(document):
        raise ValueError("lines are missing")
    lines = _groups(memoryview(document)[start:], head.ends)
    signature = json.Decoder(Signature).decode
    confirmers = LazySequence(range(count, len(lines)), lambda i: Confirmer(signature(lines[i])))
    bare = json.Decoder(Cause).decode

    def cause(i: int) -> Cause:
        made = bare(lines[i])
        own = range(firsts[i], firsts[i + 1])  # most of what asks for a cause asks for its own words only
        return replace(made, signatures=LazySequence(own, lambda at: confirmers[at].signature))

    return head, LazyCauses(head.causes, LazySequence(range(count), cause)), confirmers


def _bare(cause: Cause) -> Cause:
    """`cause` without its signatures, which have lines of their own, and without its place."""
    remedies = tuple(replace(r, place=NO_PLACE) for r in cause.remedies)
    missing = tuple(replace(m, place=NO_PLACE) for m in cause.missing)
    return replace(cause, signatures=(), remedies=remedies, missing=missing, place=NO_PLACE)

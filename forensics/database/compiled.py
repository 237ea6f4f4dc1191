"""The Database: all causes, the signatures and triggers of each anchor, and a Hyperscan database of all anchors.

anchor "CONSTRAINT_MEMCG"  ->  signature host_memory.oom_cgroup/kernel_constraint_memcg

The literals that Hyperscan searches for the anchors, and the check of what it reports.

"CUDA error: an illegal memory access" -> searched up to the end of a piece of 8 bytes; the rest is compared where it is found.

Hyperscan's filter recognises a literal by its last 8 bytes; false candidates make it slow. `scripts/pieces.py` determines, once
and over logs of all kinds, which 8 bytes of an anchor are best.
"""

import functools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import hyperscan
from msgspec import Struct, field

from forensics.database.confirm import Confirmer
from forensics.database.entries import TRAIT_NAMES, Cause, Records, Signature
from forensics.database.phrase_filter import compile_phrases
from forensics.model import Trigger

PIECES = Path(__file__).with_name("pieces.json")
LITERAL_PIECE_BYTES = 8  # what Hyperscan's filter looks at
End = tuple[int, int]  # offset past the last byte, index of the anchor
Twins = Mapping[int, Sequence[int]]  # the first of several anchors that are searched by the same bytes -> the others
# With a literal as short as this one, which no log holds, Hyperscan's filter looks at each byte and not at every second one. That
# costs less than the false alarms of half the evidence: 20 to 50 % faster on logs.
EACH_BYTE = b"\x01\x02"


def engine() -> tuple[str, str]:
    """What a compiled database is made for: the version of Hyperscan, and the kind of processor."""
    uname = getattr(os, "uname", None)  # `platform` takes 2 ms to load
    return getattr(hyperscan, "__version__", ""), uname().machine if uname else os.environ.get("PROCESSOR_ARCHITECTURE", "")


def literal_lengths(anchors: Sequence[str]) -> tuple[int, ...]:
    """How many bytes of each anchor to search: up to the end of its last piece, or all if it has none."""
    pieces = frozenset(p.encode() for p in json.loads(PIECES.read_bytes()))
    return tuple(_cut(a.encode(), pieces) for a in anchors)


def _cut(anchor: bytes, pieces: frozenset[bytes]) -> int:
    ends = range(len(anchor), LITERAL_PIECE_BYTES - 1, -1)
    return next((end for end in ends if anchor[end - LITERAL_PIECE_BYTES : end] in pieces), len(anchor))


def compile_literals(literals: Iterable[bytes], flags: int = 0, ids: Iterable[int] | None = None) -> Any:
    """A Hyperscan database that reports literal i as i or as `ids[i]`, in any case of ASCII; `flags` of Hyperscan are added."""
    expressions = list(literals)
    matcher = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    matcher.compile(
        expressions=expressions,
        ids=list(ids or range(len(expressions))),
        flags=[hyperscan.HS_FLAG_CASELESS | flags] * len(expressions),
        literal=True,
    )
    return matcher


def compile_anchors(anchors: Sequence[str], cuts: Sequence[int], flags: int = 0) -> Any:
    """A Hyperscan database that reports the first `cuts[i]` bytes of anchor i as i, or as the first anchor that begins with the
    same bytes: a call of Python costs more than a byte that is searched. See `whole_anchors`."""
    literals: dict[bytes, int] = {}
    for i, (anchor, cut) in enumerate(zip(anchors, cuts, strict=True)):
        literals.setdefault(anchor.encode()[:cut], i)
    literals[EACH_BYTE] = len(anchors)
    return compile_literals(literals, flags, literals.values())


def twins_of(anchors: Sequence[str], cuts: Sequence[int]) -> Twins:
    """The anchors for which another one is reported, by that one."""
    first: dict[bytes, int] = {}
    twins: dict[int, list[int]] = {}
    for i, (anchor, cut) in enumerate(zip(anchors, cuts, strict=True)):
        if (other := first.setdefault(anchor.encode()[:cut], i)) != i:
            twins.setdefault(other, []).append(i)
    return twins


class Literals(dict[int, tuple[tuple[int, bytes], ...]]):
    """What is reported -> the anchors that it may be, each with its rest, which follows. Made when it is reported first."""

    def __init__(self, anchors: Sequence[str], cuts: Sequence[int], twins: Twins) -> None:
        super().__init__({len(anchors): ()})  # EACH_BYTE
        self.anchors, self.cuts, self.twins = anchors, cuts, twins

    def __missing__(self, reported: int) -> tuple[tuple[int, bytes], ...]:
        every = (reported, *self.twins.get(reported, ()))
        self[reported] = found = tuple((i, self.anchors[i].encode()[self.cuts[i] :]) for i in every)
        return found


def whole_anchors(data: bytes, reported: Iterable[End], literals: Literals) -> list[End]:
    """The anchors that stand in `data`, with their ends, by the reports of a database of `compile_anchors`."""
    places: list[End] = []
    for to, literal in reported:
        for anchor, rest in literals[literal]:
            if not rest:
                places.append((to, anchor))
            elif data[to : to + len(rest)].lower() == rest:
                places.append((to + len(rest), anchor))
    return places


Phrases = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
Rates = Mapping[str, tuple[float, float]]
Calls = dict[str, tuple[list[int], list[int]]]  # anchor -> the signatures and the triggers it calls for


class Database(Struct, frozen=True):
    """All causes, and all anchors compiled.

    A line with `anchors[i]` may match the signatures `signature_ids[i]` (indices of `confirmers`) and the triggers
    `trigger_ids[i]` (indices of `triggers`). `matcher` reports the first `cuts[i]` bytes of it, once for all `twins`, see
    `whole_anchors`.
    `hash`: of the content. `phrases`: words and patterns of each class of lines, see `phrases.combine_phrases`. `rates`: log
    odds (failed, cause) of signatures that fired in labelled logs, see `rates`. `records`: what each outcome of a record
    proves, see `records`. `traits`: trait -> the causes that have it, in order. `causes`: in a database from the cache they are
    created when needed, without examples. `once`: returns a matcher of the same anchors that reports each once per scan, for
    floods; it is created at the first call. `thin_matchers`: report the anchors of thin triggers, in their order, at each place
    and once per scan; empty if there are none. `phrase_matcher`: reports the classes to which a line may belong, see
    `phrase_filter.compile_phrases`; None if there are none. `faults`: (path, line, what) of the user's files that are left out.
    """

    causes: Mapping[str, Cause]
    traits: Mapping[str, Sequence[str]]
    confirmers: Sequence[Confirmer]
    triggers: tuple[Trigger, ...]
    anchors: Sequence[str]
    cuts: Sequence[int]
    twins: Twins
    signature_ids: Sequence[Sequence[int]]
    trigger_ids: Sequence[Sequence[int]]
    matcher: Any
    hash: str
    once: Callable[[], Any]
    phrases: Phrases = field(default_factory=dict)
    rates: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    precedence: Sequence[tuple[str, str, str]] = ()
    records: Records = field(default_factory=dict)
    phrase_matcher: Any = None
    thin_matchers: tuple[Any, ...] = ()
    faults: tuple[tuple[str, int, str], ...] = ()

    @property
    def literals(self) -> Literals:
        """What the matcher reports."""
        return Literals(self.anchors, self.cuts, self.twins)

    def has_trait(self, cause: str | None, trait: str) -> bool:
        """Has `cause` this trait (see entries.TRAIT_NAMES)? False for an unknown cause."""
        return cause in self.traits.get(trait, ())

    def explains(self, root: str, other: str) -> bool:
        """Does `root` explain `other`, by its id or its family?"""
        cause = self.causes.get(root)
        return cause is not None and cause.leads_to(other)

    def matches(self, line: str) -> Iterator[tuple[Signature, dict[str, str]]]:
        """The signatures that match a single line, as in a scan, with the texts of their groups."""
        data = line.encode()
        reported: list[tuple[int, int]] = []
        if self.matcher.scratch is None:  # one from the cache
            self.matcher.scratch = hyperscan.Scratch(self.matcher)
        self.matcher.scan(data, match_event_handler=lambda i, _, to, *more: reported.append((to, i)))
        whole = whole_anchors(data, reported, self.literals)
        for i in sorted({i for _, anchor in whole for i in self.signature_ids[anchor]}):
            try:
                found = self.confirmers[i].search(line)
            except TimeoutError:  # an analysis ignores such a match, too
                continue
            if found:
                yield self.confirmers[i].signature, found.fields


def assemble(
    causes: Sequence[Cause],
    triggers: tuple[Trigger, ...],
    digest: str,
    phrases: Phrases | None = None,
    rates: Rates | None = None,
    precedence: Sequence[tuple[str, str, str]] = (),
    records: Records | None = None,
) -> Database:
    """The Database of `causes`, compiled: some tenths of a second."""
    confirmers = tuple(Confirmer(s) for c in causes for s in c.signatures)
    calls = _essential(_calls(confirmers, triggers))
    anchors = tuple(calls)
    cut = literal_lengths(anchors)
    thin = [anchor.encode() for trigger in triggers if trigger.thin for anchor in trigger.anchors]
    return Database(
        causes={c.id: c for c in causes},
        traits={trait: tuple(c.id for c in causes if trait in c.traits) for trait in sorted(TRAIT_NAMES)},
        confirmers=confirmers,
        triggers=triggers,
        anchors=anchors,
        cuts=cut,
        twins=twins_of(anchors, cut),
        signature_ids=tuple(tuple(s) for s, _ in calls.values()),
        trigger_ids=tuple(tuple(t) for _, t in calls.values()),
        matcher=compile_anchors(anchors, cut),
        hash=digest,
        once=functools.cache(partial(compile_anchors, anchors, cut, hyperscan.HS_FLAG_SINGLEMATCH)),
        phrases=phrases or {},
        rates=rates or {},
        precedence=tuple(precedence),
        records=records or {},
        phrase_matcher=compile_phrases(phrases or {}),
        thin_matchers=tuple(compile_literals(thin, flags) for flags in (0, hyperscan.HS_FLAG_SINGLEMATCH)) if thin else (),
    )


def _calls(confirmers: Sequence[Confirmer], triggers: Sequence[Trigger]) -> Calls:
    calls: Calls = {}
    for i, confirmer in enumerate(confirmers):
        for anchor in confirmer.anchors:
            calls.setdefault(anchor, ([], []))[0].append(i)
    for i, trigger in enumerate(triggers):
        for anchor in () if trigger.thin else trigger.anchors:  # the scanner looks for thin ones apart
            calls.setdefault(anchor.lower(), ([], []))[1].append(i)
    return calls


def _essential(calls: Calls) -> Calls:
    """`calls` without anchors that contain another anchor; the shorter one gets their signatures. Fewer literals scan faster."""
    kept: Calls = {}
    for anchor in sorted(calls, key=len):
        parts = (anchor[i:j] for i in range(len(anchor)) for j in range(i + 1, len(anchor) + 1))
        shorter = next((part for part in parts if part in kept), None)
        signatures, triggers = kept.setdefault(shorter or anchor, ([], []))
        signatures += [i for i in calls[anchor][0] if i not in signatures]
        triggers += [i for i in calls[anchor][1] if i not in triggers]
    return kept

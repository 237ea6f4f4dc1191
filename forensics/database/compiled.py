"""Causes to a Database: who is called for by which anchor, and one Hyperscan database of all anchors.

anchor "CONSTRAINT_MEMCG"  ->  signature host_memory.oom_cgroup/kernel_constraint_memcg
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import hyperscan
from msgspec import Struct

from forensics.database.confirm import Confirmer
from forensics.database.entries import Cause, Signature
from forensics.model import Trigger

Calls = dict[str, tuple[list[int], list[int]]]  # anchor -> the signatures and the triggers it calls for


class Database(Struct, frozen=True):
    """All causes, and all anchors compiled.

    `anchors[i]` calls for the signatures `signature_ids[i]` (indices of `confirmers`) and for the triggers `trigger_ids[i]`
    (indices of `triggers`), each of which has an anchor that holds it. `hash` names the content. `causes` of a database from
    the cache are made when asked for and without examples.
    """

    causes: Mapping[str, Cause]
    confirmers: Sequence[Confirmer]
    triggers: tuple[Trigger, ...]
    anchors: Sequence[str]
    signature_ids: Sequence[Sequence[int]]
    trigger_ids: Sequence[Sequence[int]]
    matcher: Any
    hash: str

    def explains(self, root: str, other: str) -> bool:
        """Does `root` name `other` (or its family) among what follows from it?"""
        cause = self.causes.get(root)
        return cause is not None and root != other and bool({other, other.split(".")[0] + ".*"} & set(cause.explains))

    def matches(self, line: str) -> Iterator[tuple[Signature, dict[str, str]]]:
        """The signatures that a line alone speaks for, as the scanner would find them, with their raw groups."""
        called: dict[int, None] = {}
        self.matcher.scan(line.encode(), match_event_handler=lambda i, *_: called.update(dict.fromkeys(self.signature_ids[i])))
        for i in sorted(called):
            try:
                found = self.confirmers[i].search(line)
            except TimeoutError:  # it says nothing in an analysis either
                continue
            if found:
                yield self.confirmers[i].signature, {k: v for k, v in found.groupdict().items() if v is not None}


def assemble(causes: Sequence[Cause], triggers: tuple[Trigger, ...], digest: str) -> Database:
    """The Database of `causes`, compiled: some tenths of a second."""
    confirmers = tuple(Confirmer(s) for c in causes for s in c.signatures)
    calls: Calls = {}
    for i, confirmer in enumerate(confirmers):
        for anchor in confirmer.anchors:
            calls.setdefault(anchor, ([], []))[0].append(i)
    for i, trigger in enumerate(triggers):
        for anchor in () if trigger.thin else trigger.anchors:  # the scanner looks for thin ones apart
            calls.setdefault(anchor.lower(), ([], []))[1].append(i)
    calls = _essential(calls)
    return Database(
        causes={c.id: c for c in causes},
        confirmers=confirmers,
        triggers=triggers,
        anchors=tuple(calls),
        signature_ids=tuple(tuple(s) for s, _ in calls.values()),
        trigger_ids=tuple(tuple(t) for _, t in calls.values()),
        matcher=compile_anchors(tuple(calls)),
        hash=digest,
    )


def _essential(calls: Calls) -> Calls:
    """`calls` without the anchors that hold another one: the shorter calls for both. Fewer literals scan faster."""
    kept: Calls = {}
    for anchor in sorted(calls, key=len):
        parts = (anchor[i:j] for i in range(len(anchor)) for j in range(i + 1, len(anchor) + 1))
        shorter = next((part for part in parts if part in kept), None)
        signatures, triggers = kept.setdefault(shorter or anchor, ([], []))
        signatures += [i for i in calls[anchor][0] if i not in signatures]
        triggers += [i for i in calls[anchor][1] if i not in triggers]
    return kept


def compile_anchors(anchors: Sequence[str], flags: int = 0) -> Any:
    """A Hyperscan database that reports anchor i as i, in any case; `flags` of Hyperscan are added."""
    matcher = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    matcher.compile(
        expressions=[a.encode() for a in anchors],
        ids=list(range(len(anchors))),
        flags=[hyperscan.HS_FLAG_CASELESS | flags] * len(anchors),
        literal=True,
    )
    return matcher

"""Signatures that match an example of another cause.

host_memory.shm/no_space matches an example of storage.full/enospc: one of the two is too general, or the message fits both.

Such a match is harmless if the causes are related - one explains the other, or one is a fallback - or if a healthy message
silences it. Otherwise it is a fault, also for hints and for causes of one family: two causes that exclude each other would both
be reported. `yields_to` resolves it: the signature is ignored on a line that the other one matches.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from forensics.core.text import ascii_lower
from forensics.database.compiled import assemble
from forensics.database.confirm import Confirmer
from forensics.database.entries import HEALTHY, Cause, Example, Place, Signature

Matcher = Callable[[str], list[Signature]]
INDEXED_CHARS = 3  # of the beginning of an anchor; every anchor has so many


class CrossMatch(Struct, frozen=True):
    """`signature` matches `example` of `owner`. `related`: why that is harmless; empty if it is a fault. `beside`: the owner is a
    healthy message, which silences what it overlaps, and the signature matches another part of the line."""

    signature: Signature
    owner: Signature
    example: Example
    related: str
    beside: bool = False

    @property
    def place(self) -> Place:
        """File and line of the signature that matches."""
        return self.signature.place

    def __str__(self) -> str:
        """The message, without file and line."""
        match = f"{self.signature.id} matches an example of {self.owner.id} ({self.example.place})"
        if self.beside:
            return f"{match} beside what that covers, and is not silenced: lengthen the healthy message"
        return f"{match}: {self.related}" if self.related else f"{match}, and the two causes are not related"


class LineMatcher:
    """Matches signatures against single lines without a compiled database: faster for few lines or few signatures."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        self.confirmers = [Confirmer(s) for s in signatures]
        self.by_begin: dict[str, list[tuple[str, int]]] = {}  # beginning of an anchor -> the anchor, the index of its confirmer
        for i, confirmer in enumerate(self.confirmers):
            for anchor in confirmer.anchors:
                self.by_begin.setdefault(anchor[:INDEXED_CHARS], []).append((anchor, i))

    def matches(self, line: str) -> list[Signature]:
        """The signatures that match `line`."""
        folded, found = ascii_lower(line), []
        begins = {folded[at : at + INDEXED_CHARS] for at in range(len(folded))} & self.by_begin.keys()
        for i in sorted({i for begin in begins for anchor, i in self.by_begin[begin] if anchor in folded}):
            try:
                if self.confirmers[i].search(line) is not None:
                    found.append(self.confirmers[i].signature)
            except TimeoutError:  # an analysis ignores such a match, too
                continue
        return found


def cross_matches(causes: Sequence[Cause], own: Collection[str] | None = None) -> Iterator[CrossMatch]:
    """Every signature that matches a positive example of another cause, each pair of signatures once. `own`: ids of the
    signatures to examine, None for all. Only pairs with one of them are reported."""
    known = {c.id: c for c in causes}
    every = [s for c in causes for s in c.signatures]
    match_all: Matcher = _compiled(causes) if own is None else LineMatcher(every).matches
    match_own = match_all if own is None else LineMatcher(s for s in every if s.id in own).matches
    for owner in every:
        reported: set[str] = set()
        match = match_all if own is None or owner.id in own else match_own
        for example in owner.match:
            found = [s for s in match(example.text) if s.cause != owner.cause and s.id not in reported]
            silenced = bool(found) and any(s.cause == HEALTHY for s in match_all(example.text))
            for signature in found:
                reported.add(signature.id)
                beside = owner.cause == HEALTHY and not _overlaps(owner, signature, example.text)
                related = "" if beside else _related(known, signature, owner, silenced)
                yield CrossMatch(signature, owner, example, related, beside)


def _compiled(causes: Sequence[Cause]) -> Matcher:
    database = assemble(causes, (), "")
    return lambda line: [signature for signature, _ in database.matches(line)]


def _overlaps(healthy: Signature, other: Signature, line: str) -> bool:
    """Do both take up a common part of `line`, so that the healthy message silences the other?"""
    try:
        covered, taken = Confirmer(healthy).search(line), Confirmer(other).search(line)
    except TimeoutError:
        return True
    return not covered or not taken or (covered.span[0] < taken.span[1] and taken.span[0] < covered.span[1])


def _related(causes: Mapping[str, Cause], signature: Signature, owner: Signature, silenced: bool) -> str:
    """Why it is harmless that `signature` matches an example of `owner`; empty if it is a fault."""
    one, other = signature.cause, owner.cause
    if other == HEALTHY:
        return "it is silenced there"
    if one == HEALTHY:
        return "it silences only a hint" if owner.weight == "hint" else ""
    if causes[one].leads_to(other) or causes[other].leads_to(one):
        return "one explains the other"
    if causes[one].fallback or causes[other].fallback:
        return "one of the causes is a fallback"
    return "a healthy message silences both" if silenced else ""

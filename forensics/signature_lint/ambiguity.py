"""Signatures that match what was written down as another cause's message.

host_memory.shm/no_space matches an example of storage.full/enospc: one of the two is careless, or the message speaks for both.

A crossing between causes that know each other - one explains the other, or one is an ending that yields to anything - is decided,
and so is one with a healthy message. The rest is a fault, hints and causes of one family included: two causes that exclude each
other are both believed. `yields_to` decides it: the signature says nothing where the other one speaks.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from forensics.core.text import ascii_lower
from forensics.database.compiled import assemble
from forensics.database.confirm import Confirmer
from forensics.database.entries import HEALTHY, Cause, Example, Place, Signature

Asked = Callable[[str], list[Signature]]
BEGIN = 3  # letters, of which every anchor has as many


class CrossMatch(Struct, frozen=True):
    """`signature` matches `example` of `owner`. `related`: why that does no harm; empty where it does."""

    signature: Signature
    owner: Signature
    example: Example
    related: str

    @property
    def place(self) -> Place:
        """Where the signature that matches is written."""
        return self.signature.place

    def __str__(self) -> str:
        """What is wrong, without the place."""
        match = f"{self.signature.id} matches an example of {self.owner.id} ({self.example.place})"
        return f"{match}: {self.related}" if self.related else f"{match}, and the two causes do not know each other"


class Lines:
    """Asks signatures for single lines, without a compiled database: quicker where the lines or the signatures are few."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        self.confirmers = [Confirmer(s) for s in signatures]
        self.by_begin: dict[str, list[tuple[str, int]]] = {}  # the first letters of an anchor -> the anchor, whom it calls for
        for i, confirmer in enumerate(self.confirmers):
            for anchor in confirmer.anchors:
                self.by_begin.setdefault(anchor[:BEGIN], []).append((anchor, i))

    def matches(self, line: str) -> list[Signature]:
        """The signatures that `line` speaks for."""
        folded, found = ascii_lower(line), []
        begins = {folded[at : at + BEGIN] for at in range(len(folded))} & self.by_begin.keys()
        for i in sorted({i for begin in begins for anchor, i in self.by_begin[begin] if anchor in folded}):
            try:
                spoke = self.confirmers[i].search(line) is not None
            except TimeoutError:  # it says nothing in an analysis either
                continue
            found += [self.confirmers[i].signature] * spoke
        return found


def cross_matches(causes: Sequence[Cause], own: Collection[str] | None = None) -> Iterator[CrossMatch]:
    """Every signature of another cause that matches a positive example, each pair of signatures once.

    `own`: ids of the signatures that are looked at; of None, all. Others are asked only about their examples.
    """
    known = {c.id: c for c in causes}
    every = [s for c in causes for s in c.signatures]
    of_all: Asked = _compiled(causes) if own is None else Lines(every).matches
    of_own = of_all if own is None else Lines(s for s in every if s.id in own).matches
    for owner in every:
        reported: set[str] = set()
        asked = of_all if own is None or owner.id in own else of_own
        for example in owner.match:
            found = [s for s in asked(example.text) if s.cause != owner.cause and s.id not in reported]
            silenced = bool(found) and any(s.cause == HEALTHY for s in of_all(example.text))
            for signature in found:
                reported.add(signature.id)
                yield CrossMatch(signature, owner, example, _related(known, signature, owner, silenced))


def _compiled(causes: Sequence[Cause]) -> Asked:
    database = assemble(causes, (), "")
    return lambda line: [signature for signature, _ in database.matches(line)]


def _related(causes: Mapping[str, Cause], signature: Signature, owner: Signature, silenced: bool) -> str:
    """Why it does no harm that `signature` matches an example of `owner`."""
    one, other = signature.cause, owner.cause
    if other == HEALTHY:
        return "it is silenced there"
    if one == HEALTHY:
        return "it silences no more than a hint" if owner.weight == "hint" else ""
    if causes[one].leads_to(other) or causes[other].leads_to(one):
        return "one explains the other"
    if causes[one].fallback or causes[other].fallback:
        return "one is an ending that yields"
    return "a healthy message silences both" if silenced else ""

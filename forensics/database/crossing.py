"""Signatures that match what was written down as another cause's message.

host_memory.shm/no_space matches an example of storage.full/enospc: one of the two is careless, or the message speaks for both.

A crossing between causes that know each other - one explains the other, both of one family, one an ending that yields to
anything - only changes who is told first; so does a hint, which by its weight may be seen with others. The rest is a fault: two
causes that exclude each other are both believed.
"""

from collections.abc import Iterator

from msgspec import Struct

from forensics.database.compiled import Database
from forensics.database.entries import HEALTHY, Example, Place, Signature


class Crossing(Struct, frozen=True):
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
        told = f"{self.signature.id} matches an example of {self.owner.id} ({self.example.place})"
        return f"{told}: {self.related}" if self.related else f"{told}, and the two causes do not know each other"


def crossings(database: Database) -> Iterator[Crossing]:
    """Every signature of another cause that matches a positive example, each pair of signatures once."""
    for confirmer in database.confirmers:
        owner = confirmer.signature
        told: set[str] = set()
        for example in owner.match:
            silenced = _silences(database, example.text)
            for signature, _ in database.matches(example.text):
                if signature.cause == owner.cause or signature.id in told:
                    continue
                told.add(signature.id)
                yield Crossing(signature, owner, example, _related(database, signature, owner, silenced))


def _silences(database: Database, text: str) -> bool:
    return any(s.cause == HEALTHY for s, _ in database.matches(text))


def _related(database: Database, signature: Signature, owner: Signature, silenced: bool) -> str:
    """Why it does no harm that `signature` matches an example of `owner`."""
    one, other = signature.cause, owner.cause
    causes = database.causes
    if other == HEALTHY:
        return "it is silenced there"
    if one == HEALTHY:
        return "it silences no more than a hint" if owner.weight == "hint" else ""
    if one.split(".")[0] == other.split(".")[0]:
        return "both are of one family"
    if database.explains(one, other) or database.explains(other, one):
        return "one explains the other"
    if causes[one].fallback or causes[other].fallback:
        return "one is an ending that yields"
    if signature.weight == "hint" or owner.weight == "hint":
        return "one of them is a hint"
    return "a healthy message silences both" if silenced else ""

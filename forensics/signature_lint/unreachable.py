"""Wordings of a signature that are never needed or can never match.

messages: ['lost its lease', 'node lost its lease']   ->   the second is never needed: it contains the first
message: 'lost its lease'   unless: ['lease']         ->   it is always vetoed
"""

from collections.abc import Iterator

import regex

from forensics.database.entries import Signature
from forensics.database.message import Hole, message_parts
from forensics.signature_lint.dead_branches import dead_branches

SAMPLE_OF_HOLE = {
    "int": "7",
    "count": "7",
    "number": "7",
    "rank": "7",
    "hex": "7f",
    "size": "7 GiB",
    "pci": "0000:3b:00.0",
    "quoted": "'x'",
}


def never_fires(signature: Signature) -> Iterator[str]:
    """The faults of the wordings of `signature`, one message for each wording that can be left out."""
    plain = {m: next(iter(message_parts(m))) for m in signature.messages if _is_plain(m)}
    for message in signature.messages:
        within = next((m for m, text in plain.items() if m != message and str(text) in example_of(message)), None)
        if within is not None and _is_plain(message):
            yield f"wording {message!r} is never needed: it contains {within!r}"
        veto = next((u for u in signature.unless if regex.search(u, example_of(message))), None)
        if veto is not None:
            yield f"wording {message!r} can never match: it contains the veto {veto!r} of `unless`"
    for pattern in (signature.written_pattern, *signature.unless):
        yield from dead_branches(pattern)


def example_of(message: str) -> str:
    """A line with `message`, with a simple value in each of its holes."""
    made = []
    for part in message_parts(message):
        if isinstance(part, Hole):
            made.append(
                part.choices[0]
                if part.choices
                else SAMPLE_OF_HOLE.get(part.type, "x" if part.type not in ("text", "rest") else "")
            )
        else:
            made.append(part)
    return "".join(made)


def _is_plain(message: str) -> bool:
    return all(isinstance(p, str) for p in message_parts(message))

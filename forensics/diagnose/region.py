"""The words of the error region: what the lines around the trouble say, for logs that no signature knows.

    RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 16x2) -> runtimeerror mat shapes cannot multiplied ...

Numbers, addresses and paths say nothing about the cause and are left out, so that two logs of one failure share their words.
"""

import re
from collections.abc import Iterable

NOISE = re.compile(r"0x[0-9a-fA-F]+|/[\w./+-]{3,}|\b[0-9a-f]{8,}\b|https?://\S+|\d+")
TOKEN = re.compile(r"[a-z_]{3,30}")
MOST_LINES = 200
MOST_CHARS = 400


def words(lines: Iterable[str]) -> set[str]:
    """Words and pairs of neighbouring words of `lines`: `shapes`, `shapes cannot`."""
    found: set[str] = set()
    for line in list(lines)[-MOST_LINES:]:
        tokens = TOKEN.findall(NOISE.sub(" ", line[:MOST_CHARS]).lower())
        found.update(tokens)
        found.update(f"{a} {b}" for a, b in zip(tokens, tokens[1:], strict=False))
    return found

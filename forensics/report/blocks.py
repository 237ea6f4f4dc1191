"""Fit a document of blocks into a number of characters: the least important blocks are left out, and the document says so.

summary (0), evidence (1), what was read (11) in 2,000 characters -> summary, evidence, "Left out to fit: what was read."
"""

from collections.abc import Iterable

from msgspec import Struct

LEFT_OUT = "*Left out to fit: {}. `forensics analyze --format json` has all of it.*"


class Block(Struct, frozen=True):
    """Some lines of the document. `worth`: 0 is always kept; a block with a greater number is left out earlier."""

    name: str
    worth: int
    lines: tuple[str, ...]

    def __len__(self) -> int:
        return sum(len(line) + 1 for line in self.lines)


def fit_blocks(blocks: Iterable[Block], room: int) -> str:
    """The lines of `blocks` in at most `room` characters, ending with a line end."""
    kept, gone = list(blocks), list[str]()
    while sum(map(len, kept)) + (len(LEFT_OUT) + sum(len(g) + 2 for g in gone) + 2 if gone else 0) > room:
        worst = max(kept, key=lambda b: b.worth)
        if worst.worth == 0:
            break
        kept.remove(worst)
        gone.append(worst.name)
    lines = [line for block in kept for line in block.lines]
    if gone:
        lines += ["", LEFT_OUT.format(", ".join(dict.fromkeys(reversed(gone))))]
    text = "\n".join(lines) + "\n"
    return text if len(text) <= room else text[: room - 2].rstrip("\\\n") + "…\n"

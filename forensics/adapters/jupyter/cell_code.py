"""What of a cell was running when its kernel died.

ran("import os\\nx = [f(\\n  0)]\\ny = 1", 3)  ->  "x = [f(\\n  0)]"    the whole statement at the line that a crash's stacks name
ran(code, 0)                               ->  the cell, shortened    nothing names the line, as after SIGKILL and os._exit
"""

from __future__ import annotations

import ast

MAX_CODE_LINES = 10  # chosen by hand: the message is in a notebook, directly below the cell
HEAD_LINES = 6  # of a longer cell, whose last lines are shown, too
MAX_CODE_LINE_CHARS = 160  # chosen by hand: a line of a notebook's cell on a usual screen
HASH_SEED = 0xC70F6907  # of ipykernel/compiler.py: the name of a cell's file is a hash of its code
HASH_FACTOR = 0x5BD1E995  # of MurmurHash2
HASH_WORD = 0xFFFFFFFF  # of 32 bits, in which MurmurHash2 counts


def ran(code: str, line: int) -> str:
    """The statement of `code` that stands at `line`, else the cell: at most MAX_CODE_LINES lines, without blank ones."""
    rows = code.expandtabs(4).splitlines()
    first, last = _statement(code, line) if 0 < line <= len(rows) else (1, len(rows))
    kept = [row.rstrip()[:MAX_CODE_LINE_CHARS] for row in rows[first - 1 : last] if row.strip()]
    if not line:  # comments say nothing of what ran
        kept = [row for row in kept if not row.lstrip().startswith("#")] or kept
    if len(kept) > MAX_CODE_LINES:
        tail = MAX_CODE_LINES - HEAD_LINES - 1
        kept = [*kept[:HEAD_LINES], f"... {len(kept) - HEAD_LINES - tail} more lines ...", *kept[-tail:]]
    margin = min((len(row) - len(row.lstrip()) for row in kept), default=0)
    return "\n".join(row[margin:] if row[:margin].isspace() else row for row in kept)


def _statement(code: str, line: int) -> tuple[int, int]:
    """The first and the last line of the innermost statement at `line`; of one with a body, such as `for`, its head."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a cell with magics
        return line, line
    around = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)]
    if not around:
        return line, line
    inner = min(around, key=lambda node: (node.end_lineno or 0) - node.lineno)
    body = getattr(inner, "body", None)
    return inner.lineno, max(inner.lineno, body[0].lineno - 1) if body else inner.end_lineno or line


def file_name(code: str) -> str:
    """The last part of the name of the file that ipykernel gives to a cell: MurmurHash2 of its code."""
    data = code.encode()
    found = HASH_SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        part = int.from_bytes(data[at : at + 4], "little") * HASH_FACTOR & HASH_WORD
        part = (part ^ part >> 24) * HASH_FACTOR & HASH_WORD
        found = found * HASH_FACTOR & HASH_WORD ^ part
    if rest := data[whole:]:
        found = (found ^ int.from_bytes(rest, "little")) * HASH_FACTOR & HASH_WORD
    found = (found ^ found >> 13) * HASH_FACTOR & HASH_WORD
    return f"{found ^ found >> 15}.py"

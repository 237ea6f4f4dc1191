"""What of a cell was running when its kernel died.

ran("import os\\nx = [f(\\n  0)]\\ny = 1", 3)  ->  "x = [f(\\n  0)]"    the whole statement at the line that a crash's stacks name
ran(code, 0)                               ->  the cell, shortened    nothing names the line, as after SIGKILL and os._exit

Find the cell that a kernel is running, from its published messages (Jupyter's messaging protocol, 5.4, IOPub channel).

    [topic, <IDS|MSG>, signature, header, parent header, metadata, content]  ->  Cell(request, number=12, code="x = ...")

Only messages that name the cell and messages with its output are subscribed to, no pictures and other display data. The last
messages of a kernel that dies within milliseconds are lost, so requests are used, too, if they are seen on their way to it.
"""

from __future__ import annotations

import ast
import json
from collections import deque
from typing import Any, NamedTuple

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


MESSAGE_DELIMITER = b"<IDS|MSG>"
# Kernels publish under these topics; the sender applies the filter, so messages that are left out cost nothing.
TOPICS = (b"kernel", b"stream", b"status", b"execute_input", b"error")
OWN_SESSION = "forensics"  # of requests that this program itself sends to a kernel: they are no cells
MAX_REQUESTS = 500  # bounds memory: cells that wait to be run, and cells that ran
MAX_PRINTED_MESSAGES = 400  # bounds memory: the last messages with output of the cell
MAX_PRINTED_CHARS = 64_000  # chosen by hand: the last screens of a cell, where a traceback is


class Cell(NamedTuple):
    """A cell that is running. `request`: header of its execute_request. `number`: the number in brackets, 0 if unknown."""

    request: dict[str, Any]
    number: int
    code: str


class RunningCell:
    """The state of one kernel, from its messages in order."""

    def __init__(self) -> None:
        self._now: Cell | None = None
        self._requested: dict[str, Cell] = {}  # by message, in order, without those that are over
        self.codes: dict[int, str] = {}  # of the last cells that ran, by number
        self._over: deque[str] = deque(maxlen=MAX_REQUESTS)  # messages whose cell has ended
        self._printed: deque[bytes] = deque(maxlen=MAX_PRINTED_MESSAGES)

    @property
    def now(self) -> Cell | None:
        """The cell that is running, or the first one that waits; None between two cells."""
        return self._now or next(iter(self._requested.values()), None)

    def requested(self, request: dict[str, Any], code: str) -> None:
        """Note that a client requests a cell. `request`: the header of its message; the kernel may have answered it already."""
        if request["msg_id"] in self._over:
            return
        while len(self._requested) >= MAX_REQUESTS:
            del self._requested[next(iter(self._requested))]
        self._requested[request["msg_id"]] = cell = Cell(request, 0, code)
        if self._now is not None and self._now.request["msg_id"] == request["msg_id"] and not self._now.code:
            self._now = cell

    def take(self, frames: list[bytes]) -> None:
        """Take one message, as received; bytes that are no message of this protocol are ignored."""
        try:
            at = frames.index(MESSAGE_DELIMITER)
            header, parent, content = frames[at + 2], frames[at + 3], frames[at + 5]
        except (ValueError, IndexError):
            return
        if frames[0].startswith(b"stream"):
            self._printed.append(content)
            return
        try:
            kind = json.loads(header)["msg_type"]
            self._follow(kind, json.loads(parent), json.loads(content))
        except (ValueError, KeyError, TypeError):
            return
        if kind in ("error", "stream"):
            self._printed.append(content)

    def _follow(self, kind: str, parent: dict[str, Any], content: dict[str, Any]) -> None:
        if parent.get("msg_type") != "execute_request" or parent.get("session") == OWN_SESSION:
            return
        same = self._now is not None and self._now.request["msg_id"] == parent["msg_id"]
        if kind == "status" and content["execution_state"] == "busy" and not same:
            self._now = self._requested.get(parent["msg_id"]) or Cell(parent, 0, "")
            self._printed.clear()
        elif kind == "status" and content["execution_state"] == "idle":
            self._requested.pop(parent["msg_id"], None)
            self._over.append(parent["msg_id"])
            self._now = None if same else self._now
        elif kind == "execute_input":
            self._now = Cell(parent, int(content.get("execution_count") or 0), str(content.get("code", "")))
            self.codes[self._now.number] = self._now.code
            if len(self.codes) > MAX_REQUESTS:
                del self.codes[next(iter(self.codes))]

    def printed(self) -> str:
        """The last output of the cell, with its tracebacks."""
        printed_lines = []
        for content in self._printed:
            try:
                found = json.loads(content)
            except ValueError:
                continue
            printed_lines.append(found.get("text") or "\n".join(found.get("traceback", ())) + "\n")
        return "".join(printed_lines)[-MAX_PRINTED_CHARS:]

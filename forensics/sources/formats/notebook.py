"""Convert the outputs of a notebook to lines, under `In [N]:` for each cell, in the order in which the cells ran.

    "outputs": [{"output_type": "stream", "name": "stderr", "text": ["loading\\n", "Killed\\n"]}]  ->  In [3]:
                                                                                                     loading
                                                                                                     Killed

The formats are nbformat 3 and 4. A text is a string or a list of strings, and a line may continue in the next string. The
traceback of an error contains terminal colours. The code of the cells is left out, because it is not an event. If the front end
recorded when a cell ran, its heading begins with that time. A cell that ran without an output has only its heading, which shows
that the notebook continued. A cell that an error ended gets a last line `In [3]: ended with KeyError`; if its tags allow the
error, or a cell with the same code ran to its end later, that line says so. Of a cell that began and has neither a reply nor an
end, in a notebook that papermill wrote when all was over, a line says that the kernel died in it.

Cells are in the order of their execution counts, so the cell that ran last comes last. A count that occurs twice is from two
sessions of the kernel, whose order is unknown but where only the cells below end in an error (see _counted_on). Such cells keep
their order in the file.
"""

import sys
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from msgspec import Struct, field

from forensics.core import limits
from forensics.sources.formats.base import Format, Head, Note
from forensics.sources.formats.documents import Path, Strings, values_and_strings
from forensics.sources.formats.stamps import from_value
from forensics.sources.origin import Piece

FIRST_COUNT = 1  # of the first cell of each session
MAX_SORTED_BYTES = 64 << 20  # bytes; the cells are held in memory while they are sorted in the order in which they ran
HELD_AT_ONCE_BYTES = 256 << 10  # of one piece that is held; so that a notebook of any size has few of them
HELD_AS_IT_IS_BYTES = 2 << 20  # of a cell: more than nearly all print; what follows is held compressed
DEATH_SCHEMA = "forensics-death/1"  # of adapters/jupyter/message.py
NOT_RUN = "not run, the kernel died before: "  # so begins the error of a cell behind the one in which it died, of the same
CELL_BEGUN, CELL_ENDED = ("iopub.execute_input", "iopub.status.busy"), ("iopub.status.idle", "shell.execute_reply")
CELL_CLOSED = ("metadata", "papermill", "end_time")  # of a cell; papermill writes it after the cell, however that ended
STARTED = ("iopub.execute_input", "shell.execute_reply.started", "iopub.status.busy", "start_time")


def _recognises(head: Head) -> bool:
    text = head.text
    return text.lstrip().startswith("{") and '"cells"' in text and ('"cell_type"' in text or '"nbformat"' in text)


class _Cell(Struct):
    """One cell while it is read.

    `said`: its heading was already written. `failed`: the name of the error that it raised. `may_fail`: its tags allow an error.
    `death`: what this program itself left in the metadata of an output when the kernel died. `begun`, `ended`, `closed`: the
    kernel began it, came to its end, and whoever executed the notebook went on behind it. `code_sum`: a checksum of its code.
    """

    at: Path
    line: int
    code: bool = False
    number: object = None
    started: str | None = None
    said: bool = False
    outputs: bool = False
    error: list[str] = field(default_factory=list)
    part: str = ""
    part_line: int = 0
    failed: str = ""
    failed_line: int = 0
    may_fail: bool = False
    death: dict[str, Any] = field(default_factory=dict)
    death_line: int = 0
    begun: bool = False
    ended: bool = False
    closed: bool = False
    code_sum: int = 0

    @property
    def is_where_it_died(self) -> bool:
        """Did the kernel die in it?"""
        return self.begun and self.closed and not (self.ended or self.failed)


class _Held:
    """The lines of a cell until its place among the others is known. Lines that follow each other are held as one piece.

    `size`: of their text.
    """

    def __init__(self) -> None:
        self.size = 0
        self.done: list[tuple[int, int, bytes, int, bool]] = []  # a piece, the number of its lines, and whether it is compressed
        self.parts: list[bytes] = []  # single lines of the piece that is not done yet
        self.first = self.step = self.waiting = 0

    def add(self, pieces: Iterable[Piece]) -> None:
        """Hold some more lines."""
        for number, step, text, *_ in pieces:
            is_line = b"\n" not in text
            if len(self.parts) == 1 and number - self.first in (0, 1):
                self.step = number - self.first
            follows = is_line and number == self.first + self.step * len(self.parts)
            if self.parts and (not follows or self.waiting > HELD_AT_ONCE_BYTES):
                self._finish()
            if is_line:
                self.first = self.first if self.parts else number
                self.parts.append(text)
                self.waiting += len(text) + 1
            else:
                self._keep(number, step, text, text.count(b"\n") + 1)

    def _finish(self) -> None:
        self._keep(self.first, self.step, b"\n".join(self.parts), len(self.parts))
        self.parts, self.step, self.waiting = [], 0, 0

    def _keep(self, number: int, step: int, text: bytes, lines: int) -> None:
        self.size += len(text)
        is_much = self.size > HELD_AS_IT_IS_BYTES
        self.done.append((number, step, zlib.compress(text, 1) if is_much else text, lines, is_much))

    def pieces(self) -> Iterator[Piece]:
        """All lines that are held; they are held no longer."""
        if self.parts:
            self._finish()
        self.done.reverse()
        while self.done:
            number, step, text, lines, is_compressed = self.done.pop()
            yield number, step, zlib.decompress(text) if is_compressed else text, lines

    def __bool__(self) -> bool:
        return bool(self.done or self.parts)


def _decode(blocks: Iterator[bytes], note: Note) -> Iterator[Piece]:
    ran: list[tuple[_Cell, _Held]] = []
    size = 0
    cells = _cells(blocks, note)
    for cell, held in cells:
        ran.append((cell, held))
        size += held.size
        if size > MAX_SORTED_BYTES:  # more text than is usual: the order of the file is kept
            for cell, held in chain(ran, cells):
                held.add(_failure(cell, None))
                yield from held.pieces()
            return
    to_the_end: dict[object, list[_Cell]] = {}
    for cell, _ in ran:
        if not cell.failed:
            to_the_end.setdefault(cell.code_sum, []).append(cell)
    for cell, held in ran:
        held.add(_failure(cell, _ran_again(to_the_end.get(cell.code_sum, ()), cell)))
    order = _in_order_of_execution([cell for cell, _ in ran])
    shown = [i for i in order if ran[i][1]]
    if shown != sorted(shown):
        note(
            "notebook",
            "the cells did not run in their order in the notebook; they are listed in the order in which they ran",
            None,
        )
    yield from (p for i in order for p in ran[i][1].pieces())


def _in_order_of_execution(cells: list[_Cell]) -> list[int]:
    """The indices of the cells in the order in which they ran.

    If some cells have a count, the outputs of cells without one are from an earlier session of the kernel and come first. The
    exception is the next code cell without a count after the last cell that ran. It was running when the log ended, unless an
    error ended one of these two cells. If one ended the last cell that ran, it was running only if no other cell without a count
    has an output: an earlier session would have left more of them. An error with which the file ends is that of the last session,
    if its cell has no count or the first one: people work downwards, and end where an error stops them.
    """
    counts = {i: cell.number for i, cell in enumerate(cells) if isinstance(cell.number, int)}
    if not counts:
        return list(range(len(cells)))
    counts = _counted_on(cells, counts)
    last = max(counts, key=lambda i: counts[i])
    running = next((i for i in range(last + 1, len(cells)) if cells[i].code and i not in counts), None)
    keys = {i: counts.get(i, 0) for i in range(len(cells))}
    if running is not None and not cells[running].failed:
        with_output = [i for i, cell in enumerate(cells) if cell.code and cell.outputs and i not in counts]
        if not cells[last].failed or with_output == [running]:
            keys[running] = counts[last] + 1
    ended = max(i for i, cell in enumerate(cells) if i in counts or (cell.code and cell.outputs))
    if cells[ended].failed and counts.get(ended, FIRST_COUNT) == FIRST_COUNT:
        keys[ended] = counts[last] + 1
    return sorted(keys, key=lambda i: (keys[i], i))


def _counted_on(cells: list[_Cell], counts: dict[int, int]) -> dict[int, int]:
    """`counts`, continued by a later session: people work downwards, and end where an error stops them.

    A later session are the cells from the first count that occurs above, too, if an error ended the last of them to
    run, and no cell above them.
    """
    told = list(counts.values())
    first = next((i for at, (i, n) in enumerate(counts.items()) if n in told[:at]), None)
    if first is None:
        return counts
    below = [i for i in counts if i >= first]
    if not cells[max(below, key=lambda i: counts[i])].failed or any(cells[i].failed for i in range(first)):
        return counts
    most = max(n for i, n in counts.items() if i < first)
    return counts | {i: counts[i] + most for i in below}


def _cells(blocks: Iterator[bytes], note: Note) -> Iterator[tuple[_Cell, _Held]]:
    """Each cell and its lines, in the order of the file."""
    cell = _Cell((), 0)
    end = _Ends()
    output: Path = ()
    held = _Held()
    for path, value, line in values_and_strings(blocks, note):
        place = _places(path)
        if place is None:
            continue
        at, rest = place
        if at != cell.at:
            held.add(_end(cell))
            end.of(cell)
            yield cell, held
            cell, output, held = _Cell(at, line), (), _Held()
        if rest[:1] != ("outputs",):
            for text in value.texts if isinstance(value, Strings) else (value,):
                _about(cell, rest, text)
            continue
        if rest[:2] != output:
            held.add(_rest(cell))
            output = rest[:2]
        held.add(_outputs(cell, rest[2:], value, line))
    held.add(_end(cell))
    end.of(cell)
    yield cell, held
    end.tell(note)


def _places(path: Path) -> tuple[Path, Path] | None:
    """The path of a cell, and the path inside that cell; None for a path outside of cells."""
    for i, name in enumerate(path):
        if name == "cells" and i + 1 < len(path):
            return path[: i + 2], path[i + 2 :]
    return None


def _about(cell: _Cell, rest: Path, value: Any) -> None:
    if rest in (("execution_count",), ("prompt_number",)):
        cell.number = value
    elif rest == ("cell_type",):
        cell.code = value == "code"
    elif rest[:1] in (("source",), ("input",)):
        cell.code_sum = zlib.crc32(_bytes(str(value)), cell.code_sum)
    elif rest[:2] == ("metadata", "tags"):
        cell.may_fail = cell.may_fail or value == "raises-exception"
    elif rest[:1] == ("metadata",):
        cell.begun = cell.begun or rest[-1] in CELL_BEGUN
        cell.ended = cell.ended or rest[-1] in CELL_ENDED
        cell.closed = cell.closed or (rest == CELL_CLOSED and bool(value))
        if rest[-1] in STARTED:
            cell.started = cell.started or from_value(value)


def _outputs(cell: _Cell, rest: Path, value: Any, line: int) -> Iterator[Piece]:
    """The lines of one value of an output, or of many that follow each other."""
    if not isinstance(value, Strings):
        yield from _output(cell, rest, value, line)
        return
    text, count = "".join(value.texts), len(value.texts)
    are_lines = text.count("\n") == sum(one.endswith("\n") for one in value.texts) == count
    if are_lines and rest[:1] == ("text",) and not cell.part:
        cell.outputs = True
        yield from _said(cell, line)
        yield line, value.step, _bytes(text.removesuffix("\n")), count
        return
    for i, one in enumerate(value.texts):
        yield from _output(cell, rest, one, line + i * value.step)


def _output(cell: _Cell, rest: Path, value: Any, line: int) -> Iterator[Piece]:
    """The lines of one value of an output."""
    name = rest[0] if rest else ""
    if name in ("evalue", "traceback") and str(value).startswith(NOT_RUN):
        cell.error.clear()
        cell.failed, cell.outputs = "", False
        return
    cell.outputs = True
    if name in ("ename", "traceback"):
        cell.failed, cell.failed_line = str(value) if name == "ename" else cell.failed or "an error", line
    if name in ("ename", "evalue"):
        cell.error.append(str(value))
    elif name == "traceback":
        cell.error.clear()
        yield from _said(cell, line)
        yield line, 0, _bytes(str(value))
    elif rest[:2] == ("metadata", "forensics"):
        cell.death[str(rest[-1])], cell.death_line = value, line
    elif name == "text" and isinstance(value, str):
        yield from _said(cell, line)
        cell.part_line = cell.part_line if cell.part else line
        cell.part += value
        if cell.part.endswith("\n") or len(cell.part) > limits.current.line:
            yield cell.part_line, 0, _bytes(cell.part.removesuffix("\n"))
            cell.part = ""


def _end(cell: _Cell) -> Iterator[Piece]:
    """The last lines of a cell, and its heading if it ran and printed nothing."""
    yield from _rest(cell)
    if cell.code and isinstance(cell.number, int):
        yield from _said(cell, cell.line)
    if cell.is_where_it_died:
        yield from _said(cell, cell.line)
        yield cell.line, 0, _bytes(f"{_heading(cell)} began and has no end: its kernel is gone")


def _failure(cell: _Cell, again: _Cell | None) -> Iterator[Piece]:
    """The last line of a cell that an error ended. `again`: the cell in which the same code ran to its end later."""
    if cell.failed:
        how = "raised, as its tags allow," if cell.may_fail else "ended with"
        how = f"raised, before In [{again.number}] ran the same to its end," if again and not cell.may_fail else how
        yield cell.failed_line, 0, _bytes(f"{_heading(cell)} {how} {cell.failed}")


def _ran_again(same: Iterable[_Cell], failed: _Cell) -> _Cell | None:
    """The first cell of the `same` code that ran later than `failed`, by its execution count, and that no error ended."""
    count = failed.number
    if not failed.failed or not isinstance(count, int):
        return None
    return next((c for c in same if isinstance(c.number, int) and c.number > count), None)


def _rest(cell: _Cell) -> Iterator[Piece]:
    """The last lines of an output: a line without a line end, an error without a traceback."""
    if cell.part:
        yield cell.part_line, 0, _bytes(cell.part)
        cell.part = ""
    if cell.error:
        yield from _said(cell, cell.line)
        yield cell.line, 0, _bytes(": ".join(cell.error))
        cell.error.clear()
    if cell.death:
        yield from _death(cell)
        cell.death.clear()


def _death(cell: _Cell) -> Iterator[Piece]:
    """A line on the death that this program told of before, if it knew the cause; see readers/capture/own_message.py."""
    cause, share, pid = (cell.death.get(name) for name in ("cause", "probability", "pid"))
    if cell.death.get("schema") == DEATH_SCHEMA and cause and isinstance(share, (int, float)):
        about = f", pid {pid}" if isinstance(pid, int) and pid else ""
        yield from _said(cell, cell.death_line)
        yield cell.death_line, 0, _bytes(f"forensics: the kernel died of {cause} ({share:.0%}){about}")


def _said(cell: _Cell, line: int) -> Iterator[Piece]:
    if not cell.said:
        cell.said = True
        yield line, 0, _bytes(f"{cell.started + ' ' if cell.started else ''}{_heading(cell)}")


def _heading(cell: _Cell) -> str:
    return f"In [{cell.number if isinstance(cell.number, int) else ' '}]:"


class _Ends:
    """Finds where the kernel may have died: in the code cell without a count behind the one that ran last.

    If an error ended the one that ran last, the kernel lived on.
    """

    def __init__(self) -> None:
        self.count = 0  # of the cell that ran last
        self.last: _Cell | None = None
        self.behind: _Cell | None = None

    def of(self, cell: _Cell) -> None:
        """Add the next cell of the file."""
        if isinstance(cell.number, int) and cell.number > self.count:
            self.count, self.last, self.behind = cell.number, cell, None
        elif cell.code and cell.number is None and self.behind is None:
            self.behind = cell
        elif cell.failed:
            self.last = None  # of a later session
        if cell.is_where_it_died:  # the kernel died in it, and not behind it
            self.last, self.count = None, sys.maxsize

    def tell(self, note: Note) -> None:
        """Write the note, if there is such a cell."""
        if self.last and self.behind and not (self.last.failed or self.behind.failed):
            message = f"In [{self.count}] is the last cell that ran to its end; if the kernel died, it died in the cell after it"
            note("notebook", message, self.behind.line)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


SAMPLE = b'{"cells": [{"cell_type": "code", "execution_count": 1, "outputs": [{"text": ["Killed\\n"]}]}], "nbformat": 4}\n'
FORMATS = (Format("notebook", _recognises, _decode, SAMPLE, rank=20),)

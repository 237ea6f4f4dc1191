"""Tables of coded errors and other facts, signatures/tables/*.csv, in the cache of compiled databases.

xid.csv    79,ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS,gpu_hardware.fallen_off_bus,root,...

One file of the cache has all tables, each as a part: a line that says where each row ends, then the rows as JSON. Rows that are
asked for by what a log says are found by Hyperscan: known_fixes.csv has thousands of texts, and to look for one after the other
took longer than all else that a short log needs.
"""

import csv
import functools
import os
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import Any

import hyperscan
from msgspec import Struct, json

from forensics.core.digest import sha256
from forensics.core.errors import DatabaseError
from forensics.data_files import cache
from forensics.data_files.cached_data import builtin_folder
from forensics.database.compiled import compile_literals, engine
from forensics.database.files import content_hash

TABLES_FORMAT = 1  # raised when the parts change
TEXTS = " texts"  # behind the name of a table: what Hyperscan looks for
OR = " || "  # between the entries of a cell
SPEAKING = {"known_fixes": "words"}  # tables whose rows are asked for by what is said, and the column with the texts of a row
MAX_KEPT_TABLES = 4  # in memory, as they are in the cache


class _Head(Struct, frozen=True):
    """The first line of a part. `ends`: of each row. `texts_end`: of the texts that Hyperscan looks for, where those of each row
    end."""

    names: list[str]
    ends: list[int]
    texts_end: list[int]


def read_cells(name: str, folder: Path | None = None) -> list[list[str]]:
    """The names of the columns of signatures/tables/<name>.csv, and the cells of each row, in order."""
    if folder:
        return _parsed(folder / "tables" / f"{name}.csv")
    head, rows = _table(name)
    return [head.names, *json.decode(rows)]


def read_rows(name: str, folder: Path | None = None) -> list[dict[str, str]]:
    """All rows of signatures/tables/<name>.csv, in order."""
    names, *rows = read_cells(name, folder) or [[]]
    return [dict(zip_longest(names, row)) for row in rows]


def read_table(name: str) -> dict[str, dict[str, str]]:
    """The rows of signatures/tables/<name>.csv by their first column."""
    return {next(iter(row.values())): row for row in read_rows(name)}


def rows_that_speak(name: str, said: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Index and cells of each row of the table one of whose texts stands in `said`, in any case."""
    head, rows = _table(name)
    matcher, scratch = _matcher(name)
    text, found = said.lower(), set[int]()
    matcher.scan(text.encode(errors="replace"), match_event_handler=lambda i, *_: found.add(i), scratch=scratch)
    for at in sorted({bisect_right(head.texts_end, i) for i in found}):
        begin = head.ends[at - 1] if at else 0
        row = dict(zip_longest(head.names, json.decode(rows[begin + 1 : head.ends[at]])))
        if any(part in text for part in entries(row[SPEAKING[name]].lower())):
            yield at, row


def entries(cell: str) -> tuple[str, ...]:
    """The entries of a cell."""
    return tuple(cell.split(OR)) if cell else ()


def _parsed(path: Path) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [row for row in csv.reader(file) if row]
    except OSError as error:
        raise DatabaseError(f"table cannot be read: {error.strerror}", str(path)) from error


@functools.lru_cache(maxsize=MAX_KEPT_TABLES)
def _table(name: str) -> tuple[_Head, memoryview]:
    part = _part(name)
    end = part.index(b"\n")
    return json.decode(memoryview(part)[:end], type=_Head), memoryview(part)[end + 1 :]


@functools.cache
def _matcher(name: str) -> tuple[Any, Any]:
    try:
        matcher = hyperscan.loadb(_part(name + TEXTS), hyperscan.HS_MODE_BLOCK)
    except hyperscan.HyperscanError:  # compiled for another processor
        key, places = _kept()
        matcher = hyperscan.loadb(_made(key)[places[name + TEXTS]], hyperscan.HS_MODE_BLOCK)
    return matcher, hyperscan.Scratch(matcher)


def _part(name: str) -> bytes:
    """The part that has the table `name`, or the texts of one."""
    key, places = _kept()
    if name not in places:
        raise DatabaseError("table cannot be read", str(builtin_folder() / "tables" / f"{name}.csv"), "reinstall the package")
    found = cache.read(key, wanted=(places[name],))
    return found[0] if found else _made(key)[places[name]]


@functools.cache
def _kept() -> tuple[str, dict[str, int]]:
    """The name of the file in the cache, and the place of each part in it."""
    folder = builtin_folder() / "tables"
    names = sorted(name.removesuffix(".csv") for name in os.listdir(folder) if name.endswith(".csv"))  # noqa: PTH208
    state = TABLES_FORMAT, cache.CACHE_FORMAT, content_hash([folder]), engine()
    places = {name: at for at, name in enumerate((*names, *(name + TEXTS for name in SPEAKING)))}
    return sha256(repr(state).encode()).hexdigest()[:32], places


@functools.lru_cache(maxsize=1)
def _made(key: str) -> list[bytes]:
    """All parts, which are written to the cache."""
    names = [name for name in _kept()[1] if not name.endswith(TEXTS)]
    tables = {name: _parsed(builtin_folder() / "tables" / f"{name}.csv") for name in names}
    texts = {name: _texts(*tables[name], column=column) for name, column in SPEAKING.items()}
    parts = [_document(*table, texts=texts.get(name, [])) for name, table in tables.items()]
    for every in texts.values():
        parts.append(bytes(hyperscan.dumpb(compile_literals(text.encode() for of_row in every for text in of_row))))
    cache.write(key, parts)
    return parts


def _texts(names: list[str], *rows: list[str], column: str) -> list[list[str]]:
    at = names.index(column)
    return [[*filter(None, entries(row[at].lower()))] for row in rows]


def _document(names: list[str], *rows: list[str], texts: list[list[str]]) -> bytes:
    lines = [json.encode(row) for row in rows]
    head = _Head(names, [*accumulate(1 + len(line) for line in lines)], [*accumulate(map(len, texts))])
    return json.encode(head) + b"\n[" + b",".join(lines) + b"]"

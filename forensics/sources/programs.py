"""A blob that holds a program to its code: a script, the cells of a notebook, a job script or a configuration.

    train.py      -> CodePart("", (Line(1, "import torch"), ...))
    train.ipynb   -> CodePart("cell 1", (Line(12, "import torch"), ...)), CodePart("cell 3", ...), ...

The code is only parsed and never executed. Lines are numbered as in the file.
"""

from __future__ import annotations

import ast
import contextlib
import warnings
from collections.abc import Iterator
from pathlib import PurePath

from forensics.model import CodePart, Line, Source
from forensics.sources.blob import Blob
from forensics.sources.formats.documents import values

PROGRAM_SUFFIXES = (".py", ".ipynb", ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".sh", ".sbatch", ".slurm", ".args")
MAX_PROGRAM_BYTES = 4 << 20  # programs are short; a notebook with its pictures is not
SHELL_SUFFIXES = (".sh", ".bash", ".sbatch", ".slurm")
# What lies in a project beside its program: no log has such a name.
PAGES = ("readme", "license", "licence", "changelog", "contributing", "requirements", "makefile", "dockerfile", "setup.cfg")
PAGE_SUFFIXES = (".md", ".rst", ".toml", ".cfg", ".ini", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".go", ".java", ".rs")


def holds_code(name: str) -> bool:
    """Is a blob of that name a program, a notebook or a configuration?"""
    return name.lower().endswith(PROGRAM_SUFFIXES)


def is_program(source: Source) -> bool:
    """Is it a program, whose lines tell what it might print and not what it printed? Python must parse, a shell's script begins
    with its interpreter: what a run printed does neither, whatever its name."""
    name = source.name.lower()
    if source.code is None or not name.endswith((".py", *SHELL_SUFFIXES)):
        return False
    lines = [line.text for part in source.code() for line in part.lines]
    return _parses(lines) if name.endswith(".py") else bool(lines) and lines[0].startswith("#!")


def is_no_log(name: str) -> bool:
    """Is it by its name a page, a program or a configuration? A notebook has output, and programs log in JSON."""
    return is_page(name) or (holds_code(name) and not name.lower().endswith((".ipynb", ".json")))


def is_log(name: str) -> bool:
    """Is it by its name a log or a notebook, packed or not?"""
    return PurePath(name).name.lower().removesuffix(".gz").removesuffix(".zst").endswith((".log", ".out", ".err", ".ipynb"))


def is_page(name: str) -> bool:
    """Is it by its name a page, a list of packages, a configuration or a source file of a project?"""
    own = PurePath(name).name.lower()
    return own.startswith(PAGES) or own.endswith(PAGE_SUFFIXES)


def _parses(lines: list[str]) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            return bool(ast.parse("\n".join(lines)).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def code_of(blob: Blob) -> tuple[CodePart, ...]:
    """The code in `blob`; nothing where it cannot be read."""
    try:
        with contextlib.closing(blob.open()) as file:
            data = file.read(MAX_PROGRAM_BYTES)
    except (OSError, EOFError):
        return ()
    if blob.name.lower().endswith(".ipynb"):
        return tuple(_cells(data))
    text = data.decode("utf-8", "replace")
    return (CodePart("", tuple(Line(n, line) for n, line in enumerate(text.splitlines(), 1))),)


def _cells(data: bytes) -> Iterator[CodePart]:
    """The code cells of a notebook, in the order in which they stand; each is called by the number with which it ran last."""
    sources: dict[tuple[str | int, ...], list[Line]] = {}
    kinds: dict[tuple[str | int, ...], str] = {}
    counts: dict[tuple[str | int, ...], str] = {}
    for path, value, line in values(iter([data]), lambda *_: None):
        at = next((i for i, name in enumerate(path) if name == "cells" and i + 1 < len(path)), None)
        if at is None:
            continue
        cell, rest = path[: at + 2], path[at + 2 :]
        if rest == ("cell_type",):
            kinds[cell] = str(value)
        elif rest == ("execution_count",) and value is not None:
            counts[cell] = str(value)
        elif rest[:1] in (("source",), ("input",)) and isinstance(value, str):
            sources.setdefault(cell, []).extend(Line(line, text) for text in value.splitlines() or [""])
    for number, (cell, lines) in enumerate(sources.items(), 1):
        if kinds.get(cell) == "code":
            yield CodePart(f"cell {counts.get(cell, number)}", tuple(lines))

"""Read one program. Each part is parsed by itself, so that a notebook cell that is not valid Python loses only that cell."""

import ast
import re
from collections.abc import Iterator, Sequence

from forensics.core import lazy
from forensics.model import CodePart, Habit, Line, Program
from forensics.programs.functions import guarded
from forensics.programs.habits import habits
from forensics.programs.tree import FRAMEWORKS, Code, plain_settings, settings

IPYTHON_LINE_PATTERN = lazy.regex(r"^\s*[%!?]|^\s*\w+\s*=\s*[!%]|\?\s*$")  # lines of IPython that are not valid Python
MAX_PROGRAM_CHARS = 1_000_000  # longer ones are written by programs; Python's parser takes seconds for them


def read_program(name: str, parts: Sequence[CodePart]) -> Program:
    """The Program in the file `name` with these `parts`."""
    python = name.lower().endswith((".py", ".ipynb"))
    codes = [c for part in parts if python and (c := _parsed(name, part))]
    parsed = {id(c.part) for c in codes}
    found: list[Habit] = [s for c in codes for s in settings(c)]
    found += [s for part in parts if id(part) not in parsed for s in plain_settings(name, part)]
    imported = [f for c in codes for f in _frameworks(c.tree, c)]
    locks = tuple(g for c in codes for g in guarded(c))
    return Program(name, _distinct(found), _distinct(habits(codes)), tuple(dict(reversed(imported)).items()), locks)


def _parsed(name: str, part: CodePart) -> Code | None:
    text = "\n".join(_python(line) for line in part.lines)
    if len(text) > MAX_PROGRAM_CHARS:
        return None
    try:
        return Code(name, part, ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _python(line: Line) -> str:
    """The line, or `pass` instead of a line that only IPython understands."""
    if not IPYTHON_LINE_PATTERN.search(line.text):
        return line.text
    return re.match(r"\s*", line.text)[0] + "pass"  # type: ignore[index]  # it matches nothing as well


def _frameworks(tree: ast.AST, code: Code) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        for name in names:
            found = FRAMEWORKS.get(name.split(".")[0])
            if name.startswith("tensorflow.keras"):
                found = "keras"
            if found:
                yield found, code.line(node)


def _distinct(found: Sequence[Habit]) -> tuple[Habit, ...]:
    return tuple({(r.kind, r.line): r for r in found}.values())

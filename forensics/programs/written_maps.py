"""The mappings that a program writes out itself, and the statement in which each gets its name.

    config = dict(lr=1e-3)        -> config, `train.py:3`, or `cell 2, line 1` of a notebook
    config = yaml.safe_load(f)    -> nothing: what it holds stands elsewhere

A name that is bound more than once tells nothing: which of its values failed is not known.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from forensics.model import WrittenMap
from forensics.programs.tree import Code

MAX_WRITTEN_CHARS = 80  # of a statement that is quoted in a sentence beside its place: most of a line of a page


def written_maps(codes: Sequence[Code]) -> Iterator[WrittenMap]:
    """Those of the parts of one file."""
    bound = Counter(n.id for c in codes for n in ast.walk(c.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    for code in codes:
        for node in ast.walk(code.tree):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or not is_written_map(node.value):
                continue
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and bound[target.id] == 1:
                yield WrittenMap(target.id, _place(code, node), _statement(code, node))


def is_written_map(value: ast.AST | None) -> bool:
    """Is it `{...}` or `dict(...)` with what it holds written out?"""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) == "dict" and not value.args and all(k.arg for k in value.keywords)
    return isinstance(value, ast.Dict) and all(value.keys)


def _place(code: Code, node: ast.stmt) -> str:
    if code.part.label:
        return f"{code.part.label}, line {node.lineno}"
    return f"{code.name.rsplit('/', 1)[-1]}:{code.line(node)}"


def _statement(code: Code, node: ast.stmt) -> str:
    """The statement as it stands in the file; of one of several lines, the first."""
    first = code.part.lines[node.lineno - 1].text.strip()
    whole = node.end_lineno == node.lineno and len(first) <= MAX_WRITTEN_CHARS
    return first if whole else f"{first[: MAX_WRITTEN_CHARS - 1]}\u2026"

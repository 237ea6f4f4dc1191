"""A parsed part of a program, and helpers for its nodes: the dotted name of `torch.optim.Adam(...)` is `torch.optim.Adam`."""

import ast
from collections.abc import Iterator

from forensics.model import CodePart, Habit


class Code:
    """One part of a file with its syntax tree, and the numbers that are assigned to names in it."""

    def __init__(self, name: str, part: CodePart, tree: ast.Module) -> None:
        self.name, self.part, self.tree = name, part, tree
        self.numbers: dict[str, float] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                value = constant_number(node.value, self.numbers)
                if value is not None:
                    self.numbers[node.targets[0].id] = value

    def line(self, node: ast.AST) -> int:
        """The line of the file on which a node begins."""
        at = getattr(node, "lineno", 1) - 1
        return self.part.lines[min(at, len(self.part.lines) - 1)].number

    def remark(self, kind: str, node: ast.AST, value: float | None = None) -> Habit:
        """The Habit of the kind `kind` at a node."""
        at = min(getattr(node, "lineno", 1) - 1, len(self.part.lines) - 1)
        return Habit(kind, self.name, self.part.lines[at].number, self.part.lines[at].text.strip()[:200], value)


def dotted_name(node: ast.AST) -> str:
    """The dotted name of a name, an attribute or a call: `torch.optim.Adam`; of other expressions only the last names:
    `.append`."""
    names: list[str] = []
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        else:
            node = node.func if isinstance(node, ast.Call) else node.value
    names.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(names))


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """(name, call) of every call below a node: `plt.figure`; for a method of a call's result only its own name: `.batch`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            func = node.func
            chained = isinstance(func, ast.Attribute) and not isinstance(func.value, ast.Name | ast.Attribute)
            yield (f".{func.attr}" if chained and isinstance(func, ast.Attribute) else dotted_name(func)), node


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The value of the first keyword argument of one of these names."""
    return next((k.value for k in call.keywords if k.arg in names), None)


def constant_number(node: ast.AST | None, known: dict[str, float]) -> float | None:
    """The value of an expression of numbers and known names: `64`, `2 * BATCH`, `1 << 10`; None for other expressions."""
    if isinstance(node, ast.Constant):
        return float(node.value) if isinstance(node.value, int | float) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.BinOp):
        left, right = constant_number(node.left, known), constant_number(node.right, known)
        if left is None or right is None or abs(left) > 1e12 or abs(right) > 1e12:
            return None
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.FloorDiv | ast.Div) and right:
            return left // right if isinstance(node.op, ast.FloorDiv) else left / right
        if isinstance(node.op, ast.LShift) and 0 <= right < 40:
            return float(int(left) << int(right))
        if isinstance(node.op, ast.Pow) and 0 <= right < 40 and abs(left) < 1e3:
            return float(left**right)
    return None


def loops(tree: ast.AST) -> Iterator[ast.For | ast.While]:
    """Every loop below a node."""
    yield from (n for n in ast.walk(tree) if isinstance(n, ast.For | ast.While))

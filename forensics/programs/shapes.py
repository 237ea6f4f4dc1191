"""Compiled functions that a loop calls with a new shape each time: tf.function and jax.jit compile anew for each, and keep all.

for length in lengths: step(tokens[:, :length])        -> reshaped
for i in range(0, n, 32): step(tokens[i : i + 32])     not: both ends move, and the length stays
"""

import ast
from collections.abc import Iterator, Sequence

from forensics.model import Habit
from forensics.programs.tree import Code, calls, dotted_name, loops

COMPILERS = {"tf.function", "tensorflow.function", "jax.jit", "jit", "nnx.jit", "pjit"}


def compiled_functions(codes: Sequence[Code]) -> set[str]:
    """The names of the functions of a file that are compiled: by a decorator, or as `step = jax.jit(train)`."""
    found: set[str] = set()
    for code in codes:
        for node in ast.walk(code.tree):
            if isinstance(node, ast.FunctionDef) and any(_compiles(d) for d in node.decorator_list):
                found.add(node.name)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _compiles(node.value):
                found |= {dotted_name(target) for target in node.targets}
    return found


def _compiles(node: ast.expr) -> bool:
    """`jax.jit`, `jax.jit(f)`, `partial(jax.jit, static_argnums=0)`."""
    name = dotted_name(node)
    first = node.args[0] if isinstance(node, ast.Call) and node.args and name.split(".")[-1] == "partial" else None
    return name in COMPILERS or (first is not None and dotted_name(first) in COMPILERS)


def reshaped(code: Code, compiled: set[str]) -> Iterator[Habit]:
    """Calls of compiled functions whose arguments are cut to a length that the loop changes."""
    for loop in loops(code.tree):
        targets = [loop.target] if isinstance(loop, ast.For) else []
        assigned = [n for n in ast.walk(loop) if isinstance(n, ast.Assign)]
        varying = {
            n.id for t in (*targets, *(t for a in assigned for t in a.targets)) for n in ast.walk(t) if isinstance(n, ast.Name)
        }
        cut = {dotted_name(t) for a in assigned if _is_cut(a.value, varying) for t in a.targets}
        for name, call in calls(loop):
            if name in compiled and any(_is_cut(a, varying) or (isinstance(a, ast.Name) and a.id in cut) for a in call.args):
                yield code.remark("reshaped", call)


def _is_cut(node: ast.expr, varying: set[str]) -> bool:
    """Does it have a slice with one end that varies and one that does not?"""
    return any(isinstance(n, ast.Slice) and _varies(n.lower, varying) != _varies(n.upper, varying) for n in ast.walk(node))


def _varies(node: ast.expr | None, varying: set[str]) -> bool:
    return node is not None and any(isinstance(n, ast.Name) and n.id in varying for n in ast.walk(node))

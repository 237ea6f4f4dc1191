"""Habits that only a whole function, or two functions, show: locks in two orders, batches that are never emptied.

with a: with b: ... in one function, with b: with a: ... in another    crossed_locks    each waits for the other
xs.append(x); yield np.array(xs)       and xs is never emptied         growing_batch    each batch holds all before it
kept = []; for x in data: kept.append(f(x))   and kept is never emptied growing_list     it holds all that the loop made
def my_loss(y, p): return -y * tf.math.log(p)                          unguarded_log    log(0) is minus infinity
"""

import ast
from collections.abc import Iterator, Sequence

from forensics.core import lazy
from forensics.model import Guarded, Habit
from forensics.programs.tree import Code, calls, dotted_name, loops

LOCK_NAME_PATTERN = lazy.regex(r"(?i)lock|mutex|semaphore|condition")
LOSS_NAME_PATTERN = lazy.regex(r"(?i)loss|entropy|divergence|likelihood|_nll|focal")
UNGUARDED = {"log", "sqrt", "log2", "log10"}
MATH = {"tf", "tf.math", "torch", "np", "numpy", "K", "keras.backend", "jnp", "ops", "keras.ops", "math"}
GUARD = lazy.regex(r"(?i)eps|clamp|clip|maximum|max\(|1e-|softplus|softmax|exp\(|\b[12](?:\.0*)? \+|\+ [12](?:\.0*)?\b|abs")
# What makes a number or a short text: a list of these does not grow by much.
SMALL = {"item", "float", "int", "len", "str", "round", "bool", "time", "perf_counter", "format", "join", "strip"}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Marks = Iterator[Habit]


def function_habits(code: Code) -> Marks:
    """The habits of the functions of one part of a file."""
    functions = [n for n in ast.walk(code.tree) if isinstance(n, Function)]
    yield from _crossed(code, functions)
    losses = {
        id(f) for c in ast.walk(code.tree) if isinstance(c, ast.ClassDef) and LOSS_NAME_PATTERN.search(c.name) for f in c.body
    }
    for function in functions:
        yield from _growing(code, function)
        if LOSS_NAME_PATTERN.search(function.name) or id(function) in losses:
            yield from _unguarded(code, function)


def _crossed(code: Code, functions: Sequence[Function]) -> Marks:
    """Two locks that one function takes in one order and another function in the other order: a possible deadlock."""
    taken: dict[tuple[str, str], tuple[Function, ast.AST]] = {}
    for function in functions:
        for first, second, node in _pairs(function.body, ()):
            taken.setdefault((first, second), (function, node))
    for (first, second), (function, node) in taken.items():
        if first < second and (second, first) in taken:
            other, there = taken[second, first]
            habit = code.remark("crossed_locks", node)
            lines = f"{first} then {second} in {function.name} (line {habit.line}), {second} then {first} in {other.name}"
            yield Habit(habit.kind, habit.source, habit.line, f"{lines} (line {code.line(there)})")


def _pairs(body: Sequence[ast.stmt], held: tuple[str, ...]) -> Iterator[tuple[str, str, ast.AST]]:
    """(lock that is held, lock that is taken next, node), from `with` statements and calls of `acquire`."""
    for statement in body:
        if isinstance(statement, Function | ast.ClassDef):
            continue
        now = held
        if isinstance(statement, ast.With | ast.AsyncWith):
            for name, node in _locks_of(statement):
                yield from ((before, name, node) for before in now if before != name)
                now = (*now, name)
        elif isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call):
            name, _, what = dotted_name(call.func).rpartition(".")
            if LOCK_NAME_PATTERN.search(name) and what == "acquire":
                yield from ((before, name, call) for before in held if before != name)
                held = (*held, name)
            elif what == "release":
                held = tuple(n for n in held if n != name)
        for inner in ("body", "orelse", "finalbody"):
            yield from _pairs(getattr(statement, inner, []), now)


def guarded(code: Code) -> Iterator[Guarded]:
    """The lines of each function that hold a lock, from its `with` statements."""
    for function in (n for n in ast.walk(code.tree) if isinstance(n, Function)):
        for node in ast.walk(function):
            if isinstance(node, ast.With | ast.AsyncWith):
                last = code.line(node) + (node.end_lineno or 0) - node.lineno
                yield from (Guarded(name, function.name, code.line(node), last) for name, _ in _locks_of(node))


def _locks_of(statement: ast.With | ast.AsyncWith) -> Iterator[tuple[str, ast.expr]]:
    """(name, node) of each lock that a `with` statement takes."""
    for item in statement.items:
        name = dotted_name(item.context_expr)
        if LOCK_NAME_PATTERN.search(name):
            yield name, item.context_expr


def _growing(code: Code, function: Function) -> Marks:
    """A list that is filled and yielded in a loop and never emptied in it."""
    for loop in (n for n in function.body if isinstance(n, ast.For | ast.While)):
        given = {dotted_name(n) for y in ast.walk(loop) if isinstance(y, ast.Yield) and y.value for n in ast.walk(y.value)}
        emptied = _emptied(loop)
        for name, call in calls(loop):
            filled, _, what = name.rpartition(".")
            if what in ("append", "extend") and filled in given - emptied:
                yield code.remark("growing_batch", call)
                return


def empty_lists(code: Code) -> set[str]:
    """The names that are made empty lists."""
    assigned = [
        n for n in ast.walk(code.tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.List) and not n.value.elts
    ]
    return {dotted_name(target) for node in assigned for target in node.targets}


def growing_list(code: Code, made: set[str]) -> Marks:
    """The first list of `made` that a loop fills with more than numbers and never empties."""
    for loop in loops(code.tree):
        yielded = {dotted_name(n) for y in ast.walk(loop) if isinstance(y, ast.Yield) and y.value for n in ast.walk(y.value)}
        for name, call in calls(loop):
            filled, _, what = name.rpartition(".")
            if what == "append" and filled in made - _emptied(loop) - yielded and call.args and not _is_small(call.args[0]):
                yield code.remark("growing_list", call)
                return


def _is_small(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return dotted_name(node.func).split(".")[-1] in SMALL
    return isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Compare)


def _emptied(loop: ast.AST) -> set[str]:
    """The names that a loop gives another value, deletes, or takes elements from."""
    names = {dotted_name(t) for n in ast.walk(loop) if isinstance(n, ast.Assign | ast.Delete) for t in _names(n.targets)}
    return names | {name.rpartition(".")[0] for name, _ in calls(loop) if name.endswith((".clear", ".pop", ".popleft"))}


def _names(targets: Sequence[ast.expr]) -> Iterator[ast.expr]:
    for target in targets:
        yield from _names(target.elts) if isinstance(target, ast.Tuple | ast.List) else (target,)


def _unguarded(code: Code, function: Function) -> Marks:
    for name, call in calls(function):
        where, _, what = name.rpartition(".")
        given = call.args[0] if call.args and where in MATH else None
        if (
            what in UNGUARDED
            and given is not None
            and not isinstance(given, ast.Constant)
            and not GUARD.search(ast.unparse(given))
        ):
            yield code.remark("unguarded_log", call)

"""Habits that only a whole function shows: batches that are never emptied, a logarithm of zero. Also which lines hold a lock.

xs.append(x); yield np.array(xs)       and xs is never emptied         growing_batch    each batch holds all before it
kept = []; for x in data: kept.append(f(x))   and kept is never emptied growing_list     it holds all that the loop made
def my_loss(y, p): return -y * tf.math.log(p)                          unguarded_log    log(0) is minus infinity

Variables that threads write without a lock: in the functions that a thread runs, and those that they call.

threading.Thread(target=counter.add) ... def add(self, text): self.words += 1   -> shared_without_lock

Another thread may come in between the reading and the writing. What is only set is no such habit, as results[i] = f(i): each
thread writes a place of its own. Names are compared without their objects, so `counter.add` is any `add` of the file. A subclass
of Thread has an object for each thread, whose own attributes are not shared.
"""

import ast
from collections.abc import Iterator, Sequence

from forensics.core import lazy
from forensics.model import Guarded, Habit
from forensics.programs.tree import Code, calls, dotted_name, keyword, loops

THREAD_GUARDS = {"Lock", "RLock", "Queue", "SimpleQueue", "Event", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}
THREAD_STARTERS = {"Thread", "ThreadPoolExecutor", "ThreadPool", "start_new_thread"}
HANDED_OVER = {
    "submit",
    "map",
    "apply_async",
    "imap",
    "starmap",
    "start_new_thread",
}  # methods of pools: the function comes first
ThreadFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def shared_without_lock(code: Code, named: set[str]) -> Iterator[Habit]:
    """The first write of a shared variable. `named`: the names of all calls of the file."""
    used = {n.split(".")[-1] for n in named}
    if used & THREAD_GUARDS or not used & THREAD_STARTERS:
        return
    own = {id(f) for c in ast.walk(code.tree) if isinstance(c, ast.ClassDef) and _is_thread(c) for f in c.body}
    for function in _run_by_threads(code):
        if id(function) not in own and (node := _write(function)) is not None:
            yield code.remark("shared_without_lock", node)
            return


def _is_thread(node: ast.ClassDef) -> bool:
    return any(dotted_name(b).split(".")[-1] == "Thread" for b in node.bases)


def _run_by_threads(code: Code) -> list[ThreadFunction]:
    """The functions that are handed to threads, and those of the file that they call, in order."""
    functions = [n for n in ast.walk(code.tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    found: list[ThreadFunction] = []
    for name, call in calls(code.tree):
        last = name.split(".")[-1]
        first = call.args[0] if last in HANDED_OVER and "." in name and call.args else None
        given = keyword(call, "target") if last == "Thread" else first
        if isinstance(given, ast.Lambda):
            found.append(given)
        elif given is not None:
            found += [f for f in functions if f.name == dotted_name(given).split(".")[-1]]
    for function in found:  # grows while it is gone through
        called = {n.split(".")[-1] for n, _ in calls(function)}
        found += [f for f in functions if f.name in called and f not in found]
    return found


def _write(function: ThreadFunction) -> ast.AST | None:
    """The first place where the function changes a variable that is not its own by what the variable was."""
    declared = {n for x in ast.walk(function) if isinstance(x, ast.Global | ast.Nonlocal) for n in x.names}
    given = {a.arg for a in function.args.args if a.arg not in ("self", "cls")}
    local = given | {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} - declared
    written = [t for n in ast.walk(function) if isinstance(n, ast.Assign) for t in n.targets]
    bases = {id(n) for t in written for n in ast.walk(t)}
    read = {dotted_name(n) for n in ast.walk(function) if isinstance(n, ast.Attribute | ast.Name) and id(n) not in bases}
    for node in ast.walk(function):
        if isinstance(node, ast.AugAssign):
            changed: list[ast.expr] = [node.target]
        else:
            changed = [t for t in node.targets if dotted_name(t) in read] if isinstance(node, ast.Assign) else []
        for target in changed:
            root = dotted_name(target).split(".")[0]
            if root and root not in local and (isinstance(target, ast.Attribute | ast.Subscript) or root in declared):
                return node
    return None


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
    losses = {
        id(f) for c in ast.walk(code.tree) if isinstance(c, ast.ClassDef) and LOSS_NAME_PATTERN.search(c.name) for f in c.body
    }
    for function in functions:
        yield from _growing(code, function)
        if LOSS_NAME_PATTERN.search(function.name) or id(function) in losses:
            yield from _unguarded(code, function)


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

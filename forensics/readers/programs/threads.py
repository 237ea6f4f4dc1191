"""Variables that threads write without a lock: in the functions that a thread runs, and those that they call.

threading.Thread(target=counter.add) ... def add(self, text): self.words += 1   -> shared_without_lock

Another thread may come in between the reading and the writing. What is only set is no such habit, as results[i] = f(i): each
thread writes a place of its own. Names are compared without their objects, so `counter.add` is any `add` of the file. A subclass
of Thread has an object for each thread, whose own attributes are not shared.
"""

import ast
from collections.abc import Iterator

from forensics.model import Habit
from forensics.readers.programs.code import Code, calls, dotted_name, keyword

THREAD_GUARDS = {"Lock", "RLock", "Queue", "SimpleQueue", "Event", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}
THREAD_STARTERS = {"Thread", "ThreadPoolExecutor", "ThreadPool", "start_new_thread"}
# Methods of pools that take the function first.
HANDED_OVER = {"submit", "map", "apply_async", "imap", "starmap", "start_new_thread"}
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

"""Habits of a program that can end a run: tensors that are kept, lists that grow, processes without a main guard.

    losses.append(loss)                     kept_loss       the loss keeps the graph of its step in memory
    data = np.concatenate([data, part])     grown_array     copied at each step, twice in memory during the copy
    kept.append(f(x)), never emptied        growing_list    it holds all that the loop made
    xs.append(x); yield np.array(xs)        growing_batch   each batch holds all before it
    model = keras.Model() in a loop         rebuilt_model   Keras keeps the graphs of all of them
    -y * tf.math.log(p) in a loss           unguarded_log   log(0) is minus infinity

A habit is only what the code does, not proof of harm: a remedy names it only if the logs show a failure of that kind. Each part
is parsed by itself, so that a notebook cell that is not valid Python loses only that cell.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from forensics.core import lazy
from forensics.model import CodePart, Guarded, Habit, Line, Program
from forensics.readers.programs.code import (
    Code,
    calls,
    dotted_name,
    frameworks,
    keyword,
    loops,
    plain_settings,
    settings,
    written_maps,
)
from forensics.readers.programs.threads import shared_without_lock

TENSOR = lazy.regex(
    r"(?i)(?:^|_)(?:loss(?:es)?|output|outputs|out|logits|pred|preds|prediction|hidden|feat|features|emb|embeddings|acts?)$"
)
GROWING = {
    *("np.concatenate", "numpy.concatenate", "np.append", "numpy.append", "np.vstack", "np.hstack", "torch.cat", "torch.stack"),
    *("pd.concat", "pandas.concat", "tf.concat", "jnp.concatenate"),
}
STARTERS = ("Process", "Pool", "ProcessPoolExecutor", "spawn", "start_processes")
LOCK_NAME_PATTERN = lazy.regex(r"(?i)lock|mutex|semaphore|condition")
LOSS_NAME_PATTERN = lazy.regex(r"(?i)loss|entropy|divergence|likelihood|_nll|focal")
UNGUARDED = {"log", "sqrt", "log2", "log10"}
MATH = {"tf", "tf.math", "torch", "np", "numpy", "K", "keras.backend", "jnp", "ops", "keras.ops", "math"}
GUARD = lazy.regex(r"(?i)eps|clamp|clip|maximum|max\(|1e-|softplus|softmax|exp\(|\b[12](?:\.0*)? \+|\+ [12](?:\.0*)?\b|abs")
# What makes a number or a short text: a list of these does not grow by much.
SMALL = {"item", "float", "int", "len", "str", "round", "bool", "time", "perf_counter", "format", "join", "strip"}
IPYTHON_LINE_PATTERN = lazy.regex(r"^\s*[%!?]|^\s*\w+\s*=\s*[!%]|\?\s*$")  # lines of IPython that are not valid Python
MAX_PROGRAM_CHARS = 1_000_000  # longer ones are written by programs; Python's parser takes seconds for them
Function = ast.FunctionDef | ast.AsyncFunctionDef
Marks = Iterator[Habit]


class CallHabit(Struct, frozen=True):
    """Calls that are a habit, by their dotted names (globs).

    `where`: in a "loop", a "tape" of gradients, at the "top" of a file, which children import, in a file with "tf.data", or
    anywhere. `lacks`: arguments that make it harmless, "*" for any. `true`: an argument, or the first one, that must be True.
    `unless`: a call somewhere in the file that makes it harmless.
    """

    kind: str
    names: tuple[str, ...]
    where: str = ""
    lacks: tuple[str, ...] = ()
    true: str = ""
    unless: str = ""


CALL_HABITS = (
    CallHabit("rebuilt_model", ("*keras.*Sequential", "*keras.*Model", "models.Sequential"), "loop", unless="*clear_session"),
    CallHabit("retraced", ("tf.function", "tensorflow.function"), "loop"),
    CallHabit("start_method", ("*set_start_method",), "top"),
    CallHabit("no_main_guard", tuple(f"{front}{starter}" for starter in STARTERS
                                     for front in ("", "mp.", "*multiprocessing*.", "concurrent.*", "torch.*")), "top"),
    CallHabit("cached_dataset", ("*.cache",), "tf.data", lacks=("*",)),
    CallHabit("serial_map", ("*.map",), "tf.data", lacks=("num_parallel_calls",)),
    CallHabit("python_in_pipeline", ("*py_function", "*numpy_function", "*from_generator")),
    CallHabit("opencv_in_pipeline", ("cv2.*",), "tf.data"),
    CallHabit("read_at_once", ("*read_csv",), lacks=("chunksize", "iterator", "nrows")),
    CallHabit("read_at_once", ("np.load", "numpy.load"), lacks=("mmap_mode",)),
    CallHabit("stateful_layer", ("*LSTM", "*GRU", "*SimpleRNN", "*.RNN", "*ConvLSTM*D"), true="stateful"),
    CallHabit("eager", ("*compile", "*run_functions_eagerly"), true="run_eagerly"),
    CallHabit("left_the_tape", ("*.numpy", "np.array", "np.mean", "np.sum", "numpy.array", "float"), "tape"),
)  # fmt: skip


def read_program(name: str, parts: Sequence[CodePart]) -> Program:
    """The Program in the file `name` with these `parts`."""
    python = name.lower().endswith((".py", ".ipynb"))
    codes = [c for part in parts if python and (c := _parsed(name, part))]
    parsed = {id(c.part) for c in codes}
    found: list[Habit] = [s for c in codes for s in settings(c)]
    found += [s for part in parts if id(part) not in parsed for s in plain_settings(name, part)]
    imported = dict(reversed([f for c in codes for f in frameworks(c)]))
    locks = tuple(g for c in codes for g in _guarded(c))
    return Program(
        name, _distinct(found), _distinct([*habits(codes)]), tuple(imported.items()), locks, tuple(written_maps(codes))
    )


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


def _distinct(found: Sequence[Habit]) -> tuple[Habit, ...]:
    return tuple({(r.kind, r.line): r for r in found}.values())


def habits(codes: Sequence[Code]) -> Marks:
    """The habits of the parts of one file, which share their imports and definitions."""
    named = {name for c in codes for name, _ in calls(c.tree)}
    lists = {name for c in codes for name in _empty_lists(c)}
    for code in codes:
        yield from (*_kept(code), *_grown(code), *_called(code, named), *_of_functions(code), *_growing_list(code, lists))
        yield from shared_without_lock(code, named)


def _called(code: Code, named: set[str]) -> Marks:
    """The habits of CALL_HABITS. `named`: the names of all calls of the file."""
    tapes = (n for n in ast.walk(code.tree) if isinstance(n, ast.With) and "GradientTape" in ast.unparse(n.items[0]))
    tf_data = any("tf.data" in name or "Dataset.from" in name for name, _ in calls(code.tree))
    places: dict[str, list[ast.AST]] = {
        "": [code.tree],
        "tf.data": [code.tree] if tf_data else [],
        "loop": [*loops(code.tree)],
        "tape": [*tapes],
        "top": [] if code.part.label else [*_unguarded(code.tree)],  # child processes do not import the cells of a notebook
    }
    for row in CALL_HABITS:
        if row.unless and any(fnmatchcase(name, row.unless) for name in named):
            continue
        for name, call in (pair for place in places[row.where] for pair in calls(place)):
            given = keyword(call, row.true) or next(iter(call.args), None) if row.true else None
            harmless = bool(row.true) and not (isinstance(given, ast.Constant) and given.value is True)
            harmless |= "*" in row.lacks and bool(call.args or call.keywords)
            if any(fnmatchcase(name, glob) for glob in row.names) and not harmless and keyword(call, *row.lacks) is None:
                yield code.remark(row.kind, call)


def _unguarded(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run when the file is imported: at top level, and not below `if __name__ == "__main__"`."""
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) or (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)):
            continue
        yield node


def _kept(code: Code) -> Marks:
    """Tensors with their graph that are kept after the step: appended to a list, or added up."""
    for loop in loops(code.tree):
        for node in ast.walk(loop):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append" and node.args:
                if _is_tensor(node.args[0]):
                    yield code.remark("kept_loss", node)
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _is_tensor(node.value):
                yield code.remark("kept_loss", node)


def _is_tensor(node: ast.AST) -> bool:
    """Is it a name as of a loss or an output, without a call that would make it a number?"""
    if isinstance(node, ast.Name | ast.Attribute):
        return bool(TENSOR.search(dotted_name(node).split(".")[-1]))
    return isinstance(node, ast.BinOp) and (_is_tensor(node.left) or _is_tensor(node.right))


def _grown(code: Code) -> Marks:
    for loop in loops(code.tree):
        for node in ast.walk(loop):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.value, ast.Call):
                continue
            target = dotted_name(node.targets[0])
            inside = {dotted_name(n) for a in node.value.args for n in ast.walk(a) if isinstance(n, ast.Name | ast.Attribute)}
            called = dotted_name(node.value.func)
            if (target in inside and called in GROWING) or called == f"{target}.append":
                yield code.remark("grown_array", node)


def _of_functions(code: Code) -> Marks:
    """Batches that grow, and losses that take the logarithm or root of what can be 0."""
    classes = (c for c in ast.walk(code.tree) if isinstance(c, ast.ClassDef) and LOSS_NAME_PATTERN.search(c.name))
    losses = {id(f) for c in classes for f in c.body}
    for function in (n for n in ast.walk(code.tree) if isinstance(n, Function)):
        yield from _growing_batch(code, function)
        for name, call in calls(function) if LOSS_NAME_PATTERN.search(function.name) or id(function) in losses else ():
            where, _, what = name.rpartition(".")
            given = call.args[0] if call.args and where in MATH and what in UNGUARDED else None
            if given is not None and not isinstance(given, ast.Constant) and not GUARD.search(ast.unparse(given)):
                yield code.remark("unguarded_log", call)


def _growing_batch(code: Code, function: Function) -> Marks:
    """A list that is filled and yielded in a loop and never emptied in it."""
    for loop in (n for n in function.body if isinstance(n, ast.For | ast.While)):
        given = _yielded(loop) - _emptied(loop)
        for name, call in calls(loop):
            filled, _, what = name.rpartition(".")
            if what in ("append", "extend") and filled in given:
                yield code.remark("growing_batch", call)
                return


def _yielded(loop: ast.AST) -> set[str]:
    return {dotted_name(n) for y in ast.walk(loop) if isinstance(y, ast.Yield) and y.value for n in ast.walk(y.value)}


def _empty_lists(code: Code) -> set[str]:
    """The names that are made empty lists."""
    assigned = (n for n in ast.walk(code.tree) if isinstance(n, ast.Assign))
    return {dotted_name(t) for n in assigned if isinstance(n.value, ast.List) and not n.value.elts for t in n.targets}


def _growing_list(code: Code, made: set[str]) -> Marks:
    """The first list of `made` that a loop fills with more than numbers and never empties."""
    for loop in loops(code.tree):
        kept = made - _emptied(loop) - _yielded(loop)
        for name, call in calls(loop):
            filled, _, what = name.rpartition(".")
            if what == "append" and filled in kept and call.args and not _is_small(call.args[0]):
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


def _guarded(code: Code) -> Iterator[Guarded]:
    """The lines of each function that hold a lock, from its `with` statements."""
    for function in (n for n in ast.walk(code.tree) if isinstance(n, Function)):
        for node in (n for n in ast.walk(function) if isinstance(n, ast.With | ast.AsyncWith)):
            last = code.line(node) + (node.end_lineno or 0) - node.lineno
            names = (dotted_name(item.context_expr) for item in node.items)
            yield from (Guarded(n, function.name, code.line(node), last) for n in names if LOCK_NAME_PATTERN.search(n))

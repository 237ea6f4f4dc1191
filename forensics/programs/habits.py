"""Habits of a program that can end a run: tensors that are kept, arrays that grow, processes without a main guard.

    losses.append(loss)                     kept_loss       the loss keeps the graph of its step in memory
    total += loss                           kept_loss
    data = np.concatenate([data, part])     grown_array     copied at each step, twice in memory during the copy
    model = build() in a loop               rebuilt_model   Keras keeps the graphs of all of them
    step(x, i) in a loop over i             retraced        a tf.function keeps a graph for each Python number
    set_start_method("spawn") at top level  start_method    every child runs it again
    Process(...).start() at top level       no_main_guard

A habit is only what the code does, not proof of harm: a remedy names it only if the logs show a failure of that kind.

Read one program. Each part is parsed by itself, so that a notebook cell that is not valid Python loses only that cell.
"""

import ast
import re
from collections.abc import Iterator, Sequence

from forensics.core import lazy
from forensics.model import CodePart, Habit, Line, Program
from forensics.programs.functions import empty_lists, function_habits, growing_list, guarded, shared_without_lock
from forensics.programs.tree import FRAMEWORKS, Code, calls, dotted_name, keyword, loops, plain_settings, settings
from forensics.programs.written_maps import written_maps

TENSOR = lazy.regex(
    r"(?i)(?:^|_)(?:loss(?:es)?|output|outputs|out|logits|pred|preds|prediction|hidden|feat|features|emb|embeddings|acts?)$"
)
GROWING = {
    *("np.concatenate", "numpy.concatenate", "np.append", "numpy.append", "np.vstack", "np.hstack", "torch.cat", "torch.stack"),
    *("pd.concat", "pandas.concat", "tf.concat", "jnp.concatenate"),
}
MODELS = {"Sequential", "Model"}
STARTERS = {"Process", "Pool", "ProcessPoolExecutor", "spawn", "start_processes"}
Marks = Iterator[Habit]


def habits(codes: Sequence[Code]) -> list[Habit]:
    """The habits of the parts of one file, which share their imports and definitions."""
    named = {name for c in codes for name, _ in calls(c.tree)}
    lists = {name for c in codes for name in empty_lists(c)}
    builders, traced = _builders(codes)
    found: list[Habit] = []
    for code in codes:
        found += [*_kept(code), *_grown(code), *_rebuilt(code, builders, traced), *_started(code)]
        found += [
            *shared_without_lock(code, named),
            *_fed(code),
            *_taped(code),
            *_stateful(code),
            *function_habits(code),
            *growing_list(code, lists),
        ]
    return found


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
    if isinstance(node, ast.Call):
        return False
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


def _rebuilt(code: Code, builders: set[str], traced: set[str]) -> Marks:
    """Models that a loop builds without clear_session, itself or by a function of the file (`builders`); functions that are
    traced in a loop, or once for each Python number that a loop gives them (`traced`: the functions with @tf.function)."""
    for loop in loops(code.tree):
        inside = list(calls(loop))
        if not any(n.endswith("clear_session") for n, _ in inside):
            yield from (code.remark("rebuilt_model", c) for n, c in inside if _is_keras_model(n) or n in builders)
        yield from (code.remark("retraced", c) for n, c in inside if n in ("tf.function", "tensorflow.function"))
        numbers = _python_numbers(loop)
        for name, call in inside:
            if name in traced and any(isinstance(a, ast.Name) and a.id in numbers for a in call.args):
                yield code.remark("retraced", call)
        for node in ast.walk(loop):
            if isinstance(node, ast.FunctionDef) and _is_traced(node):
                yield code.remark("retraced", node)


def _is_keras_model(called: str) -> bool:
    """`keras.Sequential`, `tf.keras.Model`; not `nn.Sequential`, which is PyTorch's and keeps nothing."""
    return "." in called and called.split(".")[-1] in MODELS and called.split(".")[0] not in ("nn", "torch")


def _is_traced(function: ast.FunctionDef) -> bool:
    return any("tf.function" in dotted_name(d) for d in function.decorator_list)


def _builders(codes: Sequence[Code]) -> tuple[set[str], set[str]]:
    """The names of the functions of a file that build a Keras model and clear no session, and of those that are traced."""
    functions = [n for c in codes for n in ast.walk(c.tree) if isinstance(n, ast.FunctionDef)]
    called = {f.name: {n for n, _ in calls(f)} for f in functions}
    cleared = {name for name, names in called.items() if any(n.endswith("clear_session") for n in names)}
    building = {name for name, names in called.items() if any(map(_is_keras_model, names))}
    return building - cleared, {f.name for f in functions if _is_traced(f)}


def _python_numbers(loop: ast.For | ast.While) -> set[str]:
    """The names that have another Python number in each round of a loop over range() or enumerate(), or are computed from one."""
    counter = loop.iter if isinstance(loop, ast.For) else None
    kind = dotted_name(counter.func) if isinstance(counter, ast.Call) else ""
    target = loop.target if isinstance(loop, ast.For) else None
    target = target.elts[0] if kind == "enumerate" and isinstance(target, ast.Tuple) else target
    numbers = {target.id} if kind in ("range", "enumerate") and isinstance(target, ast.Name) else set()
    for node in loop.body if numbers else ():
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            parts = list(ast.walk(node.value))
            names = {n.id for n in parts if isinstance(n, ast.Name)}
            if names & numbers and names <= numbers and not any(isinstance(n, ast.Call | ast.Subscript) for n in parts):
                numbers.add(node.targets[0].id)
    return numbers


def _unguarded(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that run when the file is imported: at top level, and not below `if __name__ == "__main__"`."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.If) and "__name__" in {dotted_name(n) for n in ast.walk(node.test) if isinstance(n, ast.Name)}:
            continue
        yield node


def _started(code: Code) -> Marks:
    if code.part.label:  # child processes do not import the cells of a notebook
        return
    for statement in _unguarded(code.tree):
        for name, call in calls(statement):
            last = name.split(".")[-1]
            if last == "set_start_method":
                yield code.remark("start_method", call)
            elif last in STARTERS and (
                "." not in name or "multiprocessing" in name or name.startswith(("mp.", "concurrent", "torch."))
            ):
                yield code.remark("no_main_guard", call)


def _fed(code: Code) -> Marks:
    """The input pipeline: serial maps, a cache in memory, OpenCV or Python in tf.data, files that are read whole, eager steps."""
    found = list(calls(code.tree))
    tf_data = any("tf.data" in name or "Dataset.from" in name for name, _ in found)
    for name, call in found:
        last = name.split(".")[-1]
        if last == "map" and tf_data and call.args and keyword(call, "num_parallel_calls") is None and name != "map":
            yield code.remark("serial_map", call)
        elif last == "cache" and tf_data and not call.args and not call.keywords:
            yield code.remark("cached_dataset", call)
        elif last in ("py_function", "numpy_function", "from_generator"):
            yield code.remark("python_in_pipeline", call)
        elif name.startswith("cv2.") and tf_data:
            yield code.remark("opencv_in_pipeline", call)
        elif _reads_whole(name, call):
            yield code.remark("read_at_once", call)
        elif _is_true(keyword(call, "run_eagerly")) or (last == "run_functions_eagerly" and _is_true(*call.args[:1])):
            yield code.remark("eager", call)


def _reads_whole(name: str, call: ast.Call) -> bool:
    if name.split(".")[-1] == "read_csv":
        return keyword(call, "chunksize", "iterator", "nrows") is None
    return name in ("np.load", "numpy.load") and keyword(call, "mmap_mode") is None


def _is_true(node: ast.AST | None = None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _taped(code: Code) -> Marks:
    """A value that becomes a NumPy array while a GradientTape records: no gradient flows through it."""
    for node in ast.walk(code.tree):
        if isinstance(node, ast.With) and any("GradientTape" in dotted_name(i.context_expr) for i in node.items):
            for name, call in calls(node):
                if name.split(".")[-1] == "numpy" or name in ("np.array", "np.mean", "np.sum", "numpy.array", "float"):
                    yield code.remark("left_the_tape", call)


def _stateful(code: Code) -> Marks:
    """Stateful recurrent layers: all batches must have the same size, and the state must be reset."""
    yield from (code.remark("stateful_layer", call) for _, call in calls(code.tree) if _is_true(keyword(call, "stateful")))


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
    return Program(
        name,
        _distinct(found),
        _distinct(habits(codes)),
        tuple(dict(reversed(imported)).items()),
        locks,
        tuple(written_maps(codes)),
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

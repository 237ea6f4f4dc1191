"""A parsed part of a program, and helpers for its nodes: the dotted name of `torch.optim.Adam(...)` is `torch.optim.Adam`.

The settings of a program: batch size, optimizer, workers, lengths, precision, the shuffle buffer.

DataLoader(data, batch_size=BATCH, num_workers=8)   -> batch_size 64 (with BATCH = 64 above), workers 8
parser.add_argument("--batch-size", default=32)     -> batch_size 32
model.compile(optimizer="adam")                     -> optimizer adam
scaled_dot_product_attention(q, k, v)               -> fused_attention

The mappings that a program writes out itself, and the statement in which each gets its name.

config = dict(lr=1e-3)                              -> config, `train.py:3`, or `cell 2, line 1` of a notebook
config = yaml.safe_load(f)                          -> nothing: what it holds stands elsewhere
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from forensics.core import lazy
from forensics.model import CodePart, Habit, WrittenMap


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


FRAMEWORKS = {
    "torch": "torch", "torchvision": "torch", "lightning": "lightning", "pytorch_lightning": "lightning",
    "transformers": "transformers", "tensorflow": "tensorflow", "keras": "keras", "jax": "jax", "flax": "jax", "optax": "jax",
    "sklearn": "sklearn", "xgboost": "boosting", "lightgbm": "boosting", "catboost": "boosting",
}  # fmt: skip
# Name of an argument, a variable or a key of a configuration -> the setting.
SETTING_OF_NAME = {
    "batch_size": "batch_size", "batchsize": "batch_size", "bs": "batch_size", "train_batch_size": "batch_size",
    "per_device_train_batch_size": "batch_size", "micro_batch_size": "batch_size",
    "train_micro_batch_size_per_gpu": "batch_size", "batch": "batch_size", "samples_per_gpu": "batch_size",
    "per_device_eval_batch_size": "eval_batch_size", "eval_batch_size": "eval_batch_size", "val_batch_size": "eval_batch_size",
    "valid_batch_size": "eval_batch_size", "validation_batch_size": "eval_batch_size", "test_batch_size": "eval_batch_size",
    "gradient_accumulation_steps": "accumulation", "accumulate_grad_batches": "accumulation",
    "num_workers": "workers", "dataloader_num_workers": "workers", "prefetch_factor": "prefetch",
    "max_seq_length": "sequence", "max_length": "sequence", "block_size": "sequence", "seq_len": "sequence",
    "seq_length": "sequence", "max_seq_len": "sequence", "num_heads": "heads", "nhead": "heads", "n_head": "heads",
}  # fmt: skip
OPTIMIZERS = lazy.regex(r"(?i)^(?:adamw?|nadam|radam|adamax|adafactor|lion|sgd|rmsprop|adagrad|lamb|adamw?8bit|adam_?w?_?8bit)$")
FUSED_ATTENTION = lazy.regex(r"^(?:scaled_dot_product_attention|flash_attn(?:_\w+)?_func|memory_efficient_attention)$")
FUSED_IMPLEMENTATION = lazy.regex(r"^(?:sdpa|flash_attention_\d)$")  # values of transformers' attn_implementation
PLAIN_SETTING_PATTERN = lazy.regex(
    r"""(?i)(?<![\w.])["'-]{0,2}([a-z][a-z_-]{1,40})["']?\s*+(?:[:=]\s*+|(?<= ))["']?(\d{1,9})\b(?!\.\d)"""
)


def settings(code: Code) -> Iterator[Habit]:
    """The settings of a parsed piece of code."""
    for node in ast.walk(code.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield from _set(code, dotted_name(node.targets[0]).split(".")[-1], node.value, node)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _set(code, dotted_name(node.target).split(".")[-1], node.value, node)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield from _set(code, key.value, value, value)
    for name, call in calls(code.tree):
        yield from _of_call(code, name, call)


def _of_call(code: Code, name: str, call: ast.Call) -> Iterator[Habit]:
    last = name.split(".")[-1]
    for argument in call.keywords:
        if argument.arg == "input_shape":
            yield from _shape(code, "Input", call)
        elif argument.arg:
            yield from _set(code, argument.arg, argument.value, argument.value)
    first = call.args[0] if call.args else None
    if last == "DataLoader" and len(call.args) > 1:
        yield from _set(code, "batch_size", call.args[1], call)
    elif last == "batch" and "." in name and (value := constant_number(first, code.numbers)):
        yield code.remark("batch_size", call, value)
    elif last == "shuffle" and "." in name and (value := constant_number(first or keyword(call, "buffer_size"), code.numbers)):
        yield code.remark("shuffle_buffer", call, value)
    elif last == "add_argument" and isinstance(first, ast.Constant) and isinstance(first.value, str):
        for option in call.args:
            if isinstance(option, ast.Constant) and isinstance(option.value, str):
                yield from _set(code, option.value.lstrip("-").replace("-", "_"), keyword(call, "default"), call)
    elif OPTIMIZERS.match(last) and ("optim" in name.lower() or name == last or name.startswith("optax.")):
        yield Habit(f"optimizer {last.lower()}", code.name, code.line(call), ast.unparse(call)[:200])
    elif last == "compile" and isinstance(chosen := keyword(call, "optimizer") or first, ast.Constant):
        if isinstance(chosen.value, str) and OPTIMIZERS.match(chosen.value):
            yield Habit(f"optimizer {chosen.value.lower()}", code.name, code.line(call), ast.unparse(call)[:200])
    elif last in ("Input", "InputLayer", "resize", "Resize", "Resizing", "image_dataset_from_directory"):
        yield from _shape(code, last, call)
    elif last in ("autocast", "set_global_policy", "GradScaler"):
        yield code.remark("mixed_precision", call)
    elif FUSED_ATTENTION.match(last):
        yield code.remark("fused_attention", call)


def _shape(code: Code, last: str, call: ast.Call) -> Iterator[Habit]:
    """The number of values in one sample: the product of an input's shape, or of an image's size and three colours."""
    given = keyword(call, "input_shape", "shape", "image_size", "size", "target_size") or next(iter(call.args[-1:]), None)
    if not isinstance(given, ast.Tuple | ast.List):
        return
    sizes = [constant_number(e, code.numbers) for e in given.elts]
    if sizes and all(sizes) and (last.startswith("Input") or len(sizes) == 2):
        yield code.remark("sample_values", call, math.prod(s or 1 for s in sizes) * (1 if last.startswith("Input") else 3))


def _set(code: Code, name: str, value: ast.AST | None, node: ast.AST) -> Iterator[Habit]:
    kind = SETTING_OF_NAME.get(name.lower())
    setting = constant_number(value, code.numbers) if kind else None
    if kind and setting is not None and setting >= 0 and setting == int(setting):
        yield code.remark(kind, node, setting)
    elif (
        name in ("fp16", "bf16", "mixed_precision") and isinstance(value, ast.Constant) and value.value not in (False, None, "no")
    ):
        yield code.remark("mixed_precision", node)
    elif name == "attn_implementation" and isinstance(value, ast.Constant) and FUSED_IMPLEMENTATION.match(str(value.value)):
        yield code.remark("fused_attention", node)


def plain_settings(name: str, part: CodePart) -> Iterator[Habit]:
    """The settings of a configuration or a job script, line by line."""
    for line in part.lines:
        for found in PLAIN_SETTING_PATTERN.finditer(line.text[:2000]):
            kind = SETTING_OF_NAME.get(found[1].lower().replace("-", "_"))
            if kind:
                yield Habit(kind, name, line.number, line.text.strip()[:200], float(found[2]))


def frameworks(code: Code) -> Iterator[tuple[str, int]]:
    """Each framework that is imported, and the line of the import."""
    for node in ast.walk(code.tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        for name in names:
            if found := "keras" if name.startswith("tensorflow.keras") else FRAMEWORKS.get(name.split(".")[0]):
                yield found, code.line(node)


MAX_WRITTEN_CHARS = 80  # of a statement that is quoted in a sentence beside its place: most of a line of a page


def written_maps(codes: Sequence[Code]) -> Iterator[WrittenMap]:
    """Those of the parts of one file. A name that is bound more than once tells nothing: which of its values failed is not
    known."""
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

"""What of a statement failed: the part that its exception is about, and what took the place of a name that a library took out.

The part: what is None, which call lacks an argument, what is unpacked.

h, w = cv2.imread(path).shape[:2]          AttributeError: 'NoneType' object has no attribute 'shape'
  -> none_part "cv2.imread(path)", none_call "cv2.imread"
name = sample["id"]                        TypeError: list indices must be integers or slices, not str
  -> failing_part "sample", subscript "'id'"
net = UNet(depth=4, width=32)              TypeError: __init__() got an unexpected keyword argument 'width'
  -> called "UNet", given_argument "width=32"      of model(**batch): spread "batch"
img, _, label = batch                      ValueError: not enough values to unpack (expected 3, got 2)
  -> unpacked "batch", unpacked_names "img, _, label"
path = root / "images"                     TypeError: unsupported operand type(s) for /: 'str' and 'str'
  -> left_operand "root", right_operand "'images'"
label = self.class_to_id[row["name"]]      KeyError: 'd50'
  -> looked_up_in "self.class_to_id", key_part 'row["name"]'
weights = 1.0 / (K - 1) * (1 - e / total)  ZeroDivisionError: float division by zero
  -> divisor_parts "K - 1 and total"
assert len(a) == len(b), "lengths differ"  AssertionError: lengths differ
  -> asserted "len(a) == len(b)"

Only a part that is the single one of its kind in the statement is told; of what may be None, a call rather than a name.

Look up what took the place of a name that a library or Python itself no longer has, in tables/successors.csv.

AttributeError: module 'numpy' has no attribute 'float'.                      -> old_name numpy.float, successor float
ImportError: cannot import name 'Mapping' from 'collections' (/opt/x.py)      -> old_name collections.Mapping, ...
AttributeError: 'DataFrame' object has no attribute 'append'                  -> old_name DataFrame.append, ...
TypeError: read_csv() got an unexpected keyword argument 'error_bad_lines'    -> old_name error_bad_lines, ...
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from forensics.data_files.named_parts import patterns_of
from forensics.database import read_table
from forensics.model import Fields, Value

PART_FACTS = (
    NONE_PART, NONE_CALL, FAILING_PART, SUBSCRIPT, LEFT_OPERAND, RIGHT_OPERAND, CALLED, GIVEN_ARGUMENT,
    SPREAD, UNPACKED, UNPACKED_NAMES, LOOKED_UP_IN, KEY_PART, DIVISOR_PARTS, ASSERTED,
) = (
    "none_part", "none_call", "failing_part", "subscript", "left_operand", "right_operand", "called", "given_argument",
    "spread", "unpacked", "unpacked_names", "looked_up_in", "key_part", "divisor_parts", "asserted",
)  # fmt: skip
PATTERNS = patterns_of("failing statement")
NONE_TYPE = "NoneType"
MAX_PART_CHARS = 60  # of an expression that is quoted in a sentence beside its place
OPERATORS = {
    "+": "Add",
    "-": "Sub",
    "*": "Mult",
    "/": "Div",
    "//": "FloorDiv",
    "%": "Mod",
    "@": "MatMult",
    "** or pow()": "Pow",
    "|": "BitOr",
    "&": "BitAnd",
}  # names of classes of `ast`
INITIALISERS, CALL_METHODS = ("__init__", "__new__"), ("forward", "__call__", "call")


def failing_parts(tree: ast.AST, facts: Fields, direct: bool = True, in_python: bool = False) -> dict[str, Value]:
    """The facts of PART_FACTS for the statement `tree`, on whose way the exception of `facts` was raised. `direct`: the statement
    itself raised it. `in_python`: a module of Python did, which checks only what it is given."""
    message, kind = str(facts.get("exc_message", "")), str(facts.get("exc_type", ""))
    if call := _call_told(tree, message):
        return call
    if not direct:
        return _of_type(_path_arguments(tree), NONE_TYPE) if in_python and PATTERNS.path.search(message) else {}
    if asserted := next((ast.unparse(n.test) for n in ast.walk(tree) if isinstance(n, ast.Assert)), ""):
        return _short({ASSERTED: asserted})
    if kind == "ZeroDivisionError":
        return _divisors(tree)
    if kind == "KeyError":
        key = PATTERNS.looked_up.fullmatch(message)
        return _looked_up(tree, key["key"]) if key else {}
    if kind == "IndexError":
        return _of_type(*_subscripted(tree))
    return _unpacked(tree, message) or _operands(tree, message) or _of_odd_type(tree, message)


def _short(found: Mapping[str, Value]) -> dict[str, Value]:
    """The facts, or none where one of them is too long to be quoted."""
    return dict(found) if all(len(str(v)) <= MAX_PART_CHARS for v in found.values()) else {}


def _only(parts: Iterable[ast.expr]) -> ast.expr | None:
    """The single one of `parts`; of several the single call among them; None if several may be meant."""
    texts = {ast.unparse(p): p for p in parts if not isinstance(p, ast.Constant)}
    if len(texts) > 1:
        texts = {t: p for t, p in texts.items() if isinstance(p, ast.Call)}
    return next(iter(texts.values())) if len(texts) == 1 else None


def _of_type(parts: Iterable[ast.expr], kind: str = "", index: ast.expr | None = None) -> dict[str, Value]:
    """The part that has the type `kind`, which its use does not fit, with the index behind it."""
    part = _only(parts)
    if part is None:
        return {}
    text = ast.unparse(part)
    if kind != NONE_TYPE:
        return _short({FAILING_PART: text} | ({SUBSCRIPT: ast.unparse(index)} if index else {}))
    return _short({NONE_PART: text} | ({NONE_CALL: ast.unparse(part.func)} if isinstance(part, ast.Call) else {}))


def _of_odd_type(tree: ast.AST, message: str) -> dict[str, Value]:
    """The part whose type does not fit what is done with it: its attribute is asked, it is called, gone over, measured."""
    for pattern, parts_of in (
        (PATTERNS.no_attribute, _attributes),
        (PATTERNS.subscripted, lambda tree, _: _subscripted(tree)[0]),
        (PATTERNS.called, lambda tree, _: [c.func for c in _calls(tree)]),
        (PATTERNS.gone_over, lambda tree, _: [n.iter for n in ast.walk(tree) if isinstance(n, ast.For | ast.comprehension)]),
        (PATTERNS.measured, lambda tree, _: [a for c in _calls(tree) if ast.unparse(c.func) == "len" for a in c.args]),
        (PATTERNS.searched, lambda tree, _: _searched(tree)),
        (PATTERNS.path, lambda tree, _: _path_arguments(tree)),
    ):
        if found := pattern.search(message):
            kind = str(found.groupdict().get("kind") or "")
            return _of_type(parts_of(tree, found), kind, _subscripted(tree)[2] if pattern is PATTERNS.subscripted else None)
    return {}


def _attributes(tree: ast.AST, found: re.Match[str]) -> list[ast.expr]:
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == found["name"]]


def _subscripted(tree: ast.AST) -> tuple[list[ast.expr], str, ast.expr | None]:
    """What is indexed, of a type that does not matter, and the index of the single one."""
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Subscript)]
    return [n.value for n in nodes], "", nodes[0].slice if len(nodes) == 1 else None


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call)]


def _searched(tree: ast.AST) -> list[ast.expr]:
    compared = [n for n in ast.walk(tree) if isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.In | ast.NotIn)]
    return [n.comparators[0] for n in compared]


def _path_arguments(tree: ast.AST) -> list[ast.expr]:
    return [a for c in _calls(tree) for a in c.args if not isinstance(a, ast.Constant | ast.JoinedStr | ast.Call)]


def _unpacked(tree: ast.AST, message: str) -> dict[str, Value]:
    """What is taken apart, and the names that its parts are to have."""
    found = PATTERNS.unpack.search(message)
    if not found:
        return {}
    pairs = [(n.targets[0], n.value) for n in ast.walk(tree) if isinstance(n, ast.Assign)]
    pairs += [(n.target, n.iter) for n in ast.walk(tree) if isinstance(n, ast.For | ast.comprehension)]
    pairs = [(target, value) for target, value in pairs if any(isinstance(n, ast.Tuple | ast.List) for n in ast.walk(target))]
    if len(pairs) != 1:
        return {}
    [(target, value)] = pairs
    if found["kind"] == NONE_TYPE:
        return _of_type([value], NONE_TYPE)
    return _short({UNPACKED: ast.unparse(value), UNPACKED_NAMES: ast.unparse(target).strip("()")})


def _operands(tree: ast.AST, message: str) -> dict[str, Value]:
    """The two sides of the operation or comparison that failed; only the one that is None, if one is."""
    found = PATTERNS.operands.search(message)
    if not found:
        return {}
    wanted = OPERATORS.get((found["operator"] or "+").removesuffix("=") if found["operator"] or "str" in message else "")
    sides: list[tuple[ast.expr, ast.expr]] = []
    for n in ast.walk(tree):
        if isinstance(n, ast.BinOp) and (wanted is None or type(n.op).__name__ == wanted) and not found["compare"]:
            sides.append((n.left, n.right))
        elif isinstance(n, ast.AugAssign) and (wanted is None or type(n.op).__name__ == wanted) and not found["compare"]:
            sides.append((n.target, n.value))
        elif isinstance(n, ast.Compare) and found["compare"] and len(n.ops) == 1:
            sides.append((n.left, n.comparators[0]))
    if len(sides) != 1:
        return {}
    [(left, right)] = sides
    kinds = (found["left"] or found["left_compared"], found["right"] or found["right_compared"])
    if NONE_TYPE in kinds:
        return _of_type([left if kinds[0] == NONE_TYPE else right], NONE_TYPE)
    return _short({LEFT_OPERAND: ast.unparse(left), RIGHT_OPERAND: ast.unparse(right)})


def _call_told(tree: ast.AST, message: str) -> dict[str, Value]:
    """The call whose arguments do not fit its function, as the statement writes it."""
    found = PATTERNS.arguments.search(message)
    if not found:
        return {}
    argument, calls = found["argument"], _calls(tree)
    if argument:
        given = [(c, k) for c in calls for k in c.keywords if k.arg == argument]
        if len(given) == 1:
            [(call, keyword)] = given
            text = f"{argument}={ast.unparse(keyword.value)}"
            return _short({CALLED: ast.unparse(call.func), GIVEN_ARGUMENT: text if len(text) <= MAX_PART_CHARS else argument})
        spreads = [(c, k.value) for c in calls for k in c.keywords if k.arg is None] if not given else []
        if len(spreads) == 1:
            return _short({CALLED: ast.unparse(spreads[0][0].func), SPREAD: ast.unparse(spreads[0][1])})
        return {}
    named = [c for c in calls if _may_be(c, found["function"])]
    chosen = named if len(named) == 1 else calls
    return _short({CALLED: ast.unparse(chosen[0].func)}) if len(chosen) == 1 else {}


def _may_be(call: ast.Call, function: str) -> bool:
    """May the call run `function`, the name that the message tells? A class runs its __init__, a module its forward."""
    name = ast.unparse(call.func).rpartition(".")[2]
    return name == function or (function in INITIALISERS and name[:1].isupper()) or (function in CALL_METHODS and name.islower())


def _divisors(tree: ast.AST) -> dict[str, Value]:
    """What the statement divides by, but for numbers."""
    divided = (n.right for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div | ast.FloorDiv | ast.Mod))
    texts = list(dict.fromkeys(ast.unparse(d) for d in divided if not isinstance(d, ast.Constant)))
    return {DIVISOR_PARTS: " and ".join(texts)} if texts and sum(map(len, texts)) <= MAX_PART_CHARS else {}


def _looked_up(tree: ast.AST, key: str) -> dict[str, Value]:
    """In what `key` was looked up: the subscript that has it, else the only one whose key is no constant."""
    pairs = list(_lookups(tree))
    named = {ast.unparse(whole) for whole, index in pairs if isinstance(index, ast.Constant) and repr(index.value) == key}
    named = named or {
        ast.unparse(whole) for whole, index in pairs if _has_fixed_key(index) and not isinstance(index, ast.Constant)
    }
    if len(named) == 1:
        return _short({LOOKED_UP_IN: next(iter(named))})
    open_keys = {(ast.unparse(whole), ast.unparse(index)) for whole, index in pairs if not _has_fixed_key(index)}
    if named or len(open_keys) != 1:
        return {}
    [(whole, index_text)] = open_keys
    return {LOOKED_UP_IN: whole, KEY_PART: index_text} if len(whole) + len(index_text) <= MAX_PART_CHARS else {}


def _lookups(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    yield from ((n.value, n.slice) for n in ast.walk(tree) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load))


def _has_fixed_key(index: ast.expr) -> bool:
    """Is it a constant, or the name of one? `batch[OBS_TOKENS]`, `batch[f"{OBS_TOKENS}"]`"""
    names = [n.attr if isinstance(n, ast.Attribute) else n.id for n in ast.walk(index) if isinstance(n, ast.Name | ast.Attribute)]
    return not names or (isinstance(index, ast.Name | ast.Attribute | ast.JoinedStr) and any(map(str.isupper, names)))


SUCCESSORS = patterns_of("successors")


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    return read_table("successors")


def successor_facts(text: str) -> dict[str, Value]:
    """The first name in messages of `text` that has a successor, with that one, and the release that took it out if known."""
    for pattern in (
        SUCCESSORS.of_module,
        SUCCESSORS.of_object,
        SUCCESSORS.not_importable,
        SUCCESSORS.no_module,
    ):
        for found in pattern.finditer(text):
            owner = SUCCESSORS.hidden_module.sub("", found["owner"] or "")
            if row := _table().get(f"{owner}.{found['old']}".lstrip(".")):
                return _facts(row["name"], row)
    for found in SUCCESSORS.refused_argument.finditer(text):
        if row := _table().get(f"{found['callee']}({found['old']})") or _table().get(f"({found['old']})"):
            return _facts(f"the argument {found['old']}", row)
    return {}


def _facts(name: str, row: dict[str, str]) -> dict[str, Value]:
    return {"old_name": name, "successor": row["successor"], **({"gone_in": row["gone"]} if row["gone"] else {})}

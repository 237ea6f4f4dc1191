"""The part of a failing statement that its exception is about: what is None in it, and in what a key was looked up.

h, w = cv2.imread(path).shape[:2]          AttributeError: 'NoneType' object has no attribute 'shape'
  -> none_part "cv2.imread(path)", none_call "cv2.imread"
label = self.class_to_id[row["name"]]      KeyError: 'd50'
  -> looked_up_in "self.class_to_id", key_part 'row["name"]'
lr = cfg["optimizer"]["lr"]                KeyError: 'lr'
  -> looked_up_in 'cfg["optimizer"]'
weights = 1.0 / (K - 1) * (1 - e / total)  ZeroDivisionError: float division by zero
  -> divisor_parts "K - 1 and total"
assert len(a) == len(b), "lengths differ"  AssertionError: lengths differ
  -> asserted "len(a) == len(b)"

Only a part that is the single one of its kind in the statement is told.
"""

import ast
from collections.abc import Iterator

from forensics.core import lazy
from forensics.model import Fields, Value

LACKING_FACTS = NONE_PART, NONE_CALL, LOOKED_UP_IN, KEY_PART, DIVISOR_PARTS, ASSERTED = (
    "none_part",
    "none_call",
    "looked_up_in",
    "key_part",
    "divisor_parts",
    "asserted",
)
NO_ATTRIBUTE_PATTERN = lazy.regex(r"'NoneType' object has no attribute '(?P<name>\w+)'")
NONE_AS_PATTERN = lazy.regex(r"'NoneType' object is not (?P<use>subscriptable|callable|iterable)")
LOOKED_UP_PATTERN = lazy.regex(r"(?P<key>['\"].{1,120}['\"]|-?\d+)")
MAX_PART_CHARS = 60  # of an expression that is quoted in a sentence beside its place


def lacking_parts(tree: ast.AST, facts: Fields) -> dict[str, Value]:
    """The facts of LACKING_FACTS for the statement `tree`, which raised the exception of `facts` itself."""
    message = str(facts.get("exc_message", ""))
    if "NoneType" in message:
        return _none_part(tree, message)
    if asserted := next((ast.unparse(n.test) for n in ast.walk(tree) if isinstance(n, ast.Assert)), ""):
        return {ASSERTED: asserted} if len(asserted) <= MAX_PART_CHARS else {}
    if str(facts.get("exc_type", "")) == "ZeroDivisionError":
        return _divisors(tree)
    key = LOOKED_UP_PATTERN.fullmatch(message) if str(facts.get("exc_type", "")) == "KeyError" else None
    return _looked_up(tree, key["key"]) if key else {}


def _none_part(tree: ast.AST, message: str) -> dict[str, Value]:
    asked, used = NO_ATTRIBUTE_PATTERN.search(message), NONE_AS_PATTERN.search(message)
    parts: list[ast.expr] = []
    if asked:
        parts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == asked["name"]]
    elif used and used["use"] == "subscriptable":
        parts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Subscript)]
    elif used and used["use"] == "callable":
        parts = [n.func for n in ast.walk(tree) if isinstance(n, ast.Call)]
    elif used:
        parts = [n.iter for n in ast.walk(tree) if isinstance(n, ast.For | ast.comprehension)]
    texts = {ast.unparse(p): p for p in parts}
    if len(texts) != 1:
        return {}
    [(text, part)] = texts.items()
    if len(text) > MAX_PART_CHARS:
        return {}
    found: dict[str, Value] = {NONE_PART: text}
    return found | ({NONE_CALL: ast.unparse(part.func)} if isinstance(part, ast.Call) else {})


def _divisors(tree: ast.AST) -> dict[str, Value]:
    """What the statement divides by, but for numbers."""
    divided = (n.right for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div | ast.FloorDiv | ast.Mod))
    texts = list(dict.fromkeys(ast.unparse(d) for d in divided if not isinstance(d, ast.Constant)))
    return {DIVISOR_PARTS: " and ".join(texts)} if texts and sum(map(len, texts)) <= MAX_PART_CHARS else {}


def _looked_up(tree: ast.AST, key: str) -> dict[str, Value]:
    """In what `key` was looked up: the subscript that has it, else the only one whose key is no constant."""
    pairs = list(_subscripts(tree))
    named = {ast.unparse(whole) for whole, index in pairs if isinstance(index, ast.Constant) and repr(index.value) == key}
    named = named or {
        ast.unparse(whole) for whole, index in pairs if _has_fixed_key(index) and not isinstance(index, ast.Constant)
    }
    if len(named) == 1 and len(whole := next(iter(named))) <= MAX_PART_CHARS:
        return {LOOKED_UP_IN: whole}
    open_keys = {(ast.unparse(whole), ast.unparse(index)) for whole, index in pairs if not _has_fixed_key(index)}
    if named or len(open_keys) != 1:
        return {}
    [(whole, index_text)] = open_keys
    return {LOOKED_UP_IN: whole, KEY_PART: index_text} if len(whole) + len(index_text) <= MAX_PART_CHARS else {}


def _subscripts(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    yield from ((n.value, n.slice) for n in ast.walk(tree) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load))


def _has_fixed_key(index: ast.expr) -> bool:
    """Is it a constant, or the name of one? `batch[OBS_TOKENS]`, `batch[f"{OBS_TOKENS}"]`"""
    names = [n.attr if isinstance(n, ast.Attribute) else n.id for n in ast.walk(index) if isinstance(n, ast.Name | ast.Attribute)]
    return not names or (isinstance(index, ast.Name | ast.Attribute | ast.JoinedStr) and any(map(str.isupper, names)))

"""The part of a statement that its exception is about."""

import ast

import pytest

from forensics.model import Value
from forensics.readers.python.failing_code import lacking_parts


def parts(code: str, kind: str, message: str) -> dict[str, Value]:
    return lacking_parts(ast.parse(code), {"exc_type": kind, "exc_message": message})


NO_SHAPE, NO_GROUP = "'NoneType' object has no attribute 'shape'", "'NoneType' object has no attribute 'group'"


@pytest.mark.parametrize(
    ("code", "message", "part", "call"),
    [
        ("h, w = cv2.imread(path).shape[:2]", NO_SHAPE, "cv2.imread(path)", "cv2.imread"),
        ("year = re.match(DATE, text).group(1)", NO_GROUP, "re.match(DATE, text)", "re.match"),
        ("n = self.table.shape", NO_SHAPE, "self.table", None),
        ("x = rows[0]", "'NoneType' object is not subscriptable", "rows", None),
        ("y = self.norm(x)", "'NoneType' object is not callable", "self.norm", None),
        ("for row in load(path): pass", "'NoneType' object is not iterable", "load(path)", "load"),
    ],
)
def test_what_is_none(code: str, message: str, part: str, call: str | None) -> None:
    found = parts(code, "TypeError", message)
    assert (found["none_part"], found.get("none_call")) == (part, call)


def test_of_two_that_may_be_none_neither_is_named() -> None:
    assert parts("x = a.shape[0] + b.shape[0]", "AttributeError", NO_SHAPE) == {}


@pytest.mark.parametrize(
    ("code", "message", "whole", "key"),
    [
        ("lr = cfg['optimizer']['lr']", "'lr'", "cfg['optimizer']", None),
        ("state = torch.load(path)['model']", "'model'", "torch.load(path)", None),
        ("label = self.ids[row['name']]", "'d50'", "self.ids", "row['name']"),
        ("tokens = batch[f'{LANGUAGE_TOKENS}']", "'language.tokens'", "batch", None),
        ("out = [names[k] for k in keys]", "7", "names", "k"),
    ],
)
def test_in_what_a_key_was_looked_up(code: str, message: str, whole: str, key: str | None) -> None:
    found = parts(code, "KeyError", message)
    assert (found["looked_up_in"], found.get("key_part")) == (whole, key)


def test_no_part_is_named_where_two_lookups_may_have_failed() -> None:
    assert parts("x = a[i] + b[j]", "KeyError", "'z'") == {}
    assert parts("x = a['i']", "IndexError", "'i'") == {}


def test_what_is_divided_by() -> None:
    assert parts("w = 1.0 / (K - 1) * (1 - e / total) / 2", "ZeroDivisionError", "division by zero") == {
        "divisor_parts": "K - 1 and total"
    }


def test_what_was_asserted() -> None:
    assert parts("assert len(a) == len(b), 'lengths'", "AssertionError", "lengths") == {"asserted": "len(a) == len(b)"}

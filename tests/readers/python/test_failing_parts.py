"""The part of a statement that its exception is about."""

import ast

import pytest

from forensics.model import Value
from forensics.readers.python.failing_parts import failing_parts


def parts(code: str, kind: str, message: str) -> dict[str, Value]:
    return failing_parts(ast.parse(code), {"exc_type": kind, "exc_message": message})


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
    assert "looked_up_in" not in parts("x = a['i']", "IndexError", "'i'")


def test_what_is_divided_by() -> None:
    assert parts("w = 1.0 / (K - 1) * (1 - e / total) / 2", "ZeroDivisionError", "division by zero") == {
        "divisor_parts": "K - 1 and total"
    }


def test_what_was_asserted() -> None:
    assert parts("assert len(a) == len(b), 'lengths'", "AssertionError", "lengths") == {"asserted": "len(a) == len(b)"}


@pytest.mark.parametrize(
    ("code", "message", "told"),
    [
        ("n = len(self.tokenizer.pad_token)", "object of type 'NoneType' has no len()", {"none_part": "self.tokenizer.pad_token"}),
        ("if 'bert' in config.name: pass", "argument of type 'NoneType' is not iterable", {"none_part": "config.name"}),
        ("boxes, scores = detect(img)", "cannot unpack non-iterable NoneType object", {"none_part": "detect(img)", "none_call": "detect"}),
        ("total = args.steps * 2", "unsupported operand type(s) for *: 'NoneType' and 'int'", {"none_part": "args.steps"}),
        ("if best < acc: pass", "'<' not supported between instances of 'float' and 'NoneType'", {"none_part": "acc"}),
        ("n = cfg.get('model').get('layers')", "'NoneType' object has no attribute 'get'", {"none_part": "cfg.get('model')", "none_call": "cfg.get"}),
        ("name = sample['id']", "list indices must be integers or slices, not str", {"failing_part": "sample", "subscript": "'id'"}),
        ("x = batch.to(device)", "'list' object has no attribute 'to'", {"failing_part": "batch"}),
        ("total = sum(losses)", "'float' object is not callable", {"failing_part": "sum"}),
        ("p = root / 'img'", "unsupported operand type(s) for /: 'str' and 'str'", {"left_operand": "root", "right_operand": "'img'"}),
        ("total += step", "unsupported operand type(s) for +=: 'int' and 'str'", {"left_operand": "total", "right_operand": "step"}),
        ("a, b, c = batch", "not enough values to unpack (expected 3, got 2)", {"unpacked": "batch", "unpacked_names": "a, b, c"}),
        ("for k, v in items: pass", "too many values to unpack (expected 2)", {"unpacked": "items", "unpacked_names": "k, v"}),
        ("net = UNet(depth=4, width=32)", "__init__() got an unexpected keyword argument 'width'", {"called": "UNet", "given_argument": "width=32"}),
        ("out = model(**batch)", "forward() got an unexpected keyword argument 'labels'", {"called": "model", "spread": "batch"}),
        ("ds = Rows(root, len(x))", "__init__() missing 1 required positional argument: 'transform'", {"called": "Rows"}),
        ("s.step(epoch, metric)", "step() takes from 1 to 2 positional arguments but 3 were given", {"called": "s.step"}),
    ],
)  # fmt: skip
def test_the_part_that_a_message_speaks_of(code: str, message: str, told: dict[str, str]) -> None:
    assert parts(code, "TypeError", message) == told


def test_of_a_call_that_failed_further_down_only_its_arguments_and_a_path_that_is_none_are_told() -> None:
    def below(code: str, message: str, in_python: bool) -> dict[str, Value]:
        return failing_parts(
            ast.parse(code), {"exc_type": "TypeError", "exc_message": message}, direct=False, in_python=in_python
        )

    asked = "forward() got an unexpected keyword argument 'lm_labels'"
    assert below("loss = model(ids, lm_labels=y)", asked, False) == {"called": "model", "given_argument": "lm_labels=y"}
    not_none = "expected str, bytes or os.PathLike object, not NoneType"
    assert below("p = os.path.join(args.root, 'a')", not_none, True) == {"none_part": "args.root"}
    assert below("p = load(args.root, 'a')", not_none, False) == {}
    assert below("x = rows[0]", "'NoneType' object is not subscriptable", True) == {}


def test_the_sides_of_a_comparison_of_several_are_not_told() -> None:
    assert parts("if a < b < c: pass", "TypeError", "'<' not supported between instances of 'str' and 'int'") == {}

"""A constant's name says what it measures, and has one value in the whole package."""

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "forensics"
# What each module of a room must be called the same by, because the room looks for it: the interface of its modules.
INTERFACE = {
    "FORMATS": "a module of sources/formats",
    "OUTCOMES": "what a detector or the series can tell, in the words of signatures/records.yaml",
    "PATTERNS": "the group of signatures/readers/named_parts.yaml that a module reads",
    "SETTINGS": "how the library of command lines reads a command",
    "SAMPLE": "the first bytes of what a module of sources/formats reads",
    "TRIGGER": "what a detector, a series or a reader of context wants the scanner to look for",
    "TRIGGERS": "the same, where there are several",
}
# Words that say no quantity: MAX_POINTS, MIN_LINES, MIN_LOST_SHARE do.
# Values that need no reason: what a unit is.
UNITS = {"KIB", "MIB", "GIB", "HOUR_S", "DAY_S", "YEAR_S"}
VAGUE = {"FEW", "FEWEST", "LEAST", "LONG", "LONGEST", "MANY", "MOST", "OFTEN", "SHARE", "SLACK", "SURE"}


@functools.cache
def constants() -> dict[str, list[tuple[str, str]]]:
    """Each name that a module gives a value to, with the modules and the values as they are written."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
            for target in targets if value else []:
                pairs = [(target, value)]
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    pairs = list(zip(target.elts, value.elts, strict=True))
                for name, given in pairs:
                    if isinstance(name, ast.Name) and given and re.fullmatch(r"_?[A-Z][A-Z0-9_]+", name.id):
                        found[name.id].append((str(path.relative_to(ROOT)), ast.unparse(given)))
    return found


def test_a_name_has_one_value() -> None:
    found = constants()
    assert len(found) > 1000
    for name, places in sorted(found.items()):
        if name not in INTERFACE and len({value for _, value in places}) > 1:
            files = ", ".join(file for file, _ in places)
            pytest.fail(f"{name} has several values ({files}): give each a name that says what it measures, and its unit")


def test_a_name_says_a_quantity() -> None:
    for name, places in sorted(constants().items()):
        assert name not in VAGUE, f"{name} ({places[0][0]}) does not say of what: MAX_POINTS or MIN_LINES would"


def _is_numeric(value: ast.expr) -> bool:
    """Is it a number, numbers in a tuple, or computed from numbers alone?"""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int | float) and not isinstance(value.value, bool)
    if isinstance(value, ast.BinOp):
        return _is_numeric(value.left) and _is_numeric(value.right)
    if isinstance(value, ast.UnaryOp):
        return _is_numeric(value.operand)
    return isinstance(value, ast.Tuple) and bool(value.elts) and all(map(_is_numeric, value.elts))


def _without_a_reason(path: Path) -> Iterator[str]:
    """`file:line NAME` of each numeric constant without a comment behind it or above it."""
    lines = path.read_text().splitlines()
    for node in ast.parse("\n".join(lines)).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target if isinstance(node, ast.AnnAssign) else None
        if target is None or node.value is None or not _is_numeric(node.value):  # type: ignore[attr-defined]
            continue
        names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name) and n.id.isupper()]
        told = any("#" in line for line in lines[node.lineno - 1 : node.end_lineno]) or lines[node.lineno - 2].startswith("#")
        if names and not told and not UNITS.issuperset(names):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {', '.join(names)}"


def test_a_number_has_its_reason_beside_it() -> None:
    """Why it is as large as it is: what it follows from, or `chosen by hand` and what for."""
    found = [place for path in sorted(ROOT.rglob("*.py")) for place in _without_a_reason(path)]
    assert not found, "write behind each, or above it, where its value comes from: " + "; ".join(found)


def _unnamed_thresholds(path: Path) -> Iterator[str]:
    """`file:line` of each comparison with a number that has no name; what 0, 1 and 2 mean is clear."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare):
            numbers = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, int | float)]
            if not {-1, 0, 1, 2}.issuperset(numbers):
                yield f"{path.relative_to(ROOT)}:{node.lineno}"


@pytest.mark.parametrize("room", ["advice", "report"])
def test_a_threshold_has_a_name(room: str) -> None:
    """So that its reason stands beside it, see test_a_number_has_its_reason_beside_it."""
    found = [place for path in sorted((ROOT / room).rglob("*.py")) for place in _unnamed_thresholds(path)]
    assert not found, "give these numbers a name, and the reason beside it: " + "; ".join(found)


def test_the_names_of_the_interface_are_in_use() -> None:
    assert INTERFACE.keys() <= constants().keys()
